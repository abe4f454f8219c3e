"""How much of a definition is compared. Common structs inside one another can unfold into billions of fields."""

from __future__ import annotations

from kiplint.engine.errors import UsageError
from kiplint.model.container import Container
from kiplint.model.message import Message

MOST_FIELDS = 100_000
"""What the layouts to compare may have together, structs unfolded. Kafka's largest message comes to a thousand."""

DEEPEST = 64
"""How far structs may stand inside one another. Kafka's deepest message comes to five."""


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


def unfolded(container: Container, most: int) -> tuple[int, int]:
    """How many fields a layout has at most, structs unfolded as layouts unfold them, and how deep these stand.

    Stops above `most` fields and below `DEEPEST` structs.
    """
    path: list[str] = []
    waiting = [iter(container.fields)]
    count, deepest = len(container.fields), 0
    while waiting and count <= most and deepest <= DEEPEST:
        field = next(waiting[-1], None)
        if field is None:
            waiting.pop()
            del path[-1:]
        elif field.is_struct and field.element_type not in path and field.struct:
            path.append(field.element_type)
            waiting.append(iter(field.struct.fields))
            count += len(field.struct.fields)
            deepest = max(deepest, len(path))
    return count, deepest
