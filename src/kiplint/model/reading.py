"""What a reader downstream makes of a definition, as an element that rules judge."""

from __future__ import annotations

from kiplint.model.fact import fact


class Reading:
    """One thing that befalls a reader of Kafka's definitions at one of them.

    It stands at a JSON pointer of the file, or at the characters from `start` to `end` where these are not -1. `what`,
    `versions`, `really` and `taken` tell of a misreading, `why` of a failure.
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
        """What befalls it, as a sentence."""
        return self._detail

    @fact
    def pointer(self) -> str:
        """The JSON pointer of what it stumbles over."""
        return self._pointer
