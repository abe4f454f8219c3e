"""How much of a definition is compared. Common structs inside one another can unfold into billions of fields."""

from __future__ import annotations

from kiplint.engine.errors import UsageError
from kiplint.model.container import Container
from kiplint.model.message import Message
from kiplint.model.unfolding import DEEPEST, MOST_FIELDS, unfolded


class Budget:
    """What is left to be compared of one message; raises UsageError when it is used up."""

    def __init__(self, message: Message) -> None:
        self._file = message.file
        self._left = MOST_FIELDS

    def spend(self, container: Container, times: int = 1) -> None:
        """Account for some layouts of a message or struct; raises UsageError also for structs that are too deep."""
        fields, depth = unfolded(container, self._left // max(times, 1))
        if depth > DEEPEST:
            raise UsageError(f"{self._file}: too deep: its structs stand inside one another more than {DEEPEST} deep")
        self._left -= times * fields
        if self._left < 0:
            raise UsageError(f"{self._file}: too large: its structs and versions unfold into too many fields")
