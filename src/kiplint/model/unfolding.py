"""How large a layout is: common structs inside one another can unfold into billions of fields."""

from __future__ import annotations

from kiplint.model.container import Container

MOST_FIELDS = 100_000
"""What the layouts looked at together may have, structs unfolded. Kafka's largest message comes to a thousand."""


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
