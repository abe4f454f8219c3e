"""Words that are probably slips: misspelt, rare and nearly another word of the set, or twice in a row."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import accumulate, chain, compress, count, islice
from operator import eq
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from kiplint.model.element import fact, set_fact, value_or
from kiplint.model.notes import TextElement, body_start
from kiplint.model.usage import specs

if TYPE_CHECKING:
    from kiplint.model.message import Message


def _read_words(name: str) -> list[str]:
    """The words of a file beside this module."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="ascii") as file:
        return file.read().split()


@cache
def known_words() -> frozenset[str]:
    """Words that are right: those of at least five letters in Kafka's own definitions, as of 2026-08.

    Their file is written by scripts/known_words.py.
    """
    return frozenset(_read_words("kafka_words.txt"))


_FILE = os.path.join("codespell_lib", "data", "dictionary.txt")


@cache
def misspellings() -> dict[str, str]:
    """By misspelt word: the right ones, with commas between them; out of codespell, where that is installed."""
    for folder in sys.path:
        file = os.path.join(folder, _FILE)
        if folder and os.path.isfile(file):
            with open(file, encoding="utf-8") as lines:
                pairs = (line.rstrip("\n").partition("->") for line in lines)
                return {wrong: right.rstrip(",") for wrong, _, right in pairs if "disabled" not in right}
    return {}


@cache
def real_words() -> frozenset[str]:
    """English words: a short list, and the corrections of codespell."""
    corrections = (right.replace(",", " ").split() for right in misspellings().values())
    return frozenset(_read_words("english_words.txt")).union(*corrections)


WORD: Final = "[A-Z]?[a-z]{2,}"
SHORTEST: Final = 5
"""Shorter words are too often one letter away from another."""
LONGEST: Final = 40
"""Longer words are none."""
_TOKENS: Final = bytes(code if (chr(code).isalnum() and code < 128) or chr(code) == "|" else 32 for code in range(256))


def texts_of(message: Message) -> list[str]:
    """The descriptions, names and comments of a message."""
    spec = message.spec
    fields = list(specs(spec))
    texts = [about for field in fields if (about := field.about).__class__ is str]
    texts += [field.name for field in fields]
    texts += [paragraph.text for paragraph in message.paragraphs]
    texts += [spec.name, *(struct.name for struct in value_or(spec.common_structs, []))]
    return texts


def join_texts(texts: Iterable[str]) -> str:
    """The texts with bars between them."""
    return " | ".join(texts)


def tokens_of(text: str) -> list[bytes]:
    """The words, names, numbers and bars of a text."""
    return text.encode(errors="replace").translate(_TOKENS).split()


def doubled_texts(texts: list[str], tokens: list[bytes]) -> set[str]:
    """The texts in which a word stands twice in a row, without a capital the second time: sentences may begin so.

    The tokens are those of the texts as `join_texts` joins them.
    """
    places = list(compress(count(), map(eq, map(bytes.lower, tokens), islice(tokens, 1, None))))
    if places and len(texts) == 1:
        return set(texts)
    if places and tokens.count(b"|") >= len(texts):  # the texts have bars themselves: test each
        return {text for text in texts if doubled_texts([text], tokens_of(text))}
    bars = list(accumulate(map(b"|".__eq__, tokens))) if places else []
    return {texts[bars[at]] for at in places}


def words_of(tokens: Iterable[bytes]) -> set[str]:
    """The words that the tokens are made of, in lower case."""
    return set(map(str.lower, re.findall(WORD, b" ".join(set(tokens)).decode())))


def counts_of(text: str) -> dict[str, int]:
    """How often each word, in lower case, is among the words of a text."""
    counts: dict[str, int] = {}
    for token, number in Counter(tokens_of(text)).items():
        for word in re.findall(WORD, token.decode()):
            counts[word.lower()] = counts.get(word.lower(), 0) + number
    return counts


FEWEST: Final = 8
"""A word that occurs less often than this in the set does not correct others."""
_VOWELS: Final = frozenset("aeiouy")
LONG: Final = 6
"""Of words with another consonant, shorter ones than this, or such as stand there twice, are most often right."""
RAREST: Final = 5
"""A word that stands there more often than this is not rare; rules may ask for less."""
FACTOR: Final = 4
"""A word is rare beside one that stands there at least so many times as often; rules ask for more."""


class Near(NamedTuple):
    """A common word that is one edit away: a letter more, less, or other, or two swapped."""

    word: str
    times: int


class Vocabulary:
    """The words of some messages, and which words of the selected files are odd.

    Words are counted only where a word of a selected file is not known to be right, and is nearly another.
    """

    def __init__(self, messages: Iterable[Message], files: Collection[str] | None = None) -> None:
        self._messages = tuple(messages)
        self._selected_messages = [message for message in self._messages if files is None or message.file in files]

    @fact
    def _texts(self) -> dict[str, list[str]]:
        """The texts of each selected file."""
        return {message.file: texts_of(message) for message in self._selected_messages}

    @fact
    def _distinct(self) -> list[str]:
        return [*{*chain.from_iterable(self._texts.values())}]

    @fact
    def _tokens(self) -> list[bytes]:
        return tokens_of(join_texts(self._distinct))

    @fact
    def _words(self) -> set[str]:
        return words_of(self._tokens)

    @fact
    def _all(self) -> str:
        texts = self._texts
        return join_texts(text for message in self._messages for text in texts.get(message.file) or texts_of(message))

    @fact
    def _counts(self) -> dict[str, int]:
        return counts_of(self._all)

    def count(self, word: str) -> int:
        """How often a word is there."""
        return self._counts.get(word, 0)

    @fact
    def near(self) -> dict[str, Near]:
        """By rare word of the selected files: the common word that is probably meant."""
        strange = {word for word in self._words - known_words() if SHORTEST <= len(word) <= LONGEST} - real_words()
        if not strange:
            return {}
        whole = len(self._selected_messages) == len(self._messages)
        return nearly(strange, self._words if whole else words_of(tokens_of(self._all)), self.count)

    @fact
    def corrections(self) -> dict[str, str]:
        """By misspelt word: the correction of the dictionary."""
        dictionary = misspellings()
        return {word: dictionary[word] for word in self._words - known_words() if word in dictionary}

    @fact
    def _doubled(self) -> set[str]:
        """The texts in which a word may stand twice in a row."""
        return doubled_texts(self._distinct, self._tokens)

    @fact
    def _files_with_slips(self) -> set[str]:
        """The selected files in which a word may be nearly another, or misspelt by the dictionary."""
        slips = {*self.near, *self.corrections}
        words_by_file = ((file, words_of(tokens_of(join_texts(texts)))) for file, texts in self._texts.items() if slips)
        return {file for file, words in words_by_file if not slips.isdisjoint(words)}

    def oddness(self, message: Message) -> Oddness:
        """What may be odd in a message."""
        return Oddness(
            rare=message.file in self._files_with_slips,
            doubled=not self._doubled.isdisjoint(self._texts.get(message.file, ())),
        )


class Oddness(NamedTuple):
    """Whether there may be a word that is nearly another or misspelt by the dictionary, and a word twice in a row."""

    rare: bool
    doubled: bool


def nearly(rare: Iterable[str], words: Iterable[str], count: Callable[[str], int]) -> dict[str, Near]:
    """By rare word: the most common word that is one edit away, other endings aside."""
    slips_by_part: dict[str, list[str]] = {}
    for slip in rare:
        for part in _parts(slip) if count(slip) <= RAREST else ():
            slips_by_part.setdefault(part, []).append(slip)
    nearest: dict[str, Near] = {}
    for times, word in sorted((count(word), word) for word in words if count(word) >= FEWEST):
        for slip in {slip for part in _parts(word) for slip in slips_by_part.get(part, ())}:
            if _is_meant(word, slip, count):
                nearest[slip] = Near(word, times)
    return nearest


def _parts(word: str) -> list[str]:
    """What the word shares with each word that is one edit away: all of it, or all but a letter."""
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word) if len(word) <= LONGEST + 1 else 0))]


def _is_meant(word: str, slip: str, count: Callable[[str], int]) -> bool:
    """Whether a word is one edit away, and so much more common that the other is a slip."""
    if count(word) < FACTOR * count(slip) or not is_one_edit(slip, word) or (kind := edit(slip, word)) == "ending":
        return False
    return kind != "consonant" or (count(slip) == 1 and len(slip) >= LONG)


def is_one_edit(first: str, second: str) -> bool:
    """Whether a letter was added, left out or changed, or two adjacent letters swapped."""
    short, long, start = _parting(first, second)
    if len(long) - len(short) > 1 or first == second:
        return False
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swap = short[start + 1 : start + 2] + short[start : start + 1] + short[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or swap == long[start:]


def _parting(first: str, second: str) -> tuple[str, str, int]:
    """The shorter and the longer word, and where they begin to differ."""
    short, long = sorted((first, second), key=len)
    return short, long, next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))


def edit(first: str, second: str) -> str:
    """The single edit that turns one word into the other."""
    short, long, start = _parting(first, second)
    if len(short) < len(long):
        return "ending" if start == len(short) and long[-1] in "sdrnyel" and long[-1] != short[-1] else "length"
    if start == len(first) - 1:
        return "ending"
    if first[start + 1 :] != second[start + 1 :]:
        return "traded"
    return "vowel" if {first[start], second[start]} <= _VOWELS else "consonant"


_TEXTS: Final = rb'//[^\r\n]*|"(?:about|name)"\s*:\s*("(?:[^"\\\r\n]|\\.)*")'
_REPEAT: Final = rb"(?<![\w.<\[-])([A-Za-z]{2,})((?:[ \t]+|[ \t]*\r?\n[ \t]*//[ \t]*))(?=\1(?![\w\]>-]|\.\w))(\1)"


class WordPlace(NamedTuple):
    """Where a word stands in the file's bytes, and the word in lower case."""

    word: str
    start: int
    end: int
    doubled: bool = False


class Word(TextElement):
    """A word that is rare in its set and nearly another, or that stands twice in a row."""

    word: Annotated[str, "The word, in lower case."]
    is_doubled: Annotated[bool, "Whether it is here because it stands twice in a row."]

    def __init__(self, place: WordPlace, message: Message) -> None:
        super().__init__(message, place.start, place.end)
        self.word = place.word
        self.is_doubled = place.doubled

    @set_fact
    def _vocabulary(self) -> Vocabulary:
        return self.message.schemas.vocabulary

    @set_fact
    def word_count(self) -> int:
        """How often it occurs in the descriptions, comments and names of the set."""
        return self._vocabulary.count(self.word)

    @set_fact
    def meant_word(self) -> str:
        """The most common word of the set that is one edit away, or empty."""
        near = self._vocabulary.near.get(self.word)
        return near.word if near and not self.is_doubled else ""

    @set_fact
    def meant_count(self) -> int:
        """How often that occurs in the set."""
        return self._vocabulary.count(self.meant_word) if self.meant_word else 0

    @set_fact
    def correction(self) -> str:
        """The correction of codespell's dictionary where that is installed; else empty."""
        return "" if self.is_doubled else self._vocabulary.corrections.get(self.word, "")

    @set_fact
    def edit_kind(self) -> str:
        """How it differs from what is meant: vowel, consonant, traded, or length (a letter more or less)."""
        return edit(self.word, self.meant_word)


def odd_words(message: Message, rare: bool, doubled: bool) -> Iterator[Word]:
    """The words of a message's file that are rare, or stand twice in a row, in order."""
    places = (*(_rare(message) if rare else ()), *(_twice(message) if doubled else ()))
    for place in sorted(places, key=lambda place: place.start):
        yield Word(place, message)


def _rare(message: Message) -> Iterator[WordPlace]:
    data, vocabulary = message.data, message.schemas.vocabulary
    for text in re.compile(_TEXTS).finditer(data, body_start(data)):
        begin, words = (text.start(1), text[1]) if text[1] else (text.start(), text[0])
        for match in re.finditer(WORD, words.decode("latin-1")):  # a character a byte, so that offsets stay
            word = match[0].lower()
            if word in vocabulary.near or word in vocabulary.corrections:
                yield WordPlace(word, begin + match.start(), begin + match.end())


def _twice(message: Message) -> Iterator[WordPlace]:
    for match in re.compile(_REPEAT, re.IGNORECASE).finditer(message.data, body_start(message.data)):
        yield WordPlace(match[1].decode().lower(), match.start(3), match.end(3), doubled=True)
