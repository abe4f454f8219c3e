"""Vectors on which readers fail: what each is, and that kiplint's own decoder reads or refuses it at its offset."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from codec.support import encode, load_catalog, random_message
from kiplint.codec.codec import Codec
from kiplint.codec.problems import Malformed
from kiplint.commands.vectors.edges import each_hard
from kiplint.commands.vectors.faults import faults
from kiplint.commands.vectors.run import vectors
from tools import USUAL, definition, field, message

TRUNK = "kafka-trunk-2026-08"


def refused_at(codec: Codec, data: bytes) -> list[int]:
    """The offsets of the problems of bytes, which the compiled reader must refuse too."""
    with pytest.raises(Malformed):
        codec.read(data)
    return [problem.offset for problem in codec.decode(data).problems]


@settings(max_examples=3 * USUAL)
@given(st.integers(0, 2**63))
def test_every_hard_body_is_read_and_every_fault_is_refused_where_it_is(seed: int) -> None:
    rng = random.Random(seed)
    codec = Codec(random_message(rng), rng.randint(0, 5))
    for kind, value in each_hard(codec.body):
        data, problems = codec.encode(value)
        assert problems == (), kind
        assert codec.encode(codec.read(data)) == (data, ())
        assert codec.decode(data, spans=True).problems == ()
    for fault in faults(codec):
        assert refused_at(codec, fault.data) == [fault.offset], fault


def test_every_vector_of_the_trunk_is_read_or_refused_where_it_says(corpus: Path) -> None:
    catalog = load_catalog(str(corpus / TRUNK))
    numbers = {"read": 0, "refuse": 0, "may": 0}
    for vector in vectors(corpus / TRUNK):
        codec = catalog.codec(catalog.with_name(vector.message)[0], vector.version)
        data = bytes.fromhex(vector.hex)
        numbers[vector.must] += 1
        if vector.must == "read":
            assert (codec.read(data), vector.offset) == (vector.value, None)
        else:
            assert (refused_at(codec, data), vector.value) == ([vector.offset], None), vector
    assert numbers == {"read": 12_518, "refuse": 5_418, "may": 906}


def test_notes_say_what_kafka_does_otherwise(tmp_path: Path) -> None:
    data = definition(field("A", "float64"), name="XData", type="data", validVersions="0", flexibleVersions="0+")
    (tmp_path / "XData.json").write_bytes(data)
    notes = {vector.kind: (vector.must, vector.note) for vector in vectors(tmp_path) if vector.note is not UNSET}
    numbers = ("read", "Kafka's JSON converters refuse NaN and Infinity as values")
    tags = ("may", "Kafka's Java reader accepts the body")
    unknown = (
        "read",
        "Kafka's Java classes read the tag 2147483647, and cannot write it again. "
        "Kafka's JSON converters have no _unknownTaggedFields",
    )
    assert notes == {
        "nan": numbers, "infinity": numbers, "-infinity": numbers,
        "unknown-tags": unknown, "tag-order": tags, "tag-duplicate": tags,
    }  # fmt: skip


def flexible(*fields: object, **others: object) -> Codec:
    return Codec(message(*fields, validVersions="0", flexibleVersions="0+", **others), 0)  # type: ignore[arg-type]


def hard(codec: Codec) -> dict[str, bytes]:
    return {kind: encode(codec, value) for kind, value in each_hard(codec.body)}


def test_lengths_and_counts_take_two_bytes() -> None:
    codec = flexible(field("Name", "string"), field("Numbers", "[]int8"))
    assert hard(codec)["long"] == b"\x80\x01" + b"x" * 127 + b"\2\0\0"
    assert hard(codec)["array-128"] == b"\1" + b"\x81\x01" + b"\0" * 128 + b"\0"
    assert hard(codec)["utf-8"] == b"\x0b\xc3\xa9\xe2\x82\xac\xf0\x90\x8d\x88\0" + b"\2\0\0"


def test_unknown_tags_stand_in_every_body() -> None:
    codec = flexible(field("Box", "[]Box", fields=[field("A", "int8")]))
    two = b"\2" + b"\x90\x4e" + b"\x80\x01" + b"\0" * 128 + b"\xff\xff\xff\xff\x07" + b"\0"
    assert hard(codec)["unknown-tags"] == b"\2\0" + two + two


def test_extreme_numbers() -> None:
    bodies = hard(flexible(field("A", "int16"), field("B", "uint32"), field("C", "float64"), field("D", "uuid")))
    assert bodies["lowest"][:6] == b"\x80\0\0\0\0\0"
    assert bodies["highest"] == b"\x7f\xff" + b"\xff" * 4 + bytes.fromhex("7fefffffffffffff") + b"\xff" * 16 + b"\0"
    assert (bodies["nan"][6:8], bodies["-infinity"][6:8]) == (b"\x7f\xf8", b"\xff\xf0")


def test_nulls_outside_and_inside() -> None:
    inner = field("S", "string", nullableVersions="0+")
    bodies = hard(flexible(field("Box", "[]Box", nullableVersions="0+", fields=[inner])))
    assert (bodies["nulls"], bodies["nulls-inside"]) == (b"\0\0", b"\2\0\0\0")


def test_faults_of_a_flexible_body() -> None:
    codec = flexible(field("Name", "string"))
    assert [(fault.kind, fault.field, fault.data, fault.offset) for fault in faults(codec)] == [
        ("length-beyond-end", "name", b"\x0aName-1\0", 0),
        ("varint-without-end", "name", b"\xff" * 6 + b"Name-1\0", 0),
        ("null-not-allowed", "name", b"\0\0", 0),
        ("trailing-bytes", "", b"\7Name-1\0\0", 8),
        ("tag-order", "", b"\1\2\x91\x4e\0\x90\x4e\0", 5),
        ("tag-duplicate", "", b"\1\2\x91\x4e\0\x91\x4e\0", 5),
        ("varint-without-end", "", b"\1" + b"\xff" * 6, 1),
        ("length-beyond-end", "", b"\1\1\x90\x4e\1", 2),
    ]


def test_two_fields_of_a_name_do_not_stop_the_vectors() -> None:
    codec = flexible(field("Name", "string"), field("Name", "string"))
    assert [fault.data for fault in faults(codec) if fault.kind == "tag-order"] == [b"\1\1\2\x91\x4e\0\x90\x4e\0"]


def test_a_field_without_a_name_does_not_stop_the_vectors() -> None:
    codec = flexible(field("", "[]Inner", fields=[field("Id", "string")]))
    assert [(fault.kind, fault.field) for fault in faults(codec)][:3] == [
        ("length-beyond-end", ""),
        ("varint-without-end", ""),
        ("null-not-allowed", ""),
    ]


def test_a_negative_tag_leaves_no_layout() -> None:
    codec = flexible(field("A", tag=-1, taggedVersions="0+"))
    assert codec.unusable == "XRequest has the field A, whose tag -1 is negative"


def test_a_key_that_no_header_can_hold_leaves_the_header_out(tmp_path: Path) -> None:
    key = field("RequestApiKey", "int16")
    (tmp_path / "RequestHeader.json").write_bytes(
        definition(key, name="RequestHeader", type="header", apiKey=None, listeners=None, validVersions="1")
    )
    for api_key, expected in ((32767, "7fff"), (32768, None)):
        (tmp_path / "XRequest.json").write_bytes(definition(field(), apiKey=api_key, validVersions="0"))
        assert {vector.header_hex for vector in vectors(tmp_path) if vector.type == "request"} == {expected}


def test_versions_and_headers_without_a_layout_are_left_out(tmp_path: Path) -> None:
    header = definition(field("Odd", "int23"), name="RequestHeader", type="header", apiKey=None, listeners=None)
    (tmp_path / "RequestHeader.json").write_bytes(header)
    (tmp_path / "XRequest.json").write_bytes(definition(field("Name", "string"), field("Late", "Missing", "3+")))
    broken_files: list[str] = []
    rows = {(vector.message, vector.version, vector.header_hex) for vector in vectors(tmp_path, broken=broken_files)}
    assert rows == {("XRequest", version, None) for version in range(3)}
    assert [Path(file).name for file in broken_files] == ["RequestHeader.json", "XRequest.json"]


def test_output_grows_with_the_message_and_not_with_its_square() -> None:
    def size(count: int) -> int:
        codec = flexible(*(field(f"F{number}", "[]string" if number % 2 else "string") for number in range(count)))
        return sum(map(len, hard(codec).values())) + sum(len(fault.data) for fault in faults(codec))

    assert size(800) < 2.1 * size(400)
