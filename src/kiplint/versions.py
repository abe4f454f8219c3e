"""The algebra of version ranges: `none`, `3`, `0-2`, `3+` and their unions.

A range is a set of versions out of 0..32767 (Kafka stores them as a signed 16-bit number), kept as
sorted, disjoint, non-adjacent intervals. No operation ever enumerates versions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

MAX_VERSION = 32767

Interval = tuple[int, int]
"""The first and the last version, both included."""

_NUMBER = r"0|[1-9][0-9]{0,4}"
_RANGE = rf"(?P<lowest>{_NUMBER})(?:(?P<plus>\+)|-(?P<highest>{_NUMBER}))?"


class InvalidRange(ValueError):  # noqa: N818
    """A text is not a version range; the message states why, and the correct text where that is clear."""


class InvertedRange(InvalidRange):
    """The range ends before it begins; Kafka's generator treats it as no version."""


class VersionRange:
    """An immutable, hashable set of versions.

    Supports `version in range`, `&`, `|`, `-`, `==`, and `<=`, `<`, `>=`, `>` as subset relations; an empty range is
    false. A range that reaches 32767 is open: `3+` and `3-32767` are the same value.
    """

    __slots__ = ("highest", "intervals", "lowest", "open")

    intervals: tuple[Interval, ...]
    """The intervals, lowest first: sorted, disjoint, and never adjacent."""
    lowest: int
    """The lowest version, -1 when the range is empty."""
    highest: int
    """The highest version, -1 when the range is empty."""
    open: bool
    """Whether the range has no upper end."""

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        """Make the union of the intervals, which may come in any order and overlap."""
        self.intervals = _normal(intervals)
        self.lowest = self.intervals[0][0] if self.intervals else -1
        self.highest = self.intervals[-1][1] if self.intervals else -1
        self.open = self.highest == MAX_VERSION

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(lowest: int, highest: int = MAX_VERSION) -> VersionRange:
        """The single interval `lowest`..`highest`, empty when inverted."""
        return VersionRange([(lowest, highest)])

    @staticmethod
    @lru_cache(maxsize=65536)
    def parse(text: str) -> VersionRange:
        """Read Kafka's notation; blanks around it are allowed, as Kafka allows them.

        Raises InvalidRange for everything else, also for what Kafka's generator lets through by
        accident: inverted ranges, signs, leading zeros and digits outside ASCII.
        """
        text = text.strip(" \t\r\n")
        if text == "none":
            return NONE
        match = re.fullmatch(_RANGE, text)
        if not match:
            raise InvalidRange(_explain(text))
        lowest = int(match["lowest"])
        highest = MAX_VERSION if match["plus"] else int(match["highest"] or lowest)
        if max(lowest, highest) > MAX_VERSION:
            raise InvalidRange(f"versions end at {MAX_VERSION}")
        if lowest > highest:
            raise InvertedRange(f'is inverted; write "{highest}-{lowest}"')
        return VersionRange.of(lowest, highest)

    @staticmethod
    def of_text(text: str) -> VersionRange:
        """Read back what `str` writes, such as `0-2, 4`; an empty text is an empty range. Raises InvalidRange."""
        return VersionRange.union(VersionRange.parse(part) for part in (text.split(", ") if text else ()))

    @staticmethod
    def union(ranges: Iterable[VersionRange]) -> VersionRange:
        """The versions of all ranges. `|` in a loop would take the square of the time."""
        return VersionRange(interval for versions in ranges for interval in versions.intervals)

    @property
    def parts(self) -> tuple[VersionRange, ...]:
        """The contiguous ranges that make up this one, lowest first."""
        return tuple(VersionRange.of(low, high) for low, high in self.intervals)

    def __contains__(self, version: object) -> bool:
        if isinstance(version, int):
            for low, high in self.intervals:
                if low <= version <= high:
                    return True
        return False

    def __bool__(self) -> bool:
        return self.highest >= 0

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, VersionRange) and self.intervals == other.intervals)

    def __hash__(self) -> int:
        return hash(self.intervals)

    def __and__(self, other: VersionRange) -> VersionRange:
        if self is other:
            return self
        if len(self.intervals) == len(other.intervals) == 1:
            return VersionRange.of(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return VersionRange(_intersection(self.intervals, other.intervals))

    def __or__(self, other: VersionRange) -> VersionRange:
        return VersionRange((*self.intervals, *other.intervals))

    def __sub__(self, other: VersionRange) -> VersionRange:
        return VersionRange(_intersection(self.intervals, _complement(other.intervals)))

    # Python derives >= and > from these two.
    def __le__(self, other: VersionRange) -> bool:
        if self is other:
            return True
        if len(other.intervals) == 1:  # nearly always
            return not self or (other.lowest <= self.lowest and self.highest <= other.highest)
        return not self - other

    def __lt__(self, other: VersionRange) -> bool:
        return self != other and self <= other

    def __str__(self) -> str:
        return ", ".join(_interval_text(low, high) for low, high in self.intervals) or "none"

    def __repr__(self) -> str:
        return f"VersionRange({str(self)!r})"


def uniform_parts(ranges: Iterable[VersionRange], within: VersionRange) -> Iterator[VersionRange]:
    """Cut `within` into the largest ranges on which membership in each of `ranges` is constant, lowest first.

    For the ranges `2+` and `4+`, `0-5` is cut into `0-1`, `2-3` and `4-5`.
    """
    intervals = [interval for versions in ranges for interval in versions.intervals]
    starts = sorted({low for low, _ in intervals} | {high + 1 for _, high in intervals})
    for low, high in within.intervals:
        start = low
        for next_start in starts[bisect_right(starts, low) : bisect_right(starts, high)]:
            yield VersionRange.of(start, next_start - 1)
            start = next_start
        yield VersionRange.of(start, high)


def _normal(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The union of intervals as sorted, disjoint, non-adjacent intervals; inverted ones are ignored."""
    result: list[Interval] = []
    for low, high in sorted((low, high) for low, high in intervals if low <= high):
        if result:
            last_low, last_high = result[-1]
            if low <= last_high + 1:
                result[-1] = (last_low, max(last_high, high))
                continue
        result.append((low, high))
    return tuple(result)


def _intersection(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> list[Interval]:
    """What two normal sequences of intervals have in common, lowest first."""
    common: list[Interval] = []
    left_index = right_index = 0
    while left_index < len(left) and right_index < len(right):
        left_low, left_high = left[left_index]
        right_low, right_high = right[right_index]
        low, high = max(left_low, right_low), min(left_high, right_high)
        if low <= high:
            common.append((low, high))
        if left_high < right_high:
            left_index += 1
        else:
            right_index += 1
    return common


def _complement(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """The intervals of all versions that are in none of a normal sequence of intervals."""
    starts = [0, *(high + 1 for _, high in intervals)]
    ends = [*(low - 1 for low, _ in intervals), MAX_VERSION]
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)


def _interval_text(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low}+" if high == MAX_VERSION else f"{low}-{high}"


def _explain(text: str) -> str:
    """What is wrong with a text that is not a range, to follow the text in a sentence: `is empty`."""
    if not text:
        return "is empty"
    if text.lower() == "none":
        return 'is written "none"'
    if re.fullmatch(r"\+[0-9]+", text):
        return f'begins with a sign; write "{text[1:]}+" for that version and all later ones'
    return 'is not "N", "N-M", "N+" or "none"'


NONE = VersionRange()
ALL = VersionRange.of(0)
