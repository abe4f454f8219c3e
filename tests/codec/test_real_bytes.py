"""Bytes that other software wrote are read to the last one, and faults in them are told where they are."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from codec.support import encode, fill_defaults
from kiplint.codec.codec import Codec
from kiplint.compat.tree import load
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot
from kiplint.model.message import Message

HISTORY = "kafka-schema-history.bundle"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(corpus: Path, tag: str) -> dict[str, Message]:
    return {message.name: message for message in load(f"{tag}:", corpus / HISTORY).messages}


def test_what_java_wrote(corpus: Path, shared_bytes: Path) -> None:
    by_name = messages(corpus, "3.9.0-rc3")
    count = 0
    for row in rows(shared_bytes / "java.jsonl"):
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        result = codec.decode(data)
        assert (result.value, result.problems) == (row["value"], ())
        assert encode(codec, row["value"]) == data
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
    by_name = messages(corpus, "confluent-8.3.0")
    for row in rows(shared_bytes / "kio.jsonl"):
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        expected = from_kio(codec.body, row["value"])
        result = codec.decode(data)
        assert result.problems == ()
        assert fill_defaults(codec.body, result.value) == expected
        assert encode(codec, expected) == data


@pytest.mark.parametrize("kind", ["request", "response"])
def test_headers_are_those_of_java(corpus: Path, shared_bytes: Path, kind: str) -> None:
    by_key = {(message.type, message.api_key): message for message in messages(corpus, "3.9.0-rc3").values()}
    for row in json.loads((shared_bytes / "java-headers.json").read_text()):
        assert header_of(by_key[kind, row["api_key"]], row["version"]) == row[f"{kind}_header"]
