"""Sample values of a layout, the same every time: what proofs write to find out whether the other side reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kiplint.codec.values import base64_text, default_of, key_of, smallest_element, uuid_text
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS

Variant = tuple[str, dict[str, Any]]
"""The path of the field that is special, and the values of the body."""
IsSpecial = Callable[[Slot, bool], bool]
"""Whether a field, which may be a tagged one, is special."""


def minimal(body: Layout) -> dict[str, Any]:
    """Every field that must be there, each with its default; no tagged ones."""
    return {key_of(slot): _bare(slot) for slot in body.slots}


def rich(body: Layout, number: int = 1) -> dict[str, Any]:
    """Every field, tagged ones too, with a value that is neither its default nor like its neighbours'."""
    return {key_of(slot): _rich_value(slot, at) for at, slot in enumerate(body.all_slots, number)}


def _rich_value(slot: Slot, number: int = 1) -> Any:
    """A value that is not null and not the field's default; arrays have two elements.

    Kafka's reader refuses more elements than bytes are left, so an array of elements without bytes is empty.
    """
    if slot.array and not smallest_element(slot):
        return []
    if slot.array:
        return [_single(slot, number), _single(slot, number + 1)]
    value = _single(slot, number)
    return _single(slot, number + 2) if value == default_of(slot) else value


def samples(body: Layout) -> Iterator[Variant]:
    """The minimal body, one whose numbers are 1, 2, 3 and so on, and bodies in which only one field is special.

    At every depth it is null, or a tag that is present, or rich; or all bits of a number, boolean or byte string are
    set.
    """
    yield "", minimal(body)
    numbers = (slot for slot in body.slots if slot.kind in INTEGERS and not slot.array)
    yield "", minimal(body) | {key_of(slot): number % 100 for number, slot in enumerate(numbers, 1)}
    yield from _variants(
        body,
        lambda slot, tagged: slot.nullable and not (tagged and default_of(slot) is None),
        lambda slot: None,
    )
    yield from _variants(body, lambda slot, tagged: tagged, _rich_value)
    yield from _variants(body, lambda slot, tagged: not tagged and (slot.array or slot.body is None), _rich_value)
    highs: dict[str, Any] = {kind: -1 if low else high for kind, (low, high) in INTEGERS.items()}
    highs |= {"bool": True, "float64": -1.5, "bytes": base64_text(b"\xff"), "records": base64_text(b"\xff")}
    yield from _variants(
        body,
        lambda slot, tagged: not tagged and not slot.array and slot.kind in highs,
        lambda slot: highs[slot.kind],
    )


def _variants(body: Layout, is_special: IsSpecial, value: Callable[[Slot], Any]) -> Iterator[Variant]:
    base = minimal(body)
    for slots, tagged in ((body.slots, False), (body.tags or (), True)):
        for slot in slots:
            key = key_of(slot)
            if is_special(slot, tagged):
                yield key, base | {key: value(slot)}
            for path, inner in _variants(slot.body, is_special, value) if slot.body else ():
                whole: Any = [inner] if slot.array else inner
                yield f"{key}{'[0]' if slot.array else ''}.{path}", base | {key: whole}


def _bare(slot: Slot) -> Any:
    """The default of a field; that of a struct has no tagged fields."""
    if slot.kind == "struct" and not slot.array and slot.body and default_of(slot) is not None:
        return minimal(slot.body)
    return default_of(slot)


def _single(slot: Slot, number: int) -> Any:
    if slot.kind == "struct":
        return rich(slot.body, number) if slot.body else {}
    if slot.kind in INTEGERS:
        low, high = INTEGERS[slot.kind]
        # Every byte of a wide number has a value of its own, so that swapped or shifted bytes show.
        pattern = int.from_bytes(bytes((n + number) % 120 + 1 for n in range(8)), "big")
        return pattern % (high + 1) if number % 2 or low == 0 else -(pattern % high) - 1
    if slot.kind == "bool":
        return default_of(slot) is not True
    if slot.kind == "float64":
        return number + 0.25
    if slot.kind == "uuid":
        return uuid_text(bytes((n * 7 + number) % 256 for n in range(16)))
    text = f"{slot.field.name[:12]}-{number}"
    return text if slot.kind == "string" else base64_text(text.encode())
