"""Bytes that other software wrote are read to the last one, and faults in them are told where they are."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from codec.support import load_catalog
from kiplint.codec.catalog import Catalog, having
from kiplint.codec.codec import fill_defaults
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response
from kiplint.model.layout import Layout, Slot


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def load_schema(corpus: Path, schema: str) -> Catalog:
    if schema == "trunk":
        return load_catalog(str(corpus / "kafka-trunk-2026-08"))
    return load_catalog(f"{schema}:", corpus / "kafka-schema-history.bundle")


def body_of(catalog: Catalog, name: str, version: int) -> Layout:
    message = having(catalog.with_name(name), version)
    assert message is not None
    return catalog.codec(message, version).body


def rewritten(catalog: Catalog, name: str, version: int, value: dict[str, Any]) -> bytes:
    message = having(catalog.with_name(name), version)
    assert message is not None
    data, problems = catalog.codec(message, version).encode(value)
    assert problems == ()
    return data


def test_what_java_wrote(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_schema(corpus, "3.9.0-rc3")
    count = 0
    for row in rows(shared_bytes / "java.jsonl"):
        data = bytes.fromhex(row["hex"])
        result = decode_body(catalog, row["message"], row["version"], data)
        assert (result.value, result.problems) == (row["value"], ())
        assert rewritten(catalog, row["message"], row["version"], row["value"]) == data
        assert decode_body(catalog, row["message"], row["version"], data, spans=True).value == row["value"]
        count += 1
    assert count > 600


def from_kio(body: Layout, value: dict[str, Any]) -> dict[str, Any]:
    """kio's entity under Kafka's names."""
    slots = {slot.field.name.lower(): slot for slot in (*body.slots, *(body.tags or ()))}
    return {slots[key].field.java_name: one_from_kio(slots[key], item) for key, item in value.items()}


def one_from_kio(slot: Slot, value: Any) -> Any:
    if isinstance(value, list):
        return [one_from_kio(slot, item) for item in value]
    if slot.body is not None and value is not None:
        return from_kio(slot.body, value)
    if slot.kind == "uuid" and value is not None:
        return base64.urlsafe_b64encode(UUID(value).bytes).decode().rstrip("=")
    return value


def test_what_kio_wrote(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_schema(corpus, "confluent-8.3.0")
    for row in rows(shared_bytes / "kio.jsonl"):
        data, name, version = bytes.fromhex(row["hex"]), row["message"], row["version"]
        expected = from_kio(body_of(catalog, name, version), row["value"])
        result = decode_body(catalog, name, version, data)
        assert result.problems == ()
        assert result.value is not None
        assert fill_defaults(body_of(catalog, name, version), result.value) == expected
        assert rewritten(catalog, name, version, expected) == data


def read_frame(catalog: Catalog, row: dict[str, Any], *, spans: bool = False) -> Frame:
    data = bytes.fromhex(row["hex"])
    if row["direction"] == "request":
        return decode_request(catalog, data, spans=spans)
    return decode_response(catalog, row["api_key"], row["api_version"], data, spans=spans)


def test_real_traffic_without_faults(corpus: Path, shared_bytes: Path) -> None:
    frames = [row for row in rows(shared_bytes / "traffic.jsonl") if row["verdict"] == "ok"]
    again = 0
    for row in frames:
        catalog = load_schema(corpus, row["schema"])
        frame = read_frame(catalog, row)
        assert frame.problems == ()
        assert frame.header is not None and frame.value is not None and frame.length == len(row["hex"]) // 2
        assert (frame.header_version, frame.header["correlationId"]) == (row["header_version"], row["correlation_id"])
        message = having(catalog.with_key(row["direction"], row["api_key"]), frame.version)
        assert message is not None
        header = catalog.header(message, frame.version)[1]
        assert header is not None
        data = header.encode(frame.header)[0] + catalog.codec(message, frame.version).encode(frame.value)[0]
        again += data.hex() == row["hex"]
        explanation = read_frame(catalog, row, spans=True)
        assert (explanation.value, explanation.header, explanation.problems) == (frame.value, frame.header, ())
        assert_covers(explanation)
    # Two writers put tagged fields on the wire that have their defaults.
    assert again >= len(frames) - 2


def assert_covers(frame: Frame) -> None:
    """The rows that have bytes stand one behind the other, from the first byte to the last."""
    position = 0
    for span in frame.spans:
        assert span.offset == position
        position += span.length
    assert position == frame.length


FAULTS = {
    "OffsetFetchResponse 3: Topics is not written": ("codec/truncated", 8),
    "MetadataResponse 13: one zero byte more than the layout has": ("codec/trailing-bytes", 2104),
    "MetadataRequest 11: IncludeClusterAuthorizedOperations is written": ("codec/truncated", 19),
    "DescribeConfigsRequest 2: IncludeDocumentation is written": ("codec/trailing-bytes", 29),
    "CreateAclsResponse 3: Results is not written": ("codec/null-not-allowed", 9),
}


def test_real_traffic_with_faults(corpus: Path, shared_bytes: Path) -> None:
    frames = [row for row in rows(shared_bytes / "traffic.jsonl") if row["verdict"] != "ok"]
    assert len(frames) == len(FAULTS)
    for row in frames:
        expected = next(fault for detail, fault in FAULTS.items() if row["detail"].startswith(detail))
        problems = read_frame(load_schema(corpus, row["schema"]), row).problems
        assert (problems[0].rule, problems[0].offset) == expected
        assert problems == read_frame(load_schema(corpus, row["schema"]), row, spans=True).problems


def test_a_field_of_another_version_names_that_version(corpus: Path, shared_bytes: Path) -> None:
    frames = [row for row in rows(shared_bytes / "traffic.jsonl") if row["verdict"] == "extra-field"]
    texts = sorted(read_frame(load_schema(corpus, row["schema"]), row).problems[0].message for row in frames)
    assert texts == [
        "1 byte follows after the end of the message; as version 3 the body reads to its last byte",
        "the bytes end inside the size of the tagged field; as version 10 the body reads to its last byte",
    ]


@pytest.mark.parametrize("kind", ["request", "response"])
def test_headers_are_those_of_java(corpus: Path, shared_bytes: Path, kind: str) -> None:
    catalog = load_schema(corpus, "3.9.0-rc3")
    for row in json.loads((shared_bytes / "java-headers.json").read_text()):
        message = having(catalog.with_key(kind, row["api_key"]), row["version"])
        assert message is not None
        number, codec = catalog.header(message, row["version"])
        assert (number, codec is not None) == (row[f"{kind}_header"], True)
