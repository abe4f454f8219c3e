"""Repair: what is wrong with the shape of a value, and the message that is left of it."""

from __future__ import annotations

import copy
from itertools import islice
from typing import Any, get_args

import msgspec
import pytest

from kiplint.limits import DEFINITION_PROBLEMS
from kiplint.model.shape import _validator, repair
from kiplint.model.spec import ENTITY_TYPES, MessageType
from tools import document, field

LEFT_OUT = object()


def problems(value: object) -> list[tuple[str, str, str]]:
    return [(problem.kind, problem.pointer, problem.detail) for problem in repair(value)[1]]


def repair_value(value: object) -> Any:
    spec = repair(value)[0]
    assert spec is not None
    return msgspec.json.decode(msgspec.json.encode(spec))


def with_field(**properties: Any) -> dict[str, Any]:
    return document({name: value for name, value in field(**properties).items() if value is not LEFT_OUT})


def test_a_sound_value_is_left_alone() -> None:
    value = document(field(), commonStructs=[{"name": "S", "versions": "0+", "fields": [field("A")]}])
    before = copy.deepcopy(value)
    assert problems(value) == []
    assert repair_value(value) == before == value


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("ignorable", "true", True),
        ("ignorable", "false", False),
        ("ignorable", " True ", True),
        ("ignorable", "", False),
        ("ignorable", 1, True),
        ("ignorable", None, False),
        ("tag", "0", 0),
        ("tag", " 12 ", 12),
        ("tag", 2.0, 2),
        ("tag", "", None),
        ("about", 5, "5"),
        ("about", 1.5, "1.5"),
        ("versions", 0, "0"),
        ("taggedVersions", False, "false"),
    ],
)
def test_coerced_values(name: str, value: object, result: object) -> None:
    message = with_field(**{name: value})
    (problem,) = repair(message)[1]
    word = "" if result is None else msgspec.json.encode(result).decode()
    assert (problem.kind, problem.pointer, problem.word) == ("coerced-value", f"/fields/0/{name}", word)
    assert repair_value(message)["fields"][0][name] == result


@pytest.mark.parametrize(
    ("properties", "pointer", "detail", "result"),
    [
        ({"ignorable": "yes"}, "ignorable", '"ignorable" must be true or false, not a string', None),
        ({"ignorable": 1.5}, "ignorable", '"ignorable" must be true or false, not 1.5', None),
        ({"tag": "a"}, "tag", '"tag" must be an integer in range, not a string', None),
        ({"tag": 2**31}, "tag", '"tag" must be an integer in range, not 2147483648', None),
        ({"tag": True}, "tag", '"tag" must be an integer in range, not true', None),
        ({"about": ["a"]}, "about", '"about" must be a string, not a list', None),
        ({"default": []}, "default", '"default" must be a string, a number, a boolean or null, not a list', None),
        ({"fields": "a"}, "fields", '"fields" must be a list of objects, not a string', None),
        ({"fields": [1]}, "fields/0", '"fields" must be a list of objects, not 1', []),
        ({"fields": [field(), None]}, "fields/1", '"fields" must be a list of objects, not null', [field()]),
        ({"name": None}, "name", '"name" must be a string, not null', "Unnamed"),
    ],
)
def test_wrong_types(properties: dict[str, Any], pointer: str, detail: str, result: object) -> None:
    message = with_field(**properties)
    assert problems(message) == [("wrong-type", f"/fields/0/{pointer}", detail)]
    assert [repair_value(message)["fields"][0].get(name) for name in properties] == [result]


@pytest.mark.parametrize(
    ("properties", "pointer", "detail", "result"),
    [
        ({"commonStructs": ["S"]}, "/commonStructs/0", '"commonStructs" must be a list of objects, not a string', []),
        (
            {"listeners": ["broker", {}]},
            "/listeners/1",
            '"listeners" must be a list of strings, not an object',
            ["broker"],
        ),
        (
            {"listeners": ["broker", True]},
            "/listeners/1",
            '"listeners" must be a list of strings, not true',
            ["broker"],
        ),
        ({"headerVersions": {"0+": []}}, "/headerVersions/0+", '"0+" must be a string, not a list', {}),
    ],
)
def test_wrong_types_in_a_message(properties: dict[str, Any], pointer: str, detail: str, result: object) -> None:
    value = {**document(), **properties}
    assert problems(value) == [("wrong-type", pointer, detail)]
    assert [repair_value(value)[name] for name in properties] == [result]


@pytest.mark.parametrize("name", ["name", "type", "validVersions"])
def test_nothing_is_left_without_what_matters_most(name: str) -> None:
    spec, result = repair({**document(), name: {}})
    assert (spec, [(problem.kind, problem.pointer) for problem in result]) == (None, [("wrong-type", f"/{name}")])
    message = {key: value for key, value in document().items() if key != name}
    assert repair(message)[0] is None
    assert problems(message) == [("missing-property", f"/{name}", f'the message has no "{name}"')]


def test_a_tagged_field_may_leave_out_its_versions() -> None:
    message = with_field(versions=LEFT_OUT, taggedVersions="3+", tag=0)
    assert problems(message) == [("versions-missing", "/fields/0", "3+")]
    assert repair_value(message)["fields"][0]["versions"] == "3+"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nullableVersion", "; did you mean nullableVersions?"),
        ("a/b~c", ""),
    ],
)
def test_unknown_properties(name: str, hint: str) -> None:
    message = with_field(**{name: 1})
    pointer = name.replace("~", "~0").replace("/", "~1")
    assert problems(message) == [("unknown-property", f"/fields/0/{pointer}", f'"{name}" is not a property here{hint}')]
    assert repair_value(message)["fields"] == [field()]


@pytest.mark.parametrize(
    ("message", "pointer", "detail"),
    [
        (document(type="Request"), "/type", '"Request" is not a value of "type"; did you mean request?'),
        (
            document(type=" producerId"), "/type",
            f'" producerId" is not a value of "type"; it is one of {", ".join(get_args(MessageType))}',
        ),
        (
            document(field(entityType=4)), "/fields/0/entityType",
            f'4 is not a value of "entityType"; it is one of {", ".join(ENTITY_TYPES)}',
        ),
    ],
)  # fmt: skip
def test_unknown_enum_values(message: object, pointer: str, detail: str) -> None:
    assert problems(message) == [("unknown-enum-value", pointer, detail)]


def test_problems_are_bounded() -> None:
    spec, result = repair(document(*[field(f"A{n}", ignorable="yes") for n in range(1000)]))
    assert spec is None
    assert len(result) == DEFINITION_PROBLEMS


def test_no_more_is_looked_at_than_is_reported() -> None:
    """A list of 100,000 wrong elements took 2 GiB, as each of them had its error."""

    class Elements(list[int]):
        reads = 0

        def __getitem__(self, at: Any) -> Any:
            Elements.reads += 1
            return super().__getitem__(at)

    wrong = document() | {"fields": Elements(range(1_000))}
    assert len(list(islice(_validator().iter_errors(wrong), 5))) == 5
    assert Elements.reads == 5


def test_an_intended_property_is_not_read_out_of_the_text() -> None:
    """The name of the property holds the words of a hint."""
    problems = repair(document({**field(), "vresions": "0+", "x; did you mean tag?": 1}))[1]
    assert [problem.intended_property for problem in problems] == ["versions", ""]
