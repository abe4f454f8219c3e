"""A problem of text or shape, as an element that rules judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiplint.model.fact import fact, set_fact
from kiplint.text.problem import Problem as Noted

if TYPE_CHECKING:
    from kiplint.model.message import Message


class Problem:
    """One thing that the reader noted about a file."""

    def __init__(self, noted: Noted, file: str, message: Message | None = None) -> None:
        self.noted = noted
        self.file = file
        self.message_name = message.name if message else ""
        self._message = message

    @fact
    def kind(self) -> str:
        """The kind of problem, such as `trailing-comma`."""
        return self.noted.kind

    @fact
    def detail(self) -> str:
        """What exactly is wrong, as a fragment of a sentence."""
        return self.noted.detail

    @fact
    def word(self) -> str:
        """The word that is none of those allowed, where the problem is about one; else empty."""
        return self.noted.word

    @fact
    def is_harmless(self) -> bool:
        """Whether all readers understand the definition all the same: a property is given twice with one value."""
        return self.noted.harmless

    @set_fact
    def set_words(self) -> int:
        """How many fields of the set have an entity type that Kafka does not know, as those of forks may."""
        return self._message.schemas.own_words if self._message else 0

    @fact
    def pointer(self) -> str:
        """The JSON pointer of what is wrong, or of what it stands in."""
        return self.noted.pointer
