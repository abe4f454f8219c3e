"""What one version of a message puts on the wire, and the ranges of versions on which that is the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.test_diff_properties import JSON, documents, tree_of
from kiplint.compat.change import _shown_near, shown_layout
from kiplint.model.layout import describe, layout, layout_intervals, lines, tokens, width
from kiplint.model.message import Message
from kiplint.versions import NONE
from tools import field, message

PLAIN, FLEXIBLE = 0, 3
"""Versions of the definitions made by `tools.document`: not flexible, and flexible."""


def layout_text(request: Message, version: int) -> str:
    return shown_layout(layout(request, version), empty_tags=True)


def same(left: Message, other: Message, version: int) -> bool:
    return tokens(layout(left, version)) == tokens(layout(other, version))


def struct(name: str, kind: str = "[]Part", *fields: dict[str, Any], **others: Any) -> dict[str, Any]:
    return field(name, kind, fields=list(fields), **others)


# One field


@pytest.mark.parametrize(
    ("kind", "nullable", "plain", "flexible"),
    [
        ("string", "none", ("string", "2+n"), ("compact string", "varint+n")),
        ("string", "0+", ("nullable string", "2+n"), ("compact nullable string", "varint+n")),
        ("bytes", "none", ("bytes", "4+n"), ("compact bytes", "varint+n")),
        ("records", "0+", ("nullable records", "4+n"), ("compact nullable records", "varint+n")),
        ("[]int32", "none", ("array of int32", "4+"), ("compact array of int32", "varint+")),
        ("[]string", "0+", ("nullable array of string", "4+"), ("compact nullable array of string", "varint+")),
    ],
)
def test_lengths(kind: str, nullable: str, plain: tuple[str, str], flexible: tuple[str, str]) -> None:
    request = message(field(kind=kind, nullableVersions=nullable))
    for version, expected in ((PLAIN, plain), (FLEXIBLE, flexible)):
        (only,) = layout(request, version).slots
        assert (describe(only), width(only)) == expected


# Messages and structs


NEVER: dict[str, Any] = {"flexibleVersions": "none"}
LATER: dict[str, Any] = {"versions": "3+", "taggedVersions": "3+"}
PART = {"name": "Part", "versions": "0+", "fields": [field("Id")]}
TEXTS: list[tuple[Message, dict[int, str], str]] = [
    (
        message(field("A", "string", nullableVersions="1-2"), **NEVER),
        {0: "A string", 1: "A nullable string", 3: "A string"},
        "0 1-2 3-5",
    ),
    (
        message(field("Id", "string", nullableVersions="0+", **NEVER), field("B", "string")),
        {3: "Id nullable string, B compact string, tags {}"},
        "0-2 3-5",
    ),
    (message(field("A", "string", flexibleVersions="0+")), {0: "A string"}, "0-2 3-5"),
    (
        message(field("C", versions="2+"), field("A"), field("B", "int64", "0-1")),
        {1: "A int32, B int64", 2: "C int32, A int32", 3: "C int32, A int32, tags {}"},
        "0-1 2 3-5",
    ),
    (message(field("A", versions="0-1"), field("B", versions="2+"), **NEVER), {1: "A int32", 2: "B int32"}, "0-1 2-5"),
    (message(field("A"), field("B", versions="7+"), flexibleVersions="9+"), {5: "A int32"}, "0-5"),
    (
        message(struct("Box", "Box", field("A"), nullableVersions="0+"), **NEVER),
        {0: "Box nullable (A int32)"},
        "0-5",
    ),
    (
        message(field("One", "Part"), field("Many", "[]Part", "1+"), commonStructs=[PART]),
        {0: "One (Id int32)", 3: "One (Id int32), Many compact array of (Id int32), tags {}"},
        "0 1-2 3-5",
    ),
    (
        message(field("B", tag=1, **LATER), field("A"), field("C", "string", tag=0, **LATER)),
        {0: "A int32", 3: "A int32, tags {0: C compact string, 1: B int32}"},
        "0-2 3-5",
    ),
    (
        message(field("A", tag=0, taggedVersions="4+")),
        {3: "A int32, tags {}", 4: "tags {0: A int32}"},
        "0-2 3 4-5",
    ),
    (
        message(struct("P", "P", field("Id", "string", "3+", nullableVersions="4+"), tag=0, **LATER)),
        {3: "tags {0: P (Id compact string)}", 4: "tags {0: P (Id compact nullable string)}"},
        "0-2 3 4-5",
    ),
    (message(field("A", "string"), validVersions="2-4"), {2: "A string"}, "2 3-4"),
    (message(field("A", "string"), validVersions="none"), {}, ""),
]


@pytest.mark.parametrize(("definition", "texts", "expected"), TEXTS)
def test_versions_and_their_layouts(definition: Message, texts: dict[int, str], expected: str) -> None:
    assert {version: layout_text(definition, version) for version in texts} == texts
    assert " ".join(map(str, layout_intervals(definition))) == expected


def test_structs_are_inline_and_end_in_tags_once_flexible() -> None:
    box, plain = (message(*fields) for fields in ([struct("Box", "Box", field("A"))], [field("A")]))
    assert same(box, plain, PLAIN)
    assert not same(box, plain, FLEXIBLE)
    assert tokens(layout(box, FLEXIBLE)) == ("int32", "tags", "tags")
    nullable = message(struct("Box", "Box", field("A"), nullableVersions="0+"))
    assert not same(box, nullable, PLAIN)
    assert [width(layout(item, PLAIN).slots[0]) for item in (box, nullable)] == ["", "1+"]
    assert same(message(field("B", tag=1, **LATER), field("A")), plain, FLEXIBLE)  # tags are no part of the tokens


def test_a_struct_in_itself_ends() -> None:
    common = [{"name": "Node", "versions": "0+", "fields": [field("Id"), field("Children", "[]Node")]}]
    request = message(field("Root", "Node"), commonStructs=common)
    assert layout_text(request, PLAIN) == "Root (Id int32, Children array of Node)"
    assert "recursion" in str(tokens(layout(request, PLAIN)))
    assert same(request, request, FLEXIBLE)
    assert layout_intervals(request)
    assert [row[1] for row in lines(layout(request, PLAIN))] == ["Root", "Id", "Children"]


# Equal bytes


@pytest.mark.parametrize(
    ("left", "other", "plain", "flexible"),
    [
        (field(kind="[]int32"), struct("Field", "[]Part", field("Id")), True, False),
        (field(kind="bytes"), field(kind="records"), True, True),
        (field(kind="string"), field(kind="bytes"), False, True),
        (field(kind="int32"), field(kind="uint32"), False, False),
        (field(kind="int32"), field(kind="int64"), False, False),
        (field(kind="[]int32"), field(kind="[]int16"), False, False),
        (field(kind="string"), field(kind="string", nullableVersions="0+"), False, False),
        (field("A"), field("B"), True, True),
    ],
)
def test_which_bytes_are_equal(left: dict[str, Any], other: dict[str, Any], *, plain: bool, flexible: bool) -> None:
    requests = message(left), message(other)
    assert (same(*requests, PLAIN), same(*requests, FLEXIBLE)) == (plain, flexible)


# Intervals


def test_versions_are_never_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    layout_mock = Mock(side_effect=layout)
    monkeypatch.setattr("kiplint.model.layout.layout", layout_mock)
    request = message(
        field("A", "string"), field("B", versions="20000+"), validVersions="0-32767", flexibleVersions="9+"
    )
    assert [str(interval) for interval in layout_intervals(request)] == ["0-8", "9-19999", "20000+"]
    assert [call.args[1] for call in layout_mock.call_args_list] == [0, 9, 20000]


# Properties


def message_of(content: JSON) -> Message:
    return next(iter(tree_of(content).messages))


@given(documents())
def test_intervals_partition_the_valid_versions(content: JSON) -> None:
    definition = message_of(content)
    result = layout_intervals(definition)
    assert all(interval.lowest <= interval.highest and len(interval.intervals) == 1 for interval in result)
    assert list(result) == sorted(result, key=lambda interval: interval.lowest)
    together = NONE
    for interval in result:
        assert not interval & together
        together |= interval
    assert together == definition.valid


@given(documents(), st.data())
def test_nothing_changes_inside_an_interval(content: JSON, data: st.DataObject) -> None:
    definition = message_of(content)
    for interval in layout_intervals(definition):
        bodies = [layout(definition, data.draw(st.integers(interval.lowest, interval.highest))) for _ in range(2)]
        assert len({tokens(body) for body in bodies}) == 1
        assert len({shown_layout(body) for body in bodies}) == 1
        assert len({tuple(lines(body)) for body in bodies}) == 1


@given(documents())
def test_something_changes_from_one_interval_to_the_next(content: JSON) -> None:
    definition = message_of(content)
    result = layout_intervals(definition)
    for interval, after in pairwise(result):
        bodies = [layout(definition, version) for version in (interval.lowest, after.lowest)]
        contents = [(tokens(body), [row[1] for row in lines(body)]) for body in bodies]
        assert contents[0] != contents[1]


def test_of_a_large_layout_one_field_is_shown() -> None:
    many = [field(f"F{n}") for n in range(1_000)]
    request = message(*many, struct("Deep", "Part", *many), field("T", tag=0, taggedVersions="3+"))
    texts = [_shown_near(request.by_name[name], request, FLEXIBLE, is_flexible=True) for name in ("F500", "Deep", "T")]
    assert texts == ["..., F500 int32, ...", "..., Deep (...), ...", "..., T int32, ..."]
    assert shown_layout(layout(request, FLEXIBLE)) == "..."
