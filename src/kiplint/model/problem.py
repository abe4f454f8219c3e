"""Elements that rules judge beside the model: problems of a file, and the outcomes of other readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiplint.model.element import fact, set_fact
from kiplint.text.decode import Problem as Noted

if TYPE_CHECKING:
    from kiplint.model.message import Message


class ProblemElement:
    """A problem of text or shape that the reader noted about a file."""

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
        """The word that is not allowed, where the problem is about a word; else empty."""
        return self.noted.word

    @fact
    def is_harmless(self) -> bool:
        """Whether all readers understand the definition: a duplicate property has the same value each time."""
        return self.noted.harmless

    @set_fact
    def set_words(self) -> int:
        """How many fields of the set have an entity type that Kafka does not know; forks may have some."""
        return self._message.schemas.own_words if self._message else 0

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the mistake, or of the value around it."""
        return self.noted.pointer


class ReadingElement:
    """The outcome of another reader of Kafka's definitions at a place of a definition.

    It stands at a JSON pointer of the file, or at the characters from `start` to `end` where these are not -1. `what`,
    `versions`, `really` and `taken` describe a misreading, `why` a failure.
    """

    def __init__(
        self,
        reader: str,
        outcome: str,
        detail: str,
        file: str,
        message_name: str,
        pointer: str = "",
        start: int = -1,
        end: int = -1,
        *,
        what: str = "",
        versions: str = "",
        really: str = "",
        taken: str = "",
        why: str = "",
    ) -> None:
        self._reader, self._outcome, self._detail, self._pointer = reader, outcome, detail, pointer
        self.file, self.message_name, self.start, self.end = file, message_name, start, end
        self.what, self.versions, self.really, self.taken, self.why = what, versions, really, taken, why

    @fact
    def reader(self) -> str:
        """The name of the reader, such as `kio`."""
        return self._reader

    @fact
    def outcome(self) -> str:
        """`fails`, or `misreads` for a version that it takes for something else."""
        return self._outcome

    @fact
    def detail(self) -> str:
        """The outcome, as a sentence."""
        return self._detail

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the cause."""
        return self._pointer
