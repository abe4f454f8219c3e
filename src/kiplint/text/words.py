"""Numbers and lists in words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice, takewhile
from math import ceil
from typing import Final

from kiplint.limits import Counter, suggestion_steps


def tally(counts: Mapping[str, int], kind: str = "") -> str:
    """`1 error and 2 warnings`, with a word such as `more ` before the nouns; empty when there are none."""
    severities = ("error", "warning", "info")
    parts = [plural(counts[severity], kind + severity) for severity in severities if counts[severity]]
    return join_words(parts) if parts else ""


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_bytes(number: int, singular: str = "", many: str = "") -> str:
    """`1 byte`, `2000 bytes`, or with a verb `1 byte is`, `2000 bytes are`: as offsets are written, without commas."""
    noun, verb = ("byte", singular) if number == 1 else ("bytes", many)
    return f"{number} {noun} {verb}".rstrip()


def join_words(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


def comma_parts(texts: Iterable[str]) -> list[str]:
    """The parts of texts that may be lists with commas, without blanks around them and without empty ones."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


CLOSE: Final = 0.65
"""How much two words have in common to be close, from 0 to 1."""
CLOSE_WHEN_SHORT: Final = 0.6
SHORT: Final = 5
"""Up to how many letters a single slip makes so much of a difference."""
WHOLE: Final = 4
"""From how many letters on the beginning of a word stands for the word."""


def did_you_mean(word: str, names: Iterable[str], before: str = "", *, numbered: bool = True) -> str:
    """`; did you mean X?`, with what goes before the name; empty where the nearest name is the word, or none is close.

    Releases are numbers, and so not `numbered`.
    """
    name = nearest(word, names, numbered=numbered)
    return f"; did you mean {before}{name}?" if name and name != word else ""


def nearest(
    word: str,
    names: Iterable[str],
    likeness: float = 0,
    *,
    numbered: bool = True,
    steps: Counter | None = suggestion_steps,
) -> str:
    """The closest of some names, or empty when none is close, or none reaches `likeness`.

    Case does not count, and a word may be the beginning of a name, as in `Fetch` for `FetchRequest`. If `numbered`,
    words with different numbers never match: KIP-714 is not KIP-74. Names that come from untrusted input take `steps`,
    of a set of names one for each distinct word and name at least; when these are used up, no name is close.
    """
    if steps and not steps.take(0 if isinstance(names, frozenset) else len(names := tuple(names))):
        return ""
    least = max(likeness, CLOSE_WHEN_SHORT if len(word) <= SHORT else CLOSE)
    try:
        return _nearest(word, frozenset(names), least, numbered, steps)
    except _OutOfStepsError:
        return ""


class _OutOfStepsError(Exception):
    pass


class _Index:
    """Names by what makes them close: their numbers and their length, their letters, and how they begin."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(names)
        self.by_lower: dict[str, list[str]] = {}
        self.by_length: dict[int, list[str]] = {}
        self.by_numbers: dict[tuple[str, ...], dict[int, list[str]]] = {}
        for name in self.names:
            self.by_lower.setdefault(name.lower(), []).append(name)
            for by_length in (self.by_length, self.by_numbers.setdefault(_numbers(name), {})):
                by_length.setdefault(len(name), []).append(name)

    def as_long_as(self, word: str, least: float, numbers: tuple[str, ...]) -> Iterator[str]:
        """The names with these numbers or none, whose length does not make their likeness smaller than `least`."""
        groups = [self.by_numbers.get(group, {}) for group in (numbers, ())] if numbers else [self.by_length]
        for length in range(ceil(len(word) * least / (2 - least)), int(len(word) * (2 - least) / least) + 1):
            yield from chain.from_iterable(by_length.get(length, ()) for by_length in groups)

    def beginning_with(self, word: str) -> Iterator[str]:
        """The names that begin with a word."""
        return takewhile(lambda name: name.startswith(word), islice(self.names, bisect_left(self.names, word), None))


_index = lru_cache(maxsize=8)(_Index)


def _numbers(word: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", word))


@lru_cache(maxsize=4096)
def _nearest(word: str, names: frozenset[str], least: float, numbered: bool, steps: Counter | None) -> str:
    from difflib import SequenceMatcher

    def take(count: int) -> None:
        if steps and not steps.take(count):
            raise _OutOfStepsError

    index, numbers = _index(names), _numbers(word) if numbered else ()

    def first(matches: Iterable[str]) -> str:
        return next((name for name in matches if not numbers or _numbers(name) in (numbers, ())), "")

    if name := first(index.by_lower.get(word.lower(), ())):
        return name
    matcher = SequenceMatcher(b=word)
    likely: list[tuple[float, str]] = []
    for name in index.as_long_as(word, least, numbers):
        take(len(name))
        matcher.set_seq1(name)
        if matcher.quick_ratio() >= least:
            take(len(name) * len(word))
            likely.append((matcher.ratio(), name))
    likeness, name = max(likely, default=(0, ""))
    if likeness >= least:
        return name
    return first(index.beginning_with(word)) if len(word) >= WHOLE else ""
