"""How a layout is written in one line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from kiplint.model.field import Field
from kiplint.model.layout import Body, Slot, describe
from kiplint.text.show import printable

MOST_SHOWN: Final = 200
"""The fields of a layout that is shown whole, those of structs counted. Kafka's largest has half as many."""

AROUND: Final = 10
"""Of a larger layout: the fields shown before and after the one that it is about."""

LEFT_OUT: Final = "..."


def shown_layout(body: Body, near: Field | None = None, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out unless `empty_tags` are wanted, of the outermost struct only. Of a layout
    with more than `MOST_SHOWN` fields only those are shown that stand `near` a field, or at the beginning.
    """
    if _is_larger(body, MOST_SHOWN):
        return printable(_part(body, near))
    return printable(_whole(body, empty_tags=empty_tags))


def _whole(body: Body, *, empty_tags: bool = False) -> str:
    parts = [_shown(one) for one in body.slots]
    if body.tags or (empty_tags and body.tags is not None):
        parts.append("tags {" + ", ".join(f"{one.field.tag}: {_shown(one)}" for one in body.tags) + "}")
    return ", ".join(parts)


def _part(body: Body, near: Field | None) -> str:
    tags = body.tags or ()
    at = bisect_left(tags, near.tag or 0, key=lambda one: one.field.tag or 0) if near else 0
    tagged = at < len(tags) and tags[at].field is near
    place = bisect_left(body.slots, near.index, key=lambda one: one.field.index) if near and not tagged else 0
    slots = [] if tagged else _window(body.slots, place)
    numbered = _window(tags, at, numbers=True) if tagged or not body.slots else [LEFT_OUT] if tags else []
    parts = slots or ([LEFT_OUT] if body.slots else [])
    return ", ".join([*parts, "tags {" + ", ".join(numbered) + "}"] if tags else parts)


def _window(slots: Sequence[Slot], place: int, *, numbers: bool = False) -> list[str]:
    first, last = max(place - AROUND, 0), place + AROUND + 1
    shown = [(f"{one.field.tag}: " if numbers else "") + _shown(one, most=2 * AROUND) for one in slots[first:last]]
    return [*([LEFT_OUT] if first else []), *shown, *([LEFT_OUT] if last < len(slots) else [])]


def _shown(one: Slot, most: int | None = None) -> str:
    if one.body is None:
        return f"{one.field.name} {describe(one)}"
    words = describe(one).removesuffix(one.field.element_type)
    hidden = most is not None and _is_larger(one.body, most)
    return f"{one.field.name} {words}({LEFT_OUT if hidden else _whole(one.body)})"


def _is_larger(body: Body, most: int) -> bool:
    """Whether a layout has more fields than that, structs unfolded; looks no further than it has to."""
    waiting = [body]
    count = 0
    while waiting and count <= most:
        one = waiting.pop()
        slots = (*one.slots[: most + 1], *(one.tags or ())[: most + 1])
        count += len(slots)
        waiting += [inner.body for inner in slots if inner.body]
    return count > most
