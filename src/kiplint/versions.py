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

_RANGE = r"(0|[1-9][0-9]{0,4})(?:(\+)|-(0|[1-9][0-9]{0,4}))?"


class InvalidRange(ValueError):  # noqa: N818
    """A text is not a version range; the message states why, and the correct text where that is clear."""


class InvertedRange(InvalidRange):
    """The range ends before it begins; Kafka's generator takes it for no version."""


class VersionRange:
    """A set of versions, hashable: it is not to be changed.

    Supports `version in range`, `&`, `|`, `-`, `==`, and `<=`, `<`, `>=`, `>` as subset relations; an empty range is
    false. A range that reaches 32767 is open: `3+` and `3-32767` are the same value.
    """

    __slots__ = ("highest", "intervals", "lowest")

    intervals: tuple[Interval, ...]
    """The intervals, lowest first: sorted, disjoint, and never adjacent."""
    lowest: int
    """The lowest version, -1 when the range is empty."""
    highest: int
    """The highest version, -1 when the range is empty."""

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        """Make the union of the intervals, which may come in any order and overlap."""
        self.intervals = _normal(intervals)
        self.lowest = self.intervals[0][0] if self.intervals else -1
        self.highest = self.intervals[-1][1] if self.intervals else -1

    @staticmethod
    def of(lowest: int, highest: int = MAX_VERSION) -> VersionRange:
        """The single interval `lowest`..`highest`, empty when inverted."""
        return _single(lowest, highest)

    @staticmethod
    def parse(text: str) -> VersionRange:
        """Read Kafka's notation; blanks around it are allowed, as Kafka allows them.

        Raises InvalidRange for everything else, also for what Kafka's generator lets through by
        accident: inverted ranges, signs, leading zeros and digits outside ASCII.
        """
        return _parse(text)

    @staticmethod
    def of_text(text: str) -> VersionRange:
        """Read back what `str` writes, such as `0-2, 4`; an empty text is an empty range. Raises InvalidRange."""
        return VersionRange(interval for part in text.split(", ") if part for interval in _parse(part).intervals)

    @property
    def open(self) -> bool:
        """Whether the range has no upper end."""
        return self.highest == MAX_VERSION

    @property
    def parts(self) -> tuple[VersionRange, ...]:
        """The contiguous ranges that make up this one, lowest first."""
        return tuple(_single(low, high) for low, high in self.intervals)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and any(low <= version <= high for low, high in self.intervals)

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
            return _single(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return VersionRange(_meet(self.intervals, other.intervals))

    def __or__(self, other: VersionRange) -> VersionRange:
        return VersionRange((*self.intervals, *other.intervals))

    def __sub__(self, other: VersionRange) -> VersionRange:
        return VersionRange(_meet(self.intervals, _gaps(other.intervals)))

    def __le__(self, other: VersionRange) -> bool:
        if self is other:
            return True
        if len(other.intervals) == 1:
            return not self or (other.lowest <= self.lowest and self.highest <= other.highest)
        return all(any(a <= low and high <= b for a, b in other.intervals) for low, high in self.intervals)

    def __lt__(self, other: VersionRange) -> bool:
        return self != other and self <= other

    def __ge__(self, other: VersionRange) -> bool:
        return other <= self

    def __gt__(self, other: VersionRange) -> bool:
        return other < self

    def __str__(self) -> str:
        return ", ".join(map(_show, self.intervals)) or "none"

    def __repr__(self) -> str:
        return f"VersionRange({str(self)!r})"


def boundaries(ranges: Iterable[VersionRange], within: VersionRange) -> Iterator[VersionRange]:
    """Cut `within` into the largest ranges on which membership in each of `ranges` is constant."""
    intervals = [interval for versions in ranges for interval in versions.intervals]
    cuts = sorted({low for low, _ in intervals} | {high + 1 for _, high in intervals})
    for low, high in within.intervals:
        start = low
        for cut in cuts[bisect_right(cuts, low) : bisect_right(cuts, high)]:
            yield _single(start, cut - 1)
            start = cut
        yield _single(start, high)


@lru_cache(maxsize=4096)
def _single(low: int, high: int) -> VersionRange:
    return VersionRange([(low, high)])


def _normal(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    result: list[Interval] = []
    for low, high in sorted(pair for pair in intervals if pair[0] <= pair[1]):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def _meet(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> tuple[Interval, ...]:
    common: list[Interval] = []
    at = to = 0
    while at < len(left) and to < len(right):
        low, high = max(left[at][0], right[to][0]), min(left[at][1], right[to][1])
        if low <= high:
            common.append((low, high))
        if left[at][1] < right[to][1]:
            at += 1
        else:
            to += 1
    return tuple(common)


def _gaps(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    starts = [0, *(high + 1 for _, high in intervals)]
    ends = [*(low - 1 for low, _ in intervals), MAX_VERSION]
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)


def _show(interval: Interval) -> str:
    low, high = interval
    if low == high:
        return str(low)
    return f"{low}+" if high == MAX_VERSION else f"{low}-{high}"


@lru_cache(maxsize=65536)
def _parse(text: str) -> VersionRange:
    text = text.strip(" \t\r\n")
    if text == "none":
        return NONE
    match = re.fullmatch(_RANGE, text)
    if not match:
        raise InvalidRange(_explain(text))
    low, plus, end = int(match[1]), match[2], match[3]
    high = MAX_VERSION if plus else int(end) if end else low
    if low > MAX_VERSION or high > MAX_VERSION:
        raise InvalidRange(f"versions end at {MAX_VERSION}")
    if low > high:
        raise InvertedRange(f'is inverted; write "{high}-{low}"')
    return _single(low, high)


def _explain(text: str) -> str:
    if not text:
        return "is empty"
    if text.lower() == "none":
        return 'is written "none"'
    if re.fullmatch(r"\+[0-9]+", text):
        return f'has a sign in front; write "{text[1:]}+" for that version and all later ones'
    return 'is not "N", "N-M", "N+" or "none"'


NONE = VersionRange()
ALL = _single(0, MAX_VERSION)
