from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from kiplint.limits import DEFINITION_BYTES, DEFINITION_LEVELS
from kiplint.text.decode import blank_comments, decode
from kiplint.text.diagnose import diagnose

from .support import documents, mutations, random_texts


class Field(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A stand-in for the real shape of a field."""

    name: str | UnsetType = UNSET
    about: str | UnsetType = UNSET
    tag: int | str | UnsetType = UNSET
    map_key: bool | UnsetType = UNSET
    default: str | int | float | bool | UnsetType | None = UNSET
    fields: list[Field] | UnsetType = UNSET
    extra: dict[str, Any] | UnsetType = UNSET


FIELD = msgspec.json.Decoder(Field)
ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def read(text: str | bytes) -> Field | None:
    return decode(text.encode() if isinstance(text, str) else text, FIELD)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{}", Field()),
        ('// a\n{"name" : "A", // "name": 1,\r\n"tag":\n0}', Field(name="A", tag=0)),
        ('{"about": " : \\": // /* ", "mapKey": true}', Field(about=' : ": // /* ', map_key=True)),
        ('{"about": ":", "default": null}', Field(about=":", default=None)),
        ('{"about": "é\\u00e9\\n", "fields": [{}, {"name": "B"}]}', Field(about="éé\n", fields=[Field(), Field("B")])),
        ('// /* "\n{"name": "A"} // */', Field(name="A")),
        ('{"extra": {"a": {"b": [1]}}}', Field(extra={"a": {"b": [1]}})),
    ],
)
def test_fast(text: str, field: Field) -> None:
    assert read(text) == field


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "A",}',
        '{"nam": "A"}',
        '{"name": 1}',
        "\ufeff{}",
        '{"name": /* "B" */ "A"}',
        '{"name": "A"} /* open',
        '{"tag": 1, "\\u0074ag": 2}',
        '{"about": "\\"", "tag": 1, "tag": 2}',
        '{"fields": [{"name": "A", "name": "B"}]}',
        '{"extra": {"a": 1, "a": 2}}',
        b"{} // \xff",
        "{}" + " " * DEFINITION_BYTES,
        '{"fields": [' * 5000,
    ],
)
def test_slow(text: str | bytes) -> None:
    assert read(text) is None


def test_depth() -> None:
    nested: dict[str, Any] = {"a": {"]": '["'}}
    for depth in range(3, DEFINITION_LEVELS + 3):
        assert (decode(json.dumps(nested).encode(), ANY) == nested) is (depth <= DEFINITION_LEVELS + 1), depth
        nested = {"a": nested}
    wide = [[0]] * 500
    assert decode(json.dumps(wide).encode(), ANY) == wide
    at_limit = "[" * (DEFINITION_LEVELS - 1) + "[],[{}]".replace("[{}]", "[]") + "]" * (DEFINITION_LEVELS - 1)
    assert decode(at_limit.encode(), ANY) is not None
    assert decode(f"[{at_limit}]".encode(), ANY) is None


@given(st.lists(st.tuples(st.sampled_from(["name", "about", "n", '"', "\\", ": "]), st.text(':" \\a', max_size=3))))
def test_duplicate_keys_are_seen_exactly(pairs: list[tuple[str, str]]) -> None:
    text = "{" + ", ".join(f"{json.dumps(key)} :{json.dumps(value)}" for key, value in pairs) + "}"
    value = decode(text.encode(), ANY)
    assert value == (None if len({key for key, _ in pairs}) < len(pairs) else dict(pairs))


@given(
    st.binary(max_size=60)
    | (mutations() | random_texts | documents().map(lambda document: document[0])).map(str.encode)
)
def test_what_is_fast_is_without_problems(data: bytes) -> None:
    value = decode(data, ANY)
    diagnosis = diagnose(data)
    if value is not None:
        assert diagnosis.problems == ()
        assert diagnosis.value == value
    elif not diagnosis.problems:
        assert diagnosis.value is None


def test_corpus(corpus: Path) -> None:
    paths = (corpus / "kafka-trunk-2026-08").glob("*/*.json")
    slow = [path.name for path in paths if decode(path.read_bytes(), ANY) is None]
    assert slow == ["SubscriptionInfoData.json"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{} // a\n//b\r\n{}", b"{}     \n   \r\n{}"),
        (b'"\\"//" // x', b'"\\"//"     '),
        (b"'//' // x", b"'//'     "),
        (b"1/*a\nb*/2", b"1   \n   2"),
        (b"1/* open\r", b"1       \r"),
        (b"/*/ */1", b"      1"),
        (b"1 // /* \n2 // */", b"1       \n2      "),
        (b'"open // \n// x', b'"open // \n    '),
        ("{} // é\n".encode(), b"{}      \n"),
    ],
)
def test_comments_become_blanks(data: bytes, expected: bytes) -> None:
    assert blank_comments(data) == expected
