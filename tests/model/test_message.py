"""Facts about a message, its fields, and the entries of `headerVersions`."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.engine.language import facts_of
from kiplint.model.fields import Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import range_problems
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message


@pytest.mark.parametrize(
    ("valid", "value", "dead", "problem"),
    [
        ("0-5", "0-5", False, False),
        ("none", "none", True, False),
        ("x", "none", False, True),
        ("", "none", False, True),
    ],
)
def test_valid_versions(valid: str, value: str, dead: bool, problem: bool) -> None:
    request = message(validVersions=valid)
    assert (str(request.valid), request.is_dead, bool(request.valid_problem)) == (value, dead, problem)


def test_every_fact_can_be_computed() -> None:
    inner = field("A", "[]S", fields=[field("B")])
    whole = message(inner, field("C", "T"), field("D", "[]nothing", default="0"), headerVersions={"0+": "1"})
    elements = {Message: [whole], Field: whole.all_fields, Struct: whole.structs, HeaderRange: whole.header_ranges}
    for kind, items in elements.items():
        assert len(items) and len(facts_of(kind)) > 10
        for item in items:
            for name in facts_of(kind):
                getattr(item, name)


def test_ranges_that_cannot_be_read() -> None:
    struct = {"name": "S", "versions": "s", "fields": [{"name": "B", "type": "int8", "versions": "b"}]}
    wrong = {"name": "A", "type": "bytes", "versions": "a", "taggedVersions": "t", "nullableVersions": "n\x1b"}
    request = message(
        {**wrong, "flexibleVersions": "f"}, validVersions="+1", flexibleVersions="x" * 50, commonStructs=[struct]
    )
    assert [(problem.kind, problem.pointer, problem.detail) for problem in range_problems(request)] == [
        ("invalid-range", "/validVersions", '"+1" begins with a sign; write "1+" for that version and all later ones'),
        ("invalid-range", "/flexibleVersions", f'"{"x" * 40}" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/versions", '"s" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/versions", '"a" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/taggedVersions", '"t" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/nullableVersions", '"n\\u001b" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/flexibleVersions", '"f" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/fields/0/versions", '"b" is not "N", "N-M", "N+" or "none"'),
    ]


def only(**properties: Any) -> Field:
    """The field of a request that has versions 0-5 and is flexible from 3 on."""
    (result,) = message(field(**properties)).fields
    return result


@pytest.mark.parametrize("name", ["nullable", "tagged", "flexible"])
@pytest.mark.parametrize(
    ("text", "expected", "problem"),
    [
        ("1+", "1+", ""),
        (" ", None, ""),
        ("none", "none", ""),
        ("x", None, 'is not "N", "N-M", "N+" or "none"'),
    ],
)
def test_optional_ranges(name: str, text: str, expected: str | None, problem: str) -> None:
    item = only(kind="string", **{f"{name}Versions": text})
    left_out = {"nullable": "none", "tagged": "none", "flexible": "3+"}[name]
    assert str(getattr(item, name)) == (expected or left_out)
    assert getattr(item, f"{name}_problem") == problem
    if name == "flexible":
        assert item.overrides_flexible is bool(text.strip())


@pytest.mark.parametrize(
    ("text", "tagged", "versions", "problem"),
    [
        ("2+", None, "2+", ""),
        (" ", "3+", "3+", ""),
        ("", None, "none", "is empty"),
        ("", "x", "none", "is empty"),
        ("+1", None, "0-5", 'begins with a sign; write "1+" for that version and all later ones'),
    ],
)
def test_versions_of_a_field(text: str, tagged: str | None, versions: str, problem: str) -> None:
    item = only(versions=text, taggedVersions=tagged)
    assert (str(item.versions), item.versions_problem) == (versions, problem)


@pytest.mark.parametrize(
    ("kind", "default", "mistake"),
    [("int8", 128, "invalid"), ("bool", True, ""), ("int32", "null", "invalid"), ("[]int32", "null", "")],
)
def test_default(kind: str, default: object, mistake: str) -> None:
    item = only(kind=kind, default=default)
    assert (item.default_mistake, bool(item.default_problem)) == (mistake, bool(mistake))
    assert item.defaults_to_null is (default == "null" and kind != "int32")


@pytest.mark.parametrize(
    ("kind", "children", "hint"),
    [("topic", True, ""), ("int", True, "int32"), ("int32", True, ""), ("Topic", True, ""), ("Strin", False, "string")],
)
def test_misspelt_types(kind: str, children: bool, hint: str) -> None:
    assert only(kind=kind, fields=[field("A")] if children else None).type_hint == hint


def entries(**ranges: str) -> tuple[HeaderRange, ...]:
    return message(headerVersions=ranges).header_ranges


def ranges(text: str) -> tuple[HeaderRange, ...]:
    """The entries with these keys, in this order, all with header 2."""
    return entries(**dict.fromkeys(text.split(), "2"))


HEADERS = ("RequestHeader", "ResponseHeader")


@pytest.mark.parametrize(
    ("others", "ranges", "header_versions", "expected"),
    [
        ({}, {"0+": "2"}, "1-2", [True]),
        ({}, {"0-1": "2", "9+": "3"}, "1-2", [True, False]),  # no valid version has the second
        ({}, {"0+": "x"}, "1-2", [False]),
        ({}, {"0+": "1"}, "1-2", [False]),  # what RequestHeader says of version 1 counts
        ({}, {"0+": "1"}, "2-3", [False]),
        ({}, {"0+": "1"}, "0", [True]),
        ({}, {"0+": "1"}, "", [True]),  # the set has no RequestHeader
        ({"type": "response", "name": "XResponse"}, {"0+": "1"}, "2-3", [True]),
        ({"type": "data", "name": "X", "apiKey": None}, {"0+": "2"}, "1-2", [False]),
    ],
)
def test_what_needs_a_header(
    others: dict[str, Any], ranges: dict[str, str], header_versions: str, expected: list[bool]
) -> None:
    headers = [
        message(name=name, type="header", apiKey=None, validVersions=header_versions, flexibleVersions="none")
        for name in HEADERS
    ]
    whole = SchemaSet([message(headerVersions=ranges, **others), *(headers if header_versions else ())]).messages[0]
    assert [entry.needs_header for entry in whole.header_ranges] == expected


@pytest.mark.parametrize(
    ("others", "ranges", "expected"),
    [
        ({}, {"0+": "0"}, [True]),
        ({}, {"0+": "1"}, [False]),
        ({"apiKey": 7}, {"0": "0", "1+": "0"}, [False, True]),
        ({"type": "response", "name": "XResponse"}, {"0+": "0"}, [False]),
    ],
)
def test_request_header_0_is_retired(others: dict[str, Any], ranges: dict[str, str], expected: list[bool]) -> None:
    assert [entry.is_retired for entry in message(headerVersions=ranges, **others).header_ranges] == expected


def test_the_users_of_a_header_are_messages_of_one_type() -> None:
    names = (("ARequest", "request", "2"), ("BRequest", "request", "2"), ("AResponse", "response", "2"))
    definitions = [message(name=name, type=kind, headerVersions={"0+": header}) for name, kind, header in names]
    ranges = [entry for whole in SchemaSet(definitions).messages for entry in whole.header_ranges]
    assert [entry.users for entry in ranges] == [2, 2, 1]


@pytest.mark.parametrize(
    ("keys", "gaps", "overlaps"),
    [
        ("0+", ["none"], ["none"]),
        ("0-1 2+", ["none", "none"], ["none", "none"]),
        ("0 2+", ["none", "1"], ["none", "none"]),
        ("0-1 5-6 9+", ["none", "2-4", "7-8"], ["none", "none", "none"]),
        ("0-3 2+", ["none", "none"], ["none", "2-3"]),
        ("0+ 3+", ["none", "none"], ["none", "3+"]),
        ("0-8 3-5 9-13 15+", ["none", "none", "none", "14"], ["none", "3-5", "none", "none"]),
        ("3+", ["none"], ["none"]),
        ("x 1+", ["none", "none"], ["none", "none"]),
        ("none 1+", ["none", "none"], ["none", "none"]),
    ],
)
def test_gaps_and_overlaps(keys: str, gaps: list[str], overlaps: list[str]) -> None:
    result = ranges(keys)
    assert [str(entry.gap) for entry in result] == gaps
    assert [str(entry.overlap) for entry in result] == overlaps


@pytest.mark.parametrize(
    ("key", "versions", "problem"),
    [
        ("0-1", "0-1", ""),
        (" 3+ ", "3+", ""),
        ("none", "none", "names no version"),
        ("", "none", "is empty"),
        ("0..1", "none", 'is not "N", "N-M" or "N+"'),
        ("3-1", "none", 'is inverted; write "1-3"'),
    ],
)
def test_keys(key: str, versions: str, problem: str) -> None:
    (entry,) = entries(**{key: "2"})
    assert (str(entry.versions), entry.key_problem) == (versions, problem)


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("0", 0), ("3", 3), ("32767", 32767), (" 2 ", -1), ("+2", -1), ("02", -1), ("-0", -1),
        ("32768", -1), ("-1", -1), ("", -1), ("a", -1), ("2+", -1), ("1.0", -1), ("٣", -1), ("9" * 5000, -1),
    ],
)  # fmt: skip
def test_values(value: str, header: int) -> None:
    (entry,) = entries(**{"0+": value})
    assert entry.header == header
