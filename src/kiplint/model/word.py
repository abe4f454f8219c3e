"""A word that is probably a slip, as an element that rules judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kiplint.model.fact import fact, set_fact
from kiplint.model.remarks import Spoken, body_start
from kiplint.model.vocabulary import edit
from kiplint.model.wording import WORD

if TYPE_CHECKING:
    from kiplint.model.message import Message
    from kiplint.model.vocabulary import Vocabulary

_TEXTS: Final = rb'//[^\r\n]*|"(?:about|name)"\s*:\s*("(?:[^"\\\r\n]|\\.)*")'
_DOUBLED: Final = rb"(?<![\w.<\[-])([A-Za-z]{2,})((?:[ \t]+|[ \t]*\r?\n[ \t]*//[ \t]*))(?=\1(?![\w\]>-]|\.\w))(\1)"


class Found(NamedTuple):
    """Where a word stands in the file's bytes, and the word in lower case."""

    word: str
    start: int
    end: int
    doubled: bool = False


class Word(Spoken):
    """A word that is rare in its set and nearly another, or that stands twice in a row."""

    def __init__(self, found: Found, message: Message) -> None:
        super().__init__(message, found.start, found.end)
        self.found = found

    @set_fact
    def _vocabulary(self) -> Vocabulary:
        return self._message.schemas.vocabulary

    @fact
    def word(self) -> str:
        """The word, in lower case."""
        return self.found.word

    @fact
    def is_doubled(self) -> bool:
        """Whether it is here because it stands twice in a row."""
        return self.found.doubled

    @set_fact
    def word_count(self) -> int:
        """How often it stands in the descriptions, comments and names of the set."""
        return self._vocabulary.count(self.word)

    @set_fact
    def meant_word(self) -> str:
        """The most common word of the set that is one edit away, or empty."""
        near = self._vocabulary.near.get(self.word)
        return near.word if near and not self.is_doubled else ""

    @set_fact
    def meant_count(self) -> int:
        """How often that stands in the set."""
        return self._vocabulary.count(self.meant_word) if self.meant_word else 0

    @set_fact
    def correction(self) -> str:
        """What a dictionary says is meant, our own or codespell's where that is installed; else empty."""
        return "" if self.is_doubled else self._vocabulary.corrections.get(self.word, "")

    @set_fact
    def edit_kind(self) -> str:
        """How it differs from what is meant: vowel, consonant, traded, or length (a letter more or less)."""
        return edit(self.word, self.meant_word)


def odd_words(message: Message, rare: bool, doubled: bool) -> Iterator[Word]:
    """The words of a message's file that are rare, or stand twice in a row, in order."""
    found = (*(_rare(message) if rare else ()), *(_twice(message) if doubled else ()))
    for one in sorted(found, key=lambda one: one.start):
        yield Word(one, message)


def _rare(message: Message) -> Iterator[Found]:
    data, vocabulary = message.data, message.schemas.vocabulary
    for text in re.compile(_TEXTS).finditer(data, body_start(data)):
        begin, said = (text.start(1), text[1]) if text[1] else (text.start(), text[0])
        for match in re.finditer(WORD, said.decode("latin-1")):  # a character a byte, so that offsets stay
            word = match[0].lower()
            if word in vocabulary.near or word in vocabulary.corrections:
                yield Found(word, begin + match.start(), begin + match.end())


def _twice(message: Message) -> Iterator[Found]:
    for match in re.compile(_DOUBLED, re.IGNORECASE).finditer(message.data, body_start(message.data)):
        yield Found(match[1].decode().lower(), match.start(3), match.end(3), doubled=True)
