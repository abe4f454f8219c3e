"""Problems of a file, which rules judge beside the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kiplint.model.element import set_fact
from kiplint.text.decode import Problem as Noted

if TYPE_CHECKING:
    from kiplint.model.message import Message


class ProblemElement:
    """A problem of text or shape that the reader noted about a file."""

    kind: Annotated[str, "The kind of problem, such as `trailing-comma`."]
    detail: Annotated[str, "What exactly is wrong, as a fragment of a sentence."]
    word: Annotated[str, "The word that is not allowed, where the problem is about a word; else empty."]
    is_harmless: Annotated[
        bool, "Whether all readers understand the definition: a duplicate property has the same value each time."
    ]
    pointer: Annotated[str, "The JSON pointer of the mistake, or of the value around it."]

    def __init__(self, noted: Noted, file: str, message: Message | None = None) -> None:
        self.noted = noted
        self.kind, self.detail, self.word = noted.kind, noted.detail, noted.word
        self.is_harmless, self.pointer = noted.harmless, noted.pointer
        self.file, self.start, self.end = file, noted.start, noted.end
        self.message_name = message.name if message else ""
        self._message = message

    @set_fact
    def set_words(self) -> int:
        """How many fields of the set have an entity type that Kafka does not know; forks may have some."""
        return self._message.schemas.own_words if self._message else 0
