"""The words of a set: of its descriptions, comments and names; which of them are rare, and nearly another.

Names are taken apart at their capitals, so that `TopicId` counts for topic and for id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
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
LONG: Final = 6
"""Of words with another consonant, shorter ones than this, or such as stand there twice, are most often right."""
RAREST: Final = 5
"""A word that stands there more often than this is not rare; rules may ask for less."""
FACTOR: Final = 4
"""A word is rare beside one that stands there at least so many times as often; rules ask for more."""


class Near(NamedTuple):
    """A common word that is one edit away: a letter more, less, or other, or two that traded places."""

    word: str
    times: int


class Vocabulary:
    """The words of some messages: `counts` in lower case, and `near`, by rare word the common one that is meant."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._texts = {id(one): _texts(one) for one in messages}
        texts = Counter(chain.from_iterable(self._texts.values()))
        self.counts = _counted(texts)
        self.near = nearly(self.counts)
        self.corrections = corrections(self.counts)
        odd = self.near.keys() | self.corrections.keys()
        self._rare = {text for text in texts if any(word in text.lower() for word in odd)} if odd else set[str]()
        self._doubled = {text for text in texts if _may_double(text)} if _may_double("\n".join(texts)) else set[str]()

    def has_rare(self, message: Message) -> bool:
        """Whether the message has a word that is nearly another, or misspelt by the dictionary."""
        return not self._rare.isdisjoint(self._texts[id(message)])

    def has_doubled(self, message: Message) -> bool:
        """Whether a word may stand twice in a row in the message."""
        return not self._doubled.isdisjoint(self._texts[id(message)])


def _texts(message: Message) -> list[str]:
    """The descriptions, comments and names of a message."""
    fields = list(specs(message.spec))
    texts = [about for one in fields if (about := given(one.about, ""))]
    texts += [one.name for one in fields]
    texts += [one.text for one in message.paragraphs]
    return texts


def _counted(texts: Mapping[str, int]) -> Counter[str]:
    """How often each word is there; texts that are there equally often are searched together."""
    groups: dict[int, list[str]] = {}
    for text, times in texts.items():
        groups.setdefault(times, []).append(text)
    found: Counter[str] = Counter()
    for times, group in groups.items():
        for word, count in Counter(WORD.findall("\n".join(group))).items():
            found[word.lower()] += times * count
    return found


def _may_double(text: str) -> bool:
    parts = text.split()
    return any(map(eq, parts, parts[1:]))


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
        if count <= RAREST and len(word) >= SHORTEST and FACTOR * count <= most:
            best = max(_near(word, count, common, halves), default=None)
            if best:
                found[word] = Near(best[1], best[0])
    return found


def _near(
    word: str, count: int, common: Mapping[str, int], halves: Mapping[tuple[str, int], list[str]]
) -> Iterator[tuple[int, str]]:
    """The words that share their first or second half with the word, and are one edit away."""
    sizes = range(len(word) - 1, len(word) + 2)
    starts = {size // 2 for size in sizes}
    ends = {size - size // 2 for size in sizes}
    keys = [(word[:size], size) for size in starts] + [(word[-size:], -size) for size in ends]
    for key in keys:
        for other in halves.get(key, ()):
            if common[other] >= FACTOR * count and is_one_edit(word, other) and _counts(word, other, count):
                yield common[other], other


def _counts(word: str, other: str, count: int) -> bool:
    """Whether the edit is one that a slip makes, rather than one between two words of the language."""
    kind = edit(word, other)
    return kind != "ending" and (kind != "consonant" or (count == 1 and len(word) >= LONG))


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
