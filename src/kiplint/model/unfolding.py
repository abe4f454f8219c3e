"""How large a layout is: common structs inside one another can unfold into billions of fields."""

from __future__ import annotations

from kiplint.model.container import Container

MOST_FIELDS = 100_000
"""What the layouts looked at together may have, structs unfolded. Kafka's largest message comes to a thousand."""

DEEPEST = 64
"""How far structs may stand inside one another. Kafka's deepest message comes to five."""


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
