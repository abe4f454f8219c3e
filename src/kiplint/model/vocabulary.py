"""The words of a set: of its descriptions, comments and names; which of them are rare, and nearly another.

Names are taken apart at their capitals, so that `TopicId` counts for topic and for id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import eq
from typing import TYPE_CHECKING, Final, NamedTuple

from kiplint.model.element import given
from kiplint.model.usage import specs

if TYPE_CHECKING:
    from kiplint.model.message import Message

WORD: Final = re.compile("[A-Z]?[a-z]{2,}")
SHORTEST: Final = 5
"""Shorter words are too often one letter away from another."""
FEWEST: Final = 8
"""A word that stands in the set less often than this is no measure for others."""
_VOWELS: Final = frozenset("aeiouy")
FACTOR: Final = 4
"""A word is rare beside one that stands there at least so many times as often; rules ask for more."""


class Near(NamedTuple):
    """A common word that is one edit away: a letter more, less, or other, or two that traded places."""

    word: str
    times: int


class Vocabulary:
    """The words of some messages: `counts` in lower case, and `near`, by rare word the common one that is meant."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._written: dict[int, list[str]] = {id(one): _written(one) for one in messages}
        pieces: Counter[str] = Counter()
        for parts in self._written.values():
            pieces.update(parts)
        self._pieces = pieces
        self.counts: Counter[str] = Counter()
        self._words = {piece: [word.lower() for word in WORD.findall(piece)] for piece in pieces}
        for piece, words in self._words.items():
            for word in words:
                self.counts[word] += pieces[piece]
        self.near = nearly(self.counts)
        self.corrections = corrections(self.counts)
        odd = self.near.keys() | self.corrections.keys()
        self._odd = {piece for piece, words in self._words.items() if not odd.isdisjoint(words)} if odd else set()

    def has_rare(self, message: Message) -> bool:
        """Whether the message has a word that is nearly another, or misspelt by the dictionary."""
        return not self._odd.isdisjoint(self._written[id(message)])

    def has_doubled(self, message: Message) -> bool:
        """Whether a word may stand twice in a row in the message."""
        parts = self._written[id(message)]
        return any(map(eq, parts, parts[1:]))


def _written(message: Message) -> list[str]:
    """The words of a message between blanks."""
    fields = list(specs(message.spec))
    texts = [given(one.about, "") for one in fields]
    texts += [one.text for one in message.paragraphs]
    return " | ".join([*texts, *(one.name for one in fields)]).split()


def nearly(counts: Mapping[str, int]) -> dict[str, Near]:
    """By rare word: the most common of the words that are one edit away, and not only another ending."""
    common = {word: count for word, count in counts.items() if count >= FEWEST and len(word) >= SHORTEST}
    halves: dict[tuple[str, int], list[str]] = {}
    for word in common:
        half = len(word) // 2
        halves.setdefault((word[:half], half), []).append(word)
        halves.setdefault((word[half:], -len(word[half:])), []).append(word)
    found = {}
    most = max(common.values(), default=0)
    for word, count in counts.items():
        if len(word) >= SHORTEST and FACTOR * count <= most:
            best = max(_near(word, count, common, halves), default=None)
            if best:
                found[word] = Near(best[1], best[0])
    return found


def _near(
    word: str, count: int, common: Mapping[str, int], halves: Mapping[tuple[str, int], list[str]]
) -> Iterator[tuple[int, str]]:
    """The words that share their first or second half with the word, and are one edit away."""
    length = len(word)
    for half in {(length - 1) // 2, length // 2, (length + 1) // 2}:
        behind = {length - 1 - half, length - half, length + 1 - half}
        keys = [(word[:half], half), *((word[-size:], -size) for size in behind if 0 < size <= length)]
        for key in keys:
            for other in halves.get(key, ()):
                if common[other] >= FACTOR * count and is_one_edit(word, other) and edit(word, other) != "ending":
                    yield common[other], other


def is_one_edit(one: str, two: str) -> bool:
    """Whether a letter was added, left out or changed, or two that stand together traded places."""
    short, long = sorted((one, two), key=len)
    if len(long) - len(short) > 1 or one == two:
        return False
    start = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = short[start + 1 : start + 2] + short[start : start + 1] + short[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or swapped == long[start:]


def edit(one: str, two: str) -> str:
    """The edit between two words that are one edit apart."""
    short, long = sorted((one, two), key=len)
    start = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return "ending" if start == len(short) and long[-1] in "sdrnyel" else "length"
    if start == len(one) - 1:
        return "ending"
    if one[start + 1 :] != two[start + 1 :]:
        return "traded"
    return "vowel" if {one[start], two[start]} <= _VOWELS else "consonant"


def corrections(words: Iterable[str]) -> dict[str, str]:
    """By misspelt word: what is meant, by the dictionary of codespell where it is installed (`kiplint[spelling]`)."""
    from kiplint.model.dictionary import misspellings

    known = misspellings()
    return {word: known[word] for word in words if word in known} if known else {}
