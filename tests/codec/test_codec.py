"""What is written is read again, and what is wrong with bytes and values is told where it is."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.support import encode, random_body, random_message
from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.samples import minimal, rich, samples
from kiplint.codec.values import UNKNOWN_TAGS, defaults_of
from kiplint.compat.tree import load
from kiplint.model.headers import header_of
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES
from kiplint.sources.repository import open_repository
from tools import USUAL, field, message

seeds = st.integers(0, 2**63)


def random_codec(rng: random.Random) -> Codec:
    return Codec(random_message(rng), rng.randint(0, 5))


def damage(data: bytes, rng: random.Random) -> bytes:
    """Bytes that are cut off, or in which some are left out, put in or others."""
    start = rng.randint(0, len(data))
    more = rng.choice([b"", rng.randbytes(rng.randint(1, 4)), b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f"])
    return data[:start] + more + data[start + rng.choice([0, 1, 4, len(data)]) :]


@settings(max_examples=3 * USUAL)
@given(seeds)
def test_what_is_written_is_read_again(seed: int) -> None:
    rng = random.Random(seed)
    codec = random_codec(rng)
    for _ in range(3):
        data = encode(codec, random_body(codec.body, rng))
        result = codec.decode(data)
        assert result.problems == () and result.end == len(data)
        assert encode(codec, result.value) == data
        spans = codec.decode(data, spans=True).spans
        assert [span.offset for span in spans] == sorted(span.offset for span in spans)
        assert sum(span.length for span in spans) == len(data)


@settings(max_examples=3 * USUAL)
@given(seeds)
def test_what_is_damaged_has_problems_or_is_another_value(seed: int) -> None:
    rng = random.Random(seed)
    codec = random_codec(rng)
    for _ in range(8):
        data = damage(encode(codec, random_body(codec.body, rng)), rng)
        result = codec.decode(data)
        if result.problems:
            assert all(0 <= problem.offset <= len(data) for problem in result.problems)
        else:
            assert codec.decode(encode(codec, result.value)).problems == ()


@given(seeds)
def test_what_is_left_out_gets_its_default(seed: int) -> None:
    codec = random_codec(random.Random(seed))
    assert codec.decode(encode(codec, {})).value == minimal(codec.body)


NULLABLE = {"fields": [field("Inner")], "nullableVersions": "0+"}


@pytest.mark.parametrize(
    ("kind", "others", "data", "rule", "offset"),
    [
        ("int32", {}, "000000", "truncated", 0),
        ("string", {}, "0005616263", "length-beyond-end", 0),
        ("string", {}, "ffff", "null-not-allowed", 0),
        ("string", {}, "fffe", "length-negative", 0),
        ("string", {}, "00036180ff", "utf8-invalid", 3),
        ("bool", {}, "02", "boolean-invalid", 0),
        ("int8", {}, "0000", "trailing-bytes", 1),
        ("[]int32", {}, "7fffffff", "length-beyond-end", 0),
        ("[]int32", {}, "ffffffff", "null-not-allowed", 0),
        ("Box", NULLABLE, "0200000001", "marker-invalid", 0),
        ("string", {"nullableVersions": "0+"}, "fffe", "length-below-null", 0),
        ("[]int32", {"nullableVersions": "0+"}, "fffffffe", "length-below-null", 0),
    ],
)
def test_problems_of_plain_versions(kind: str, others: dict[str, Any], data: str, rule: str, offset: int) -> None:
    (problem,) = Codec(message(field("Value", kind, **others)), 0).decode(bytes.fromhex(data)).problems
    assert (problem.rule, problem.offset) == (f"codec/{rule}", offset)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ("026100", None),
        ("82006100", "varint-overlong"),
        ("ffffffffff", "varint-too-large"),
        ("ffffffff1f", "varint-too-large"),
        ("80", "truncated"),
        ("0000", "null-not-allowed"),
        ("010000", "trailing-bytes"),
        ("0102000200070501aa", None),
        ("01020501aa00020007", "tag-order"),
        ("01020002000700020007", "tag-duplicate"),
        ("01010003000700", "tag-size"),
        ("0101000107", "truncated"),
        ("010100090007", "length-beyond-end"),
    ],
)
def test_problems_of_flexible_versions(data: str, rule: str | None) -> None:
    request = message(field("Name", "string"), field("Code", "int16", "3+", tag=0, taggedVersions="3+"))
    problems = Codec(request, 3).decode(bytes.fromhex(data)).problems
    assert [problem.rule for problem in problems] == ([f"codec/{rule}"] if rule else [])


def test_reading_ends_after_a_hundred_errors() -> None:
    result = Codec(message(field("Names", "[]string")), 0).decode(b"\0\0\1\0" + b"\xff\xff" * 256)
    assert (len(result.problems), result.is_complete) == (100, False)


def test_reading_goes_on_after_warnings_of_which_a_hundred_are_reported() -> None:
    result = Codec(message(field("Flags", "[]bool"), field("Last")), 0).decode(b"\0\0\1\0" + b"\2" * 256 + b"\0\0\0\7")
    assert (len(result.problems), result.is_complete, result.value["last"]) == (100, True, 7)
    assert result.value["flags"] == [True] * 256


@pytest.mark.parametrize(
    ("data", "box", "problems"),
    [
        ("01000100", None, []),
        ("0100060100000007" + "00", {"inner": 7}, []),
        ("0100060200000007" + "00", {"inner": 7}, ["codec/marker-invalid"]),
        ("00", "absent", []),
    ],
)
def test_the_marker_of_a_nullable_struct_in_a_tag(data: str, box: Any, problems: list[str]) -> None:
    """Kafka's generator writes an unsigned varint there: 0 for null, 1 for a struct."""
    tagged = {"tag": 0, "taggedVersions": "3+", "nullableVersions": "3+", "fields": [field("Inner", versions="3+")]}
    codec = Codec(message(field("Box", "Box", "3+", **tagged)), 3)
    result = codec.decode(bytes.fromhex(data))
    assert (result.value.get("box", "absent"), [problem.rule for problem in result.problems]) == (box, problems)
    if not problems:
        assert encode(codec, result.value).hex() == data


def test_offsets_and_paths_lead_to_the_value() -> None:
    request = message(field("Topics", "[]Topic", fields=[field("Name", "string"), field("Live", "bool")]))
    data = bytes.fromhex("00000002000161010001ff07")
    problems = Codec(request, 0).decode(data).problems
    assert [(problem.rule, problem.offset, problem.field) for problem in problems] == [
        ("codec/utf8-invalid", 10, "topics[1].name"),
        ("codec/boolean-invalid", 11, "topics[1].live"),
    ]


def test_unknown_tags_are_kept() -> None:
    codec = Codec(message(field("Code", "int16", "3+", tag=1, taggedVersions="3+")), 3)
    data = bytes.fromhex("030001aa01020007ac0202beef")
    value = codec.decode(data).value
    assert value == {"code": 7, UNKNOWN_TAGS: [{"tag": 0, "data": "qg=="}, {"tag": 300, "data": "vu8="}]}
    assert encode(codec, value) == data


@pytest.mark.parametrize(
    "value",
    [{"count": 2**31}, {"name": None}, {"name": "\ud800"}, {"name": "x" * 40000}, {"data": "%"}, {"id": "short"}],
)
def test_what_a_type_cannot_hold_is_not_written(value: dict[str, Any]) -> None:
    request = message(field("Count"), field("Name", "string"), field("Data", "bytes"), field("Id", "uuid"))
    assert Codec(request, 0).encode(value) is None


def test_defaults_are_those_of_the_schema() -> None:
    defaults = {
        "int32": ("-1", -1),
        "string": ("x", "x"),
        "bool": ("true", True),
        "int64": ("0x10", 16),
        "float64": ("1.5", 1.5),
        "uuid": ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAQ"),
        "[]int32": ("null", None),
    }
    fields = [field(f"F{at}", kind, default=text) for at, (kind, (text, _)) in enumerate(defaults.items())]
    fields[-1]["nullableVersions"] = "0+"
    values = defaults_of(Codec(message(*fields), 0).body)
    assert [*values.values()] == [value for _, value in defaults.values()]


DEEP = [{"name": f"S{n}", "versions": "0+", "fields": [field("Next", f"S{n + 1}")]} for n in range(3000)]
ENDLESS = [{"name": "Box", "versions": "0+", "fields": [field("Again", "Box")]}]


@pytest.mark.parametrize(
    ("kind", "structs", "problem"),
    [
        ("Box", ENDLESS, "has the field Box.Again, whose type Box is unknown or contains itself"),
        ("Missing", [], "has the field Odd, whose type Missing is unknown or contains itself"),
        ("[][]int32", [], "has the field Odd, whose type .* is unknown or contains itself"),
        ("S0", [*DEEP, {"name": "S3000", "versions": "0+", "fields": [field("End")]}], "has more than 64 levels"),
    ],
    ids=["endless", "unknown", "two arrays", "too deep"],
)
def test_a_layout_without_bytes_is_refused(kind: str, structs: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(UnusableLayout, match=f"XRequest {problem}"):
        Codec(message(field("Odd", kind), commonStructs=structs), 0).decode(b"")


def test_structs_as_deep_as_they_may_be_are_read() -> None:
    structs = [{**struct, "fields": [field("Next", f"[]S{n + 1}")]} for n, struct in enumerate(DEEP[:60])]
    structs.append({"name": "S60", "versions": "0+", "fields": [field("End")]})
    codec = Codec(message(field("First", "S0"), commonStructs=structs), 3)
    value: dict[str, Any] = {"end": 5}
    for _ in range(60):
        value = {"next": [value]}
    assert codec.decode(encode(codec, {"first": value})).value == {"first": value}


def test_elements_without_bytes_are_bounded() -> None:
    codec = Codec(message(field("Empty", "[]Nothing", fields=[field("Later", versions="2+")])), 0)
    assert codec.decode(b"\0\0\0\2").value == {"empty": [{}, {}]}
    assert [problem.rule for problem in codec.decode(b"\x7f\xff\xff\xff").problems] == ["codec/too-many-elements"]


# Bytes that Java wrote


@pytest.fixture(scope="module")
def released(corpus: Path) -> list[Message]:
    return [*load("3.9.0-rc3:", open_repository(corpus / "kafka-schema-history.bundle")).messages]


def test_what_java_wrote(released: list[Message], shared_bytes: Path) -> None:
    by_name = {message.name: message for message in released}
    rows = [json.loads(line) for line in (shared_bytes / "java.jsonl").read_text().splitlines()]
    for row in rows:
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        result = codec.decode(data)
        assert (result.value, result.problems) == (row["value"], ())
        assert encode(codec, row["value"]) == data
    assert len(rows) > 600


def test_records_that_a_broker_wrote(corpus: Path, shared_bytes: Path) -> None:
    by_name = {
        message.name: message for message in load("4.4.0:", open_repository(corpus / "kafka-releases.bundle")).messages
    }
    rows = [json.loads(line) for line in (shared_bytes / "records-4.4.0.jsonl").read_text().splitlines()]
    for row in rows:
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        result = codec.decode(data)
        assert (result.value, result.problems) == (row["json"], ())
        assert encode(codec, result.value) == data
    assert len(rows) > 50


def test_headers_are_those_of_java(released: list[Message], shared_bytes: Path) -> None:
    by_key = {(message.type, message.api_key): message for message in released}
    for row in json.loads((shared_bytes / "java-headers.json").read_text()):
        for kind in ("request", "response"):
            assert header_of(by_key[kind, row["api_key"]], row["version"]) == row[f"{kind}_header"]


KINDS = [*sorted(PRIMITIVES), "[]int8", "[]S", "S"]


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_fields_of_one_name_have_no_bytes_or_those_of_both(first: str, second: str) -> None:
    """A value has the name once, so it fits at most one of two types."""
    inner = {"fields": [field("A")]}
    fields = (field("F", kind, "0+", **(inner if kind.endswith("S") else {})) for kind in (first, second))
    codec = Codec(message(*fields), 1)
    for _, value in [*samples(codec.body), ("", rich(codec.body))]:
        data = codec.encode(value)
        assert data is None or codec.decode(data).is_complete
