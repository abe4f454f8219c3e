"""Deterministic sample values of a layout, which proofs write to find out whether the other side can read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kiplint.codec.values import base64_text, default_of, key_of, min_value_size, uuid_text
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS

Sample = tuple[str, dict[str, Any]]
"""The path of the field that is special, or empty, and the values of the body."""
IsSpecial = Callable[[Slot, bool], bool]
"""Whether a field is to be special; the second argument says whether it is a tagged one."""


def minimal(body: Layout) -> dict[str, Any]:
    """A body without tagged fields, in which every field has its default."""
    return {key_of(slot): _minimal_value(slot) for slot in body.slots}


def _minimal_value(slot: Slot) -> Any:
    """The default of a field, without the tagged fields of a struct."""
    default = default_of(slot)
    is_struct = slot.kind == "struct" and not slot.array
    return minimal(slot.body) if is_struct and slot.body and default is not None else default


def rich(body: Layout, seed: int = 1) -> dict[str, Any]:
    """A body in which every field, tagged ones too, has a value that differs from its default and its neighbours'.

    Another `seed` makes other values.
    """
    return {key_of(slot): _rich_value(slot, field_seed) for field_seed, slot in enumerate(body.all_slots, seed)}


def _rich_value(slot: Slot, seed: int = 1) -> Any:
    """A value of a field that is not null and not the default; arrays have two elements. Another `seed` makes another.

    Kafka's reader rejects more elements than bytes are left, so an array of elements without bytes is empty.
    """
    if slot.array and not min_value_size(slot):
        return []
    if slot.array:
        return [_single_value(slot, seed), _single_value(slot, seed + 1)]
    value = _single_value(slot, seed)
    return _single_value(slot, seed + 2) if value == default_of(slot) else value


def samples(body: Layout) -> Iterator[Sample]:
    """The minimal body, one whose integers are 1, 2, 3 and so on, and minimal bodies with one special field.

    That field, at any depth, is null, or is tagged and present, or has a rich value, or its type's value in `all_bits`.
    """
    yield "", minimal(body)
    integers = (slot for slot in body.slots if slot.kind in INTEGERS and not slot.array)
    yield "", minimal(body) | {key_of(slot): number % 100 for number, slot in enumerate(integers, 1)}

    def can_write_null(slot: Slot, tagged: bool) -> bool:
        is_left_out = tagged and default_of(slot) is None  # a tagged field with its default is not written
        return slot.nullable and not is_left_out

    yield from _variants(body, can_write_null, lambda slot: None)
    yield from _variants(body, lambda slot, tagged: tagged, _rich_value)
    yield from _variants(body, lambda slot, tagged: not tagged and (slot.array or slot.body is None), _rich_value)
    all_bits: dict[str, Any] = {kind: -1 if low else high for kind, (low, high) in INTEGERS.items()}
    all_bits |= {"bool": True, "float64": -1.5, "bytes": base64_text(b"\xff"), "records": base64_text(b"\xff")}
    yield from _variants(
        body,
        lambda slot, tagged: not tagged and not slot.array and slot.kind in all_bits,
        lambda slot: all_bits[slot.kind],
    )


def _variants(body: Layout, is_special: IsSpecial, special_value: Callable[[Slot], Any]) -> Iterator[Sample]:
    """A minimal body for each field, at any depth, that is to be special, with the special value for that field."""
    base = minimal(body)
    for slots, tagged in ((body.slots, False), (body.tags or (), True)):
        for slot in slots:
            key = key_of(slot)
            if is_special(slot, tagged):
                yield key, base | {key: special_value(slot)}
            if slot.body is None:
                continue
            for path, values in _variants(slot.body, is_special, special_value):
                if slot.array:
                    yield f"{key}[0].{path}", base | {key: [values]}
                else:
                    yield f"{key}.{path}", base | {key: values}


def _single_value(slot: Slot, seed: int) -> Any:
    """A value of the type of a field, or of the elements of an array; another `seed` makes another value."""
    if slot.kind == "struct":
        return rich(slot.body, seed) if slot.body else {}
    if slot.kind in INTEGERS:
        low, high = INTEGERS[slot.kind]
        # Every byte of a wide number has a value of its own, so that swapped or shifted bytes show.
        pattern = int.from_bytes(bytes((index + seed) % 120 + 1 for index in range(8)), "big")
        is_positive = seed % 2 == 1 or low == 0
        return pattern % (high + 1) if is_positive else -(pattern % high) - 1
    if slot.kind == "bool":
        return default_of(slot) is not True
    if slot.kind == "float64":
        return seed + 0.25
    if slot.kind == "uuid":
        return uuid_text(bytes((index * 7 + seed) % 256 for index in range(16)))
    text = f"{slot.field.name[:12]}-{seed}"
    return text if slot.kind == "string" else base64_text(text.encode())
