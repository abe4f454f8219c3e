"""The fields that a message must carry: what is wrong, where, and what to write instead."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kiplint.engine.requirements import unmet_requirements
from kiplint.engine.rule import FieldRequirement
from kiplint.model.fields import Field
from kiplint.model.message import Message
from tools import field, message

STRING = {"type": "string", "versions": "1+"}


def unmet_fields(whole: Message, required_fields: Any) -> list[tuple[str, str, str, str]]:
    """The unmet requirements of a message: the finding's message, its element, its property, and the correct text."""
    expected = msgspec.convert(required_fields, dict[str, FieldRequirement])
    hits = unmet_requirements(whole, expected)
    return [
        (hit.message, hit.element.path if isinstance(hit.element, Field) else hit.element.name, hit.at, hit.instead)
        for hit in hits
    ]


def request(*fields: dict[str, Any]) -> Message:
    return message(*fields, name="XRequest", validVersions="0-3", flexibleVersions="2+")


@pytest.mark.parametrize(
    ("demand", "properties", "unmet"),
    [
        ({"type": "int16"}, {}, ("A has to be int16, not string", "type", '"int16"')),
        ({"type": "[]"}, {}, ("A has to be an array, not string", "type", "")),
        ({"type": "[]"}, {"type": "[]string"}, None),
        ({"versions": "2+"}, {}, ("A has to be there in versions 2+, not in 1+", "versions", '"2+"')),
        ({"versions": "1-9"}, {}, None),
        ({"versions": "1+"}, {"versions": "1-2"}, ("A has to be there in versions 1+, not in 1-2", "versions", '"1+"')),
        ({}, {"tag": 0, "taggedVersions": "2+"}, ("A must not be tagged", "taggedVersions", "")),
        ({"tagged": "2+"}, {}, ("A has to be tagged in versions 2+", "taggedVersions", '"taggedVersions": "2+"')),
        ({"nullable": "0+"}, {"nullableVersions": "1+"}, None),
        (
            {"nullable": "1+"},
            {},
            ("A has to be nullable in versions 1+", "nullableVersions", '"nullableVersions": "1+"'),
        ),
        (
            {"nullable": "1+"},
            {"nullableVersions": "2+"},
            ("A has to be nullable in versions 1+", "nullableVersions", '"1+"'),
        ),
        (
            {"nullable": "none"},
            {"nullableVersions": "2+"},
            ("A must not be null in versions 2-3", "nullableVersions", '"none"'),
        ),
        ({"default": "x"}, {}, ("the default of A has to be x", "default", '"default": "x"')),
        ({"default": "x"}, {"default": "y"}, ("the default of A has to be x, not y", "default", '"x"')),
        ({"default": "null"}, {"nullableVersions": "1+", "default": "null"}, None),
        ({"ignorable": True}, {}, ("A has to be ignorable", "ignorable", '"ignorable": true')),
        ({"ignorable": False}, {"ignorable": True}, ("A must not be ignorable", "ignorable", "false")),
        ({"fields": {"B": {}}}, {}, ("A has to hold a struct, not string", "type", "")),
    ],
)
def test_one_demand(demand: dict[str, Any], properties: dict[str, Any], unmet: tuple[str, str, str] | None) -> None:
    whole = request(field("A", **{"type": "string", "versions": "1+", **properties}))
    expected = [(unmet[0], "A", *unmet[1:])] if unmet else []
    assert unmet_fields(whole, {"A": demand}) == expected


def test_a_missing_field_is_written_out() -> None:
    demand = {"type": "string", "versions": "1+", "nullable": "1+", "default": "null", "ignorable": True}
    output = "XRequest has to carry A, a nullable string in versions 1+, null by default, ignorable"
    text = '{"name": "A", "type": "string", "versions": "1+", "nullableVersions": "1+", "default": "null", "ignorable": true}'
    assert unmet_fields(request(), {"A": demand}) == [(output, "XRequest", "fields", text)]
    assert unmet_fields(request(), {"A": {"versions": "0+"}}) == [
        ("XRequest has to carry A, a field in versions 0+", "XRequest", "fields", "")
    ]


def test_places() -> None:
    whole = request(field("Old", versions="0"), field("A", "string", "1+"), field("B", "string", "1+"))
    assert unmet_fields(whole, {"A": {**STRING, "first": True}, "B": {**STRING, "after": "A"}}) == []
    assert unmet_fields(whole, {"B": {**STRING, "first": True}}) == [
        ("B has to be the first field, and comes after A", "B", "name", "")
    ]
    assert unmet_fields(whole, {"A": {**STRING, "after": "B"}}) == [("A has to come right after B", "A", "name", "")]
    assert unmet_fields(whole, {"A": {**STRING, "after": "Nothing"}}) == []


def test_fields_of_structs() -> None:
    whole = request(field("Rows", "[]Row", "0+", fields=[field("Key", "int16", "0+"), field("Low", "int32", "0+")]))
    number = {"type": "int16", "versions": "0+"}
    assert unmet_fields(whole, {"Rows": {"fields": [number, {"type": "int32"}]}}) == []
    assert unmet_fields(whole, {"Rows": {"fields": {"Key": number}}}) == []
    assert unmet_fields(whole, {"Rows": {"type": "[]", "fields": [number, number, number]}}) == [
        ("Low has to be int16, not int32", "Rows.Low", "type", '"int16"'),
        ("Row has to carry a field number 3, an int16 in versions 0+", "Row", "fields", ""),
    ]
