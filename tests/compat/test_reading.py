"""Which versions a reader misreads: exactly what `diff` says breaks the wire, and null by who writes."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.compat.change import Kind
from kiplint.compat.reading import WIRE, misread_versions
from kiplint.engine.config import Config
from kiplint.versions import VersionRange
from tools import field, message, rules_of

ELSEWHERE = {
    Kind.API_KEY_CHANGED, Kind.API_KEY_REUSED, Kind.MESSAGE_TYPE_CHANGED, Kind.HEADER_CHANGED, Kind.TAG_REUSED,
    Kind.RECORD_KEY_CHANGED,
}  # fmt: skip
"""What breaks the wire and is no change of a version's body, or is found in another way."""
NULL = {"nullableVersions": "0+"}


def tag(name: str, number: int, kind: str = "int32") -> dict[str, Any]:
    return field(name, kind, "3+", tag=number, taggedVersions="3+")


def test_the_kinds_are_those_that_break_the_wire() -> None:
    breaking_rules = {rule.id for rule in rules_of(Config()).rules if rule.spec.breaks == "wire"}
    assert {kind for kind in Kind if f"compat/{kind.rule}" in breaking_rules} == WIRE | ELSEWHERE


@pytest.mark.parametrize(
    ("writer", "reader", "misread"),
    [
        ([field("A"), field("B")], [field("A"), field("B")], "none"),
        ([field("A"), field("B")], [field("B"), field("A")], "0-5"),  # two fields of one type trade places
        ([field("A"), field("B")], [field("A"), field("C")], "none"),  # a new name
        ([tag("A", 0), tag("B", 1)], [tag("A", 1), tag("B", 0)], "3-5"),
        ([tag("A", 0)], [tag("A", 1)], "3-5"),
        ([tag("A", 0)], [tag("B", 0, "string")], "3-5"),
        ([tag("A", 0)], [tag("B", 1)], "none"),
        ([field("A", "string")], [field("A", "string", **NULL)], "none"),
        ([field("A", "string", **NULL)], [field("A", "string")], "0-5"),
        ([field("A", "[]int32")], [field("A", "[]int32", **NULL)], "none"),
        ([tag("A", 0, "string")], [{**tag("A", 0, "string"), "nullableVersions": "3+"}], "none"),
        ([field("A", "S", fields=[field()])], [field("A", "S", fields=[field()], **NULL)], "0-5"),  # has a marker
        ([field("A")], [field("A"), field("B", versions="4+")], "4-5"),
        (
            [field("A", "[]S", fields=[field("B"), field("C")])],
            [field("A", "[]S", fields=[field("C"), field("B")])],
            "0-5",
        ),
    ],
)
def test_misread_versions(writer: list[dict[str, Any]], reader: list[dict[str, Any]], misread: str) -> None:
    result = misread_versions(message(*writer), message(*reader), VersionRange.of(0, 5))
    assert str(result) == misread
