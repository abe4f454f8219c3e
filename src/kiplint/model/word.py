"""A word that is probably a slip, as an element that rules judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kiplint.model.fact import fact, set_fact
from kiplint.model.remarks import body_start
from kiplint.model.vocabulary import WORD, Vocabulary, edit

if TYPE_CHECKING:
    from kiplint.model.message import Message

_TEXTS: Final = re.compile(rb'//[^\r\n]*|"(?:about|name)"\s*:\s*("(?:[^"\\\r\n]|\\.)*")')
_DOUBLED: Final = re.compile(
    rb"(?<![\w.<\[-])([A-Za-z]{2,})((?:[ \t]+|[ \t]*\r?\n[ \t]*//[ \t]*))(?=\1(?![\w\]>-]|\.\w))(\1)", re.IGNORECASE
)


class Found(NamedTuple):
    """Where a word stands in the file's bytes, and the word in lower case."""

    word: str
    start: int
    end: int
    doubled: bool = False


class Word:
    """A word that is rare in its set and nearly another, or that stands twice in a row."""

    def __init__(self, found: Found, message: Message, vocabulary: Vocabulary) -> None:
        self.found = found
        self._message = message
        self._vocabulary = vocabulary

    @fact
    def message(self) -> Message:
        """The message in whose file the word stands."""
        return self._message

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
        return self._vocabulary.counts[self.word]

    @set_fact
    def meant_word(self) -> str:
        """The most common word of the set that is one edit away, or empty."""
        near = self._vocabulary.near.get(self.word)
        return near.word if near and not self.is_doubled else ""

    @set_fact
    def meant_count(self) -> int:
        """How often that stands in the set."""
        return self._vocabulary.counts[self.meant_word] if self.meant_word else 0

    @set_fact
    def correction(self) -> str:
        """What the dictionary of codespell says is meant, where it is installed; else empty."""
        return "" if self.is_doubled else self._vocabulary.corrections.get(self.word, "")

    @set_fact
    def edit_kind(self) -> str:
        """How it differs from what is meant: vowel, consonant, traded, or length (a letter more or less)."""
        return edit(self.word, self.meant_word)


def words_of(message: Message, vocabulary: Vocabulary) -> Iterator[Word]:
    """The odd words of a message's file, in order."""
    rare = _rare(message, vocabulary) if vocabulary.has_rare(message) else ()
    twice = _twice(message) if vocabulary.has_doubled(message) else ()
    for found in sorted((*rare, *twice), key=lambda one: one.start):
        yield Word(found, message, vocabulary)


def _rare(message: Message, vocabulary: Vocabulary) -> Iterator[Found]:
    for text in _TEXTS.finditer(message.data, body_start(message.data)):
        begin, said = (text.start(1), text[1]) if text[1] else (text.start(), text[0])
        for match in WORD.finditer(said.decode("latin-1")):  # a character a byte, so that offsets stay
            word = match[0].lower()
            if word in vocabulary.near or word in vocabulary.corrections:
                yield Found(word, begin + match.start(), begin + match.end())


def _twice(message: Message) -> Iterator[Found]:
    for match in _DOUBLED.finditer(message.data, body_start(message.data)):
        yield Found(match[1].decode().lower(), match.start(3), match.end(3), doubled=True)
