"""Facts about one field."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.engine.language import facts_of
from kiplint.model.fields import Field
from tools import field, message


def only(**properties: Any) -> Field:
    """The field of a request that has versions 0-5 and is flexible from 3 on."""
    (result,) = message(field(**properties)).fields
    return result


def test_every_fact_of_every_field_can_be_computed() -> None:
    whole = message(field("A", "[]S", fields=[field("B")]), field("C", "T"), field("D", "[]nothing", default="0"))
    assert len(facts_of(Field)) > 40
    for item in whole.all_fields:
        for name in facts_of(Field):
            getattr(item, name)


@pytest.mark.parametrize(
    ("versions", "valid", "present"),
    [
        ("0+", "0-5", "0-5"),
        ("2+", "0-5", "2-5"),
        ("0-2", "1-5", "1-2"),
        ("0", "1-5", "none"),
        ("6+", "0-5", "none"),
        ("none", "0-5", "none"),
        ("0+", "none", "none"),
    ],
)
def test_present(versions: str, valid: str, present: str) -> None:
    (item,) = message(field(versions=versions), validVersions=valid).fields
    assert str(item.present) == present


@pytest.mark.parametrize("name", ["nullable", "tagged", "flexible"])
@pytest.mark.parametrize(
    ("text", "expected", "problem"),
    [
        ("1+", "1+", ""),
        ("", None, ""),
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
        ("", "3+", "3+", ""),
        (" ", "3+", "3+", ""),
        ("", None, "none", "is empty"),
        ("", "x", "none", "is empty"),
        ("+1", None, "0-5", 'has a sign in front; write "1+" for that version and all later ones'),
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
