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

_NUMBER = r"[0-9]+"
_RANGE = r"(0|[1-9][0-9]{0,4})(?:(\+)|-(0|[1-9][0-9]{0,4}))?"


class InvalidRange(ValueError):  # noqa: N818
    """The text is no version range; the message says why, and what to write where that is clear."""


class VersionRange(tuple[Interval, ...]):
    """An immutable set of versions.

    Supports `&`, `|`, `-`, `<=` (is a subset of), `==`, `in` for one version, and truth (is not
    empty); iterating over it gives the intervals. A range that reaches 32767 is open: `3+` and
    `3-32767` are the same value.
    """

    __slots__ = ()

    def __new__(cls, intervals: Iterable[Interval] = ()) -> VersionRange:
        """The versions of all the intervals, which may come in any order and overlap."""
        return super().__new__(cls, _normal(intervals))

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals, lowest first: sorted, disjoint, and never adjacent."""
        return tuple(self)

    @classmethod
    def of(cls, lowest: int, highest: int = MAX_VERSION) -> VersionRange:
        """The single interval `lowest`..`highest`, empty when inverted."""
        return _single(lowest, highest)

    @staticmethod
    def parse(text: str) -> VersionRange:
        """Read Kafka's notation; blanks around it are allowed, as Kafka allows them.

        Raises InvalidRange for everything else, also for what Kafka's generator lets through by
        accident: inverted ranges, signs, leading zeros and digits outside ASCII.
        """
        return _parse(text)

    @property
    def lowest(self) -> int:
        """The lowest version, -1 when the range is empty."""
        return self[0][0] if self else -1

    @property
    def highest(self) -> int:
        """The highest version, -1 when the range is empty."""
        return self[-1][1] if self else -1

    @property
    def open(self) -> bool:
        """Whether the range has no upper end."""
        return bool(self) and self[-1][1] == MAX_VERSION

    @property
    def parts(self) -> tuple[VersionRange, ...]:
        """The contiguous ranges that make up this one, lowest first."""
        return tuple(_single(low, high) for low, high in self)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.covers(version)

    def covers(self, version: int) -> bool:
        """Whether the version is one of the range's."""
        return any(low <= version <= high for low, high in self)

    def __and__(self, other: VersionRange) -> VersionRange:
        if self == other:
            return self
        if len(self) == len(other) == 1:
            return _single(max(self[0][0], other[0][0]), min(self[0][1], other[0][1]))
        return _range(_meet(self, other))

    def __or__(self, other: VersionRange) -> VersionRange:
        return VersionRange((*self, *other))

    def __sub__(self, other: VersionRange) -> VersionRange:
        return _range(_meet(self, _gaps(other)))

    def __le__(self, other: tuple[Interval, ...]) -> bool:
        if self == other:
            return True
        if len(other) == 1:
            return not self or (other[0][0] <= self[0][0] and self[-1][1] <= other[0][1])
        return all(any(a <= low and high <= b for a, b in other) for low, high in self)

    def __lt__(self, other: tuple[Interval, ...]) -> bool:
        return self != other and self <= other

    def __ge__(self, other: tuple[Interval, ...]) -> bool:
        return VersionRange.__le__(VersionRange(other), self)

    def __gt__(self, other: tuple[Interval, ...]) -> bool:
        return self != other and self >= other

    def __str__(self) -> str:
        return ", ".join(map(_show, self)) or "none"

    def __repr__(self) -> str:
        return f"VersionRange({str(self)!r})"


def boundaries(ranges: Iterable[VersionRange], within: VersionRange) -> Iterator[VersionRange]:
    """Cut `within` into the largest ranges on which membership in each of `ranges` is constant."""
    cuts = {low for one in ranges for low, _ in one}
    cuts |= {high + 1 for one in ranges for _, high in one}
    ordered = sorted(cuts)
    for low, high in within:
        start = low
        for cut in ordered[bisect_right(ordered, low) : bisect_right(ordered, high)]:
            yield _single(start, cut - 1)
            start = cut
        yield _single(start, high)


def _range(intervals: tuple[Interval, ...]) -> VersionRange:
    return tuple.__new__(VersionRange, intervals)


@lru_cache(maxsize=4096)
def _single(low: int, high: int) -> VersionRange:
    return _range(((low, high),) if low <= high else ())


def _normal(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    merged: list[Interval] = []
    for low, high in sorted(pair for pair in intervals if pair[0] <= pair[1]):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _meet(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> tuple[Interval, ...]:
    met: list[Interval] = []
    at = to = 0
    while at < len(left) and to < len(right):
        low, high = max(left[at][0], right[to][0]), min(left[at][1], right[to][1])
        if low <= high:
            met.append((low, high))
        if left[at][1] < right[to][1]:
            at += 1
        else:
            to += 1
    return tuple(met)


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
    trimmed = text.strip(" \t\r\n")
    if trimmed == "none":
        return NONE
    match = re.fullmatch(_RANGE, trimmed)
    if not match:
        raise InvalidRange(_explain(trimmed))
    low, plus, end = int(match[1]), match[2], match[3]
    high = MAX_VERSION if plus else int(end) if end else low
    if low > MAX_VERSION or high > MAX_VERSION:
        raise InvalidRange(f"versions end at {MAX_VERSION}")
    if low > high:
        raise InvalidRange(f'is inverted; write "{high}-{low}"')
    return _single(low, high)


def _explain(text: str) -> str:
    if not text:
        return "is empty"
    if text.lower() == "none":
        return 'is written "none"'
    if any(char.isdigit() and not char.isascii() for char in text):
        return "has digits outside ASCII"
    if re.fullmatch(r"\+[0-9]+", text):
        return f'has a sign in front; write "{text[1:]}+" for that version and all later ones'
    if text.startswith(("-", "+")) or "-+" in text or "--" in text:
        return "has a sign in a version number"
    if any(len(digits) > 1 and digits[0] == "0" for digits in re.findall(_NUMBER, text)):
        return "has a version number with a leading zero"
    if any(len(digits) > 5 for digits in re.findall(_NUMBER, text)):
        return f"versions end at {MAX_VERSION}"
    if " " in text:
        return "has blanks inside"
    return 'is not "N", "N-M", "N+" or "none"'


NONE = _range(())
ALL = _single(0, MAX_VERSION)
