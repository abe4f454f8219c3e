"""Facts about the fields of a message or struct among each other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kiplint.model.fields import Container
from kiplint.model.message import Message
from tools import field, message


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
        (["A", "B", "A"], {"0:A": "A", "2:A": "A"}),
        (["Topic", "topic"], {"0:Topic": "topic", "1:topic": "Topic"}),
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
        ([1], {"0:A": 0}),
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
