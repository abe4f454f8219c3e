"""The algebra of version ranges, against Python's sets.

All bounds drawn are at most 14 or the open end, so that 15 stands for every version from there on.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.versions import ALL, MAX_VERSION, NONE, InvalidRange, VersionRange, uniform_parts

UNIVERSE = range(16)
LAST = UNIVERSE[-1]

bounds = st.integers(0, LAST - 1)
intervals = st.tuples(bounds, bounds | st.just(MAX_VERSION))
ranges = st.lists(intervals, max_size=4).map(VersionRange)
two_ranges = st.tuples(ranges, ranges)


def members(versions: VersionRange) -> set[int]:
    """The versions of a range, seen through its normal form alone."""
    assert versions.intervals == tuple(sorted(versions.intervals))
    for low, high in versions.intervals:
        assert 0 <= low <= high <= MAX_VERSION
        assert high < LAST or high == MAX_VERSION
    for (_, before), (after, _) in pairwise(versions.intervals):
        assert before + 1 < after
    return {version for version in UNIVERSE for low, high in versions.intervals if low <= version <= high}


@given(st.lists(intervals, max_size=4))
def test_members_are_those_of_the_intervals(pairs: list[tuple[int, int]]) -> None:
    assert members(VersionRange(pairs)) == {v for v in UNIVERSE if any(low <= v <= high for low, high in pairs)}


@given(ranges)
def test_membership(versions: VersionRange) -> None:
    assert {version for version in UNIVERSE if version in versions} == members(versions)
    assert -1 not in versions
    assert "1" not in versions
    assert MAX_VERSION + 1 not in versions


@pytest.mark.parametrize(
    "operation", [operator.and_, operator.or_, operator.sub], ids=lambda function: function.__name__
)
@given(two_ranges)
def test_operations(operation: Callable[..., VersionRange], pair: tuple[VersionRange, VersionRange]) -> None:
    left, right = pair
    assert members(operation(left, right)) == operation(members(left), members(right))


@pytest.mark.parametrize(
    "comparison",
    [operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne],
    ids=lambda function: function.__name__,
)
@given(two_ranges)
def test_comparisons(comparison: Callable[..., bool], pair: tuple[VersionRange, VersionRange]) -> None:
    left, right = pair
    assert comparison(left, right) is comparison(members(left), members(right))
    assert comparison(left, left) is comparison(1, 1)


@given(two_ranges)
def test_equal_ranges_hash_alike(pair: tuple[VersionRange, VersionRange]) -> None:
    left, right = pair
    assert hash((left - right) | (left & right)) == hash(left)


@given(ranges)
def test_truth_ends_and_parts(versions: VersionRange) -> None:
    inside = members(versions)
    assert bool(versions) is bool(inside)
    assert versions.lowest == min(inside, default=-1)
    assert versions.open is (LAST in inside)
    assert versions.highest == (MAX_VERSION if versions.open else max(inside, default=-1))
    assert [part.intervals for part in versions.parts] == [(pair,) for pair in versions.intervals]


@given(ranges)
def test_text_is_read_back(versions: VersionRange) -> None:
    texts = str(versions).split(", ")
    assert VersionRange.of_text(str(versions)) == versions
    assert tuple(VersionRange.parse(text) for text in texts if text != "none") == versions.parts
    assert repr(versions) == f"VersionRange('{versions}')"


@given(ranges)
def test_pickles(versions: VersionRange) -> None:
    assert pickle.loads(pickle.dumps(versions)) == versions


@given(st.lists(ranges, max_size=4), ranges)
def test_uniform_parts(cutting: list[VersionRange], within: VersionRange) -> None:
    parts = list(uniform_parts(cutting, within))
    assert [version for interval in parts for version in sorted(members(interval))] == sorted(members(within))
    for interval in parts:
        assert len(interval.intervals) == 1
        assert all(interval <= part or not interval & part for part in cutting)
    for before, after in pairwise(parts):
        touching = before.highest + 1 == after.lowest
        assert not touching or any((before <= part) is not (after <= part) for part in cutting)


def test_uniform_parts_of_a_message() -> None:
    cutting = [VersionRange.parse("2+"), VersionRange.parse("0-3"), NONE, ALL]
    assert [str(part) for part in uniform_parts(cutting, VersionRange.parse("1-8"))] == ["1", "2-3", "4-8"]
    assert list(uniform_parts(cutting, NONE)) == []
    assert [str(part) for part in uniform_parts([], ALL)] == ["0+"]


@given(bounds, bounds | st.just(MAX_VERSION))
def test_of(low: int, high: int) -> None:
    assert members(VersionRange.of(low, high)) == {version for version in UNIVERSE if low <= version <= high}
    assert VersionRange.of(low) == VersionRange.of(low, MAX_VERSION)


def test_none_and_all() -> None:
    assert (str(NONE), str(ALL)) == ("none", "0+")
    assert (members(NONE), members(ALL)) == (set(), set(UNIVERSE))


def test_nothing_else_is_equal() -> None:
    assert VersionRange.of(1, 1) != 1
    assert VersionRange.of(1, 1) != "1"


@pytest.mark.parametrize(
    ("text", "canonical", "expected"),
    [
        ("0", "0", ((0, 0),)),
        ("3", "3", ((3, 3),)),
        ("0-2", "0-2", ((0, 2),)),
        ("2-2", "2", ((2, 2),)),
        ("3+", "3+", ((3, MAX_VERSION),)),
        ("none", "none", ()),
        (" 1-2\t", "1-2", ((1, 2),)),
        ("\r\n4+ ", "4+", ((4, MAX_VERSION),)),
        ("3-32767", "3+", ((3, MAX_VERSION),)),
        ("0-32766", "0-32766", ((0, MAX_VERSION - 1),)),
        ("32767", "32767", ((MAX_VERSION, MAX_VERSION),)),
        ("32767+", "32767", ((MAX_VERSION, MAX_VERSION),)),
    ],
)
def test_parse(text: str, canonical: str, expected: tuple[tuple[int, int], ...]) -> None:
    versions = VersionRange.parse(text)
    assert versions.intervals == expected
    assert str(versions) == canonical


TOO_HIGH = "versions end at 32767"
OTHER = 'is not "N", "N-M", "N+" or "none"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        (" \t\r\n", "is empty"),
        ("None", 'is written "none"'),
        ("NONE", 'is written "none"'),
        ("3-1", 'is inverted; write "1-3"'),
        ("32767-0", 'is inverted; write "0-32767"'),
        ("+1", 'begins with a sign; write "1+" for that version and all later ones'),
        ("32768", TOO_HIGH),
        ("0-32768", TOO_HIGH),
        ("99999+", TOO_HIGH),
        *(
            (text, OTHER)
            for text in ("+", "-1", "0--1", "1-+2", "01", "0-01", "9" * 5000, "0 - 2", "3 +", "\u0663", "0-\uff12")
        ),
        *((text, OTHER) for text in ("a", "0-", "3++", "0-1-2", "0,1", "0..2", "1.0", "0x1", "\u00a03", "3\0")),
    ],
)
def test_parse_refuses(text: str, problem: str) -> None:
    with pytest.raises(InvalidRange) as error:
        VersionRange.parse(text)
    assert str(error.value) == problem


@given(st.text(st.sampled_from("0123456789+- ,none٣\n"), max_size=8) | st.text(max_size=8))
def test_parse_reads_or_refuses(text: str) -> None:
    try:
        versions = VersionRange.parse(text)
    except InvalidRange as error:
        assert str(error)
    else:
        assert VersionRange.parse(str(versions)) == versions
