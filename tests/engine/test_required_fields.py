"""The fields that a message must carry: what is wrong, where, and what to write instead."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kiplint.engine.rule import FieldRequirement
from kiplint.engine.ruleset import unmet_requirements
from kiplint.model.fields import Field
from kiplint.model.message import Message
from tools import field, message

STRING = {"type": "string", "versions": "1+"}


def unmet_fields(whole: Message, required_fields: Any) -> list[tuple[str, str, str]]:
    """The unmet requirements of a message: the finding's message, its element and its property."""
    expected = msgspec.convert(required_fields, dict[str, FieldRequirement])
    return [
        (unmet.message, unmet.element.path if isinstance(unmet.element, Field) else unmet.element.name, unmet.key)
        for unmet in unmet_requirements(whole, expected)
    ]


def request(*fields: dict[str, Any]) -> Message:
    return message(*fields, name="XRequest", validVersions="0-3", flexibleVersions="2+")


@pytest.mark.parametrize(
    ("required", "properties", "unmet"),
    [
        ({"type": "int16"}, {}, ("A must be int16, not string", "type")),
        ({"type": "[]"}, {}, ("A must be an array, not string", "type")),
        ({"type": "[]"}, {"type": "[]string"}, None),
        ({"versions": "2+"}, {}, ("A must be present in versions 2+, not in 1+", "versions")),
        ({"versions": "1-9"}, {}, None),
        ({"versions": "1+"}, {"versions": "1-2"}, ("A must be present in versions 1+, not in 1-2", "versions")),
        ({}, {"tag": 0, "taggedVersions": "2+"}, ("A must not be tagged", "taggedVersions")),
        ({"tagged": "2+"}, {}, ("A must be tagged in versions 2+", "taggedVersions")),
        ({"nullable": "0+"}, {"nullableVersions": "1+"}, None),
        ({"nullable": "1+"}, {}, ("A must be nullable in versions 1+", "nullableVersions")),
        ({"nullable": "none"}, {"nullableVersions": "2+"}, ("A must not be null in versions 2-3", "nullableVersions")),
        ({"default": "x"}, {}, ("A must have the default x", "default")),
        ({"default": "x"}, {"default": "y"}, ("A must have the default x, not y", "default")),
        ({"default": "null"}, {"nullableVersions": "1+", "default": "null"}, None),
        ({"ignorable": True}, {}, ("A must be ignorable", "ignorable")),
        ({"ignorable": False}, {"ignorable": True}, ("A must not be ignorable", "ignorable")),
        ({"fields": {"B": {}}}, {}, ("A must be a struct, not string", "type")),
    ],
)
def test_one_requirement(required: dict[str, Any], properties: dict[str, Any], unmet: tuple[str, str] | None) -> None:
    whole = request(field("A", **{"type": "string", "versions": "1+", **properties}))
    assert unmet_fields(whole, {"A": required}) == ([(unmet[0], "A", unmet[1])] if unmet else [])


def test_a_missing_field_is_described() -> None:
    required = {"type": "string", "versions": "1+", "nullable": "1+", "default": "null", "ignorable": True}
    message = "XRequest must have A, a nullable string in versions 1+, null by default, ignorable"
    assert unmet_fields(request(), {"A": required}) == [(message, "XRequest", "fields")]


def test_the_order_of_fields() -> None:
    whole = request(field("Old", versions="0"), field("A", "string", "1+"), field("B", "string", "1+"))
    assert unmet_fields(whole, {"A": {**STRING, "first": True}, "B": {**STRING, "after": "A"}}) == []
    assert unmet_fields(whole, {"B": {**STRING, "first": True}}) == [
        ("B must be the first field, but comes after A", "B", "name")
    ]
    assert unmet_fields(whole, {"A": {**STRING, "after": "B"}}) == [("A must come right after B", "A", "name")]
    for other in ("Nothing", "Old"):  # which is a finding of its own
        assert unmet_fields(whole, {"A": {**STRING, "after": other}}) == []


def test_fields_of_structs() -> None:
    whole = request(field("Rows", "[]Row", "0+", fields=[field("Key", "int16", "0+"), field("Low", "int32", "0+")]))
    number = {"type": "int16", "versions": "0+"}
    assert unmet_fields(whole, {"Rows": {"fields": [number, {"type": "int32"}]}}) == []
    assert unmet_fields(whole, {"Rows": {"fields": {"Key": number}}}) == []
    assert unmet_fields(whole, {"Rows": {"type": "[]", "fields": [number, number, number]}}) == [
        ("Low must be int16, not int32", "Rows.Low", "type"),
        ("Row must have a field number 3, an int16 in versions 0+", "Row", "fields"),
    ]
