"""How much of a definition is compared. Common structs inside one another can unfold into billions of fields."""

from __future__ import annotations

from kiplint.engine.errors import UsageError
from kiplint.model.container import Container
from kiplint.model.message import Message

MOST_FIELDS = 100_000
"""What the layouts to compare may have together, structs unfolded. Kafka's largest message comes to a thousand."""


class Budget:
    """What is left to be compared of one message; raises UsageError when it is used up."""

    def __init__(self, message: Message) -> None:
        self._file = message.file
        self._left = MOST_FIELDS

    def spend(self, container: Container, times: int = 1) -> None:
        """Account for some layouts of a message or struct."""
        self._left -= times * unfolded(container, self._left // max(times, 1))
        if self._left < 0:
            raise UsageError(f"{self._file}: too large: its structs and versions unfold into too many fields")


def unfolded(container: Container, most: int) -> int:
    """How many fields a layout has at most, structs unfolded as layouts unfold them; stops counting above `most`."""
    waiting: list[tuple[Container, frozenset[str]]] = [(container, frozenset())]
    count = 0
    while waiting and count <= most:
        one, outer = waiting.pop()
        count += len(one.fields)
        inner = [field for field in one.fields if field.is_struct and field.element_type not in outer]
        waiting += [(field.struct, outer | {field.element_type}) for field in inner if field.struct]
    return count
