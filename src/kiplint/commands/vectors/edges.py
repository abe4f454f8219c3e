"""Bodies on which readers fail that pass plain ones: long, extreme, null everywhere, with unknown tags."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from kiplint.codec.values import UNKNOWN_TAGS, bare, key_of, minimal, primitive_default, smallest_element
from kiplint.codec.wire import base64_text, uuid_text
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS

LONG = 127
"""The first length whose compact form, which is one more, takes a varint of two bytes. For an array it is 128."""
UNKNOWN = ({"tag": 10_000, "data": base64_text(bytes(LONG + 1))}, {"tag": 2**31 - 1, "data": ""})
"""Tags that no layout has, whose numbers and sizes are varints of one, two and five bytes."""


def each_hard(body: Layout) -> Iterator[tuple[str, dict[str, Any]]]:
    """Edge cases for readers: each a kind and a whole body.

    Each is linear in the size of the body, whose fields all have it together.
    """
    text = base64_text(b"x" * LONG)
    lowest = {kind: low for kind, (low, _) in INTEGERS.items()} | {"float64": -sys.float_info.max}
    highest = {kind: high for kind, (_, high) in INTEGERS.items()} | {"float64": sys.float_info.max}
    plain = _each_slot(body, {})
    special: dict[str, dict[str, Any]] = {
        "long": {"string": "x" * LONG, "bytes": text, "records": text},
        "utf-8": {"string": "\xe9\u20ac\U00010348\0"},
        "lowest": lowest,
        "highest": highest | {"uuid": uuid_text(b"\xff" * 16), "bool": True},
        "nan": {"float64": "NaN"},
        "infinity": {"float64": "Infinity"},
        "-infinity": {"float64": "-Infinity"},
    }
    for kind, values in special.items():
        value = _each_slot(body, values)
        if value != plain:
            yield kind, value
    yield "array-128", _each_slot(body, {}, size=LONG + 1)
    yield "nulls", _nulls(body, inside=False)
    yield "nulls-inside", _nulls(body, inside=True)
    yield "unknown-tags", _with_unknown(body)


def _each_slot(body: Layout, values: Mapping[str, Any], size: int = 1) -> dict[str, Any]:
    """Every field with the value of its kind if there is one; arrays have `size` elements, the later ones minimal."""
    return {key_of(slot): _slot_value(slot, values, size) for slot in body.all_slots}


def _slot_value(slot: Slot, values: Mapping[str, Any], size: int) -> Any:
    if slot.body:
        value: Any = _each_slot(slot.body, values, size)
        rest: Any = minimal(slot.body)
    else:
        rest = primitive_default(slot.field, slot.kind)
        value = values.get(slot.kind, rest)
    most = size if smallest_element(slot) else 1  # elements without bytes are a bomb, which readers may refuse
    return [value, *[rest] * (most - 1)] if slot.array else value


def _nulls(body: Layout, *, inside: bool) -> dict[str, Any]:
    """Null in every field that can be null; `inside` keeps structs and arrays of them, for the fields in them."""
    return {key_of(slot): _null_value(slot, inside=inside) for slot in body.all_slots}


def _null_value(slot: Slot, *, inside: bool) -> Any:
    if slot.nullable and not (inside and slot.body):
        return None
    if slot.body:
        value = _nulls(slot.body, inside=inside)
        return [value] if slot.array else value
    return [] if slot.array else primitive_default(slot.field, slot.kind)


def _with_unknown(body: Layout) -> dict[str, Any]:
    """The body with unknown tags in its own tag section and in the tag section of each struct."""
    value = {key_of(slot): _unknown_in(slot) for slot in body.slots}
    return value if body.tags is None else value | {UNKNOWN_TAGS: [*UNKNOWN]}


def _unknown_in(slot: Slot) -> Any:
    if slot.body is None:
        return bare(slot)
    value = _with_unknown(slot.body)
    return [value] if slot.array else value
