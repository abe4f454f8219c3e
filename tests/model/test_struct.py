"""Structs, and facts about the fields of a message or struct among each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kiplint.model.fields import Container
from kiplint.model.message import Message
from kiplint.versions import VersionRange
from tools import field, message


def common(name: str, *fields: dict[str, Any], versions: str = "0+") -> dict[str, Any]:
    return {"name": name, "versions": versions, "fields": list(fields)}


def uses(**structs: str) -> Message:
    """Common structs by name, each with fields of the types listed."""
    return message(
        commonStructs=[
            common(name, *(field(f"F{n}", kind) for n, kind in enumerate(types.split())))
            for name, types in structs.items()
        ]
    )


def test_structs_come_common_first_and_each_before_those_inside_it() -> None:
    whole = message(
        field("One", "[]A", fields=[field("Two", "B", fields=[field("X")]), field("Three", "C", fields=[field("Y")])]),
        field("Four", "D", fields=[field("Z")]),
        field("Five", "E"),
        commonStructs=[common("S", field("Six", "T", fields=[field("V")])), common("U", field("W"))],
    )
    assert [struct.name for struct in whole.structs] == ["S", "T", "U", "A", "B", "C", "D"]
    assert [item.name for item in whole.all_fields] == [
        "One", "Four", "Five", "Six", "V", "W", "Two", "Three", "X", "Y", "Z",
    ]  # fmt: skip
    assert [struct.pointer for struct in whole.structs] == [
        "/commonStructs/0",
        "/commonStructs/0/fields/0",
        "/commonStructs/1",
        "/fields/0",
        "/fields/0/fields/0",
        "/fields/0/fields/1",
        "/fields/1",
    ]
    assert [(struct.is_common, struct.in_common_struct) for struct in whole.structs[:4]] == [
        (True, True), (False, True), (True, True), (False, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "value", "present", "problem"),
    [
        ("1+", "1+", "1-5", ""),
        ("6+", "6+", "none", ""),
        ("none", "none", "none", ""),
        ("x", "0-5", "0-5", 'is not "N", "N-M", "N+" or "none"'),
        ("", "0-5", "0-5", "is empty"),
    ],
)
def test_versions_of_a_common_struct(versions: str, value: str, present: str, problem: str) -> None:
    (struct,) = message(commonStructs=[common("S", versions=versions)]).structs
    assert (str(struct.versions), str(struct.present), struct.versions_problem) == (value, present, problem)
    assert isinstance(struct.versions, VersionRange)


def test_duplicate_structs() -> None:
    whole = message(
        field("One", "A", fields=[field("X")]), field("Two", "[]A", fields=[field("Y")]), field("Three", "S"),
        commonStructs=[common("S"), common("T", field("Z", "U")), common("S"), common("U")],
    )  # fmt: skip
    assert {pointer: other.pointer for pointer, other in whole.duplicate_structs.items()} == {
        "/commonStructs/0": "/commonStructs/2",
        "/commonStructs/2": "/commonStructs/0",
        "/fields/0": "/fields/1",
        "/fields/1": "/fields/0",
    }
    assert whole.structs_by_name["S"] is whole.common_structs[0]
    assert whole.common_names == {"S", "T", "U"}


@pytest.mark.parametrize(
    ("structs", "cycles"),
    [
        ({"A": "int32", "B": "A Missing"}, {}),
        ({"A": "B C", "B": "C", "C": "A"}, {"A": "A -> C -> A"}),
        ({"A": "A", "B": "[]B", "C": "A B"}, {"A": "A -> A", "B": "B -> B"}),
        ({"A": "B", "B": "C", "C": "B"}, {"B": "B -> C -> B"}),
        ({"A": "B", "B": "A", "C": "D", "D": "C"}, {"A": "A -> B -> A", "C": "C -> D -> C"}),
    ],
)
def test_cycles(structs: dict[str, str], cycles: dict[str, str]) -> None:
    whole = uses(**structs)
    assert whole.cycles == cycles


def test_a_long_way_round() -> None:
    result = uses(**{f"S{n:04}": f"S{(n + 1) % 2_000:04}" for n in range(2_000)}).cycles
    assert list(result) == ["S0000"]
    assert result["S0000"].count(" -> ") == 2_000


def by_field(container: Container, values: Mapping[int, object]) -> dict[str, object]:
    """The same values, by position and name of the field."""
    return {f"{index}:{container.fields[index].name}": value for index, value in values.items()}


def tags(*numbers: int | None) -> Message:
    """A message with fields A, B, C... with these tags."""
    return message(*(field(chr(65 + n), tag=tag, taggedVersions="3+") for n, tag in enumerate(numbers)))


@pytest.mark.parametrize(
    ("names", "others"),
    [
        (["A", "B", "C"], {}),
        (["TOPIC", "topic"], {}),
        (["URL", "uRL", "Url"], {"0:URL": "uRL", "1:uRL": "URL"}),
        (["A", "a", "A", "B", "b"], {"0:A": "a", "1:a": "A", "2:A": "A", "3:B": "b", "4:b": "B"}),
    ],
)
def test_duplicate_names(names: list[str], others: dict[str, str]) -> None:
    whole = message(*map(field, names))
    assert by_field(whole, whole.duplicate_names) == others


@pytest.mark.parametrize(
    ("numbers", "others"),
    [
        ([0, 1, 2], {}),
        ([0, 0], {"1:B": "A"}),
        ([1, None, 0, 1, 1], {"3:D": "A", "4:E": "A"}),
        ([None, None], {}),
    ],
)
def test_duplicate_tags(numbers: list[int | None], others: dict[str, str]) -> None:
    whole = tags(*numbers)
    assert by_field(whole, whole.duplicate_tags) == others


@pytest.mark.parametrize(
    ("numbers", "gaps"),
    [
        ([2, 1, 0], {}),
        ([0, 2, 4], {"1:B": 1}),
        ([4, 0], {"0:A": 1}),
        ([0, 0, 2], {}),
        ([0, 0, 3], {"2:C": 2}),
        ([0, 0, 1], {}),
        ([-1, 1], {}),
        ([0, 2**31 - 1], {"1:B": 1}),
    ],
)
def test_skipped_tags(numbers: list[int | None], gaps: dict[str, int]) -> None:
    whole = tags(*numbers)
    assert by_field(whole, whole.skipped_tags) == gaps
