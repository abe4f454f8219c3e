"""How a layout becomes plain values: names, smallest sizes, and what stands where nothing was given."""

from __future__ import annotations

from typing import Any

from kiplint.codec.wire import uuid_text
from kiplint.model.field import Field
from kiplint.model.layout import Body, Slot
from kiplint.model.types import INTEGERS, WIDTHS

UNKNOWN_TAGS = "_unknownTaggedFields"
"""The key under which tags that the layout does not know are kept; no field can have this name."""
FORMATS = {
    "bool": "B",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""The code of each fixed-width type in Python's `struct`."""
ZERO_UUID = uuid_text(bytes(16))


def key_of(slot: Slot) -> str:
    """The name that the field's value has in JSON: the schema's name with a small first letter."""
    return slot.field.java_name


def smallest(slot: Slot) -> int:
    """The fewest bytes that a value can have."""
    if slot.array or slot.kind not in WIDTHS:
        if slot.kind == "struct" and not slot.array:
            return 1 if slot.nullable else smallest_body(slot.body)
        return 1 if slot.compact else 2 if slot.kind == "string" and not slot.array else 4
    return WIDTHS[slot.kind]


def smallest_body(body: Body | None) -> int:
    """The fewest bytes that the fields of a struct can have; tag sections have at least one."""
    if body is None:
        return 0
    return sum(map(smallest, body.slots)) + (body.tags is not None)


def smallest_element(slot: Slot) -> int:
    """The fewest bytes that one element of an array can have."""
    if slot.kind == "struct":
        return smallest_body(slot.body)
    return WIDTHS.get(slot.kind) or (1 if slot.compact else 2 if slot.kind == "string" else 4)


def default_of(slot: Slot) -> Any:
    """The value that a writer puts where none is given, in JSON's terms."""
    if slot.field.defaults_to_null and slot.nullable:
        return None
    if slot.array:
        return []
    if slot.kind == "struct":
        return defaults_of(slot.body) if slot.body else {}
    return _primitive_default(slot.field, slot.kind)


def defaults_of(body: Body) -> dict[str, Any]:
    """Every field of a body with its default, tagged ones included."""
    return {key_of(slot): default_of(slot) for slot in (*body.slots, *(body.tags or ()))}


def _primitive_default(field: Field, kind: str) -> Any:
    text = field.default
    if kind in INTEGERS:
        return _integer(text)
    if kind == "bool":
        return text.lower() == "true"
    if kind == "float64":
        return _float(text)
    if kind == "uuid":
        return text.strip("=") if len(text.strip("=")) == 22 else ZERO_UUID
    return text if kind == "string" and not field.defaults_to_null else ""


def _integer(text: str) -> int:
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(text or 0)
    except ValueError:
        return 0


def _float(text: str) -> Any:
    from kiplint.codec.wire import float_json

    try:
        return float_json(float(text.rstrip("fFdD") or 0))
    except ValueError:
        return 0.0
