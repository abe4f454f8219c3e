"""The entries of `headerVersions`."""

from __future__ import annotations

import pytest

from kiplint.model.headers import HeaderRange
from tools import message


def entries(**ranges: str) -> tuple[HeaderRange, ...]:
    return message(headerVersions=ranges).header_ranges


def ranges(text: str) -> tuple[HeaderRange, ...]:
    """The entries with these keys, in this order, all with header 2."""
    return entries(**dict.fromkeys(text.split(), "2"))


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
    assert str(entry.version_of_header) == (str(header) if header >= 0 else "none")
