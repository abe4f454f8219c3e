"""The words of a set: which of them are rare, and nearly another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final, NamedTuple

from kiplint.model.dictionary import misspellings
from kiplint.model.fact import fact
from kiplint.model.known_words import KNOWN
from kiplint.model.remarks import places_of
from kiplint.model.wording import SHORTEST, doubled, joined, texts_of, times, tokens_of, words_of

if TYPE_CHECKING:
    from kiplint.model.message import Message

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
    """The words of some messages. Only of those that are wanted is it known whether they have odd ones.

    Words are counted only where one that is wanted is not known to be right, and nearly another.
    """

    def __init__(self, messages: Iterable[Message], wanted: Collection[str] | None = None) -> None:
        self._messages = tuple(messages)
        self._wanted = [one for one in self._messages if wanted is None or one.file in wanted]
        self._count: dict[str, int] = {}

    @fact
    def _texts(self) -> dict[str, list[str]]:
        """By file, what is wanted."""
        return {one.file: texts_of(one) for one in self._wanted}

    @fact
    def _distinct(self) -> list[str]:
        return [*{*chain.from_iterable(self._texts.values())}]

    @fact
    def _tokens(self) -> list[bytes]:
        return tokens_of(joined(self._distinct))

    @fact
    def _words(self) -> set[str]:
        return words_of(self._tokens)

    @fact
    def _all(self) -> str:
        known = self._texts
        return joined(text for one in self._messages for text in known.get(one.file) or texts_of(one))

    def count(self, word: str) -> int:
        """How often a word is there."""
        if word not in self._count:
            self._count[word] = times(word, self._all)
        return self._count[word]

    @fact
    def near(self) -> dict[str, Near]:
        """By rare word of those that are wanted the common one that is meant."""
        strange = {word for word in self._words - KNOWN if len(word) >= SHORTEST}
        if not strange:
            return {}
        whole = len(self._wanted) == len(self._messages)
        return nearly(strange, self._words if whole else words_of(tokens_of(self._all)), self.count)

    @fact
    def corrections(self) -> dict[str, str]:
        """By misspelt word what the dictionary says is meant."""
        known = misspellings()
        return {word: known[word] for word in self._words - KNOWN if word in known}

    @fact
    def _doubled(self) -> set[str]:
        """The texts in which a word may stand twice in a row."""
        return doubled(self._distinct, self._tokens)

    @fact
    def _files_with_slips(self) -> set[str]:
        """The wanted files in which a word may be nearly another, or misspelt by the dictionary."""
        if not (self.near or self.corrections):
            return set()
        whole = b"\0".join(one.data for one in self._wanted).lower()
        ends = list(accumulate(len(one.data) + 1 for one in self._wanted))
        places = chain.from_iterable(places_of(word.encode(), whole) for word in (*self.near, *self.corrections))
        return {self._wanted[bisect_right(ends, place)].file for place in places}

    def oddness(self, message: Message) -> Oddness:
        """What may be odd in a message."""
        return Oddness(
            rare=message.file in self._files_with_slips,
            doubled=not self._doubled.isdisjoint(self._texts.get(message.file, ())),
        )


class Oddness(NamedTuple):
    """Whether there may be a word that is nearly another or misspelt by the dictionary, and one twice in a row."""

    rare: bool
    doubled: bool


def nearly(rare: Iterable[str], words: Iterable[str], count: Callable[[str], int]) -> dict[str, Near]:
    """By rare word: the most common of the words that are one edit away, and not only another ending."""
    halves: dict[str, list[str]] = {}
    for word in rare:
        for shared in _halves(word):
            halves.setdefault(shared, []).append(word)
    found: dict[str, Near] = {}
    for word in words:
        half = len(word) // 2
        for slip in (*halves.get(f"{word[:half]}-", ()), *halves.get(f"-{word[half:]}", ())):
            if _is_meant(word, slip, count):
                found[slip] = max(found.get(slip, Near("", 0)), Near(word, count(word)), key=lambda one: one[::-1])
    return found


def _halves(word: str) -> set[str]:
    """The first or second halves that words one edit away share with the word."""
    sizes = range(len(word) - 1, len(word) + 2)
    return {f"{word[: size // 2]}-" for size in sizes} | {f"-{word[size // 2 - size :]}" for size in sizes}


def _is_meant(word: str, slip: str, count: Callable[[str], int]) -> bool:
    """Whether a word is one edit away, and so much more common that the other is a slip."""
    if not is_one_edit(slip, word) or (kind := edit(slip, word)) == "ending" or count(slip) > RAREST:
        return False
    sure = kind != "consonant" or (count(slip) == 1 and len(slip) >= LONG)
    return sure and count(word) >= max(FEWEST, FACTOR * count(slip))


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
        return "ending" if start == len(short) and long[-1] in "sdrnyel" and long[-1] != short[-1] else "length"
    if start == len(one) - 1:
        return "ending"
    if one[start + 1 :] != two[start + 1 :]:
        return "traded"
    return "vowel" if {one[start], two[start]} <= _VOWELS else "consonant"
