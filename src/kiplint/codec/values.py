"""Values in JSON's terms, as Kafka's converters write them: keys, defaults, smallest sizes, and what is no number."""

from __future__ import annotations

import base64
import math
from typing import Any

from kiplint.model.fields import Field
from kiplint.model.layout import Layout, Slot
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


def key_of(slot: Slot) -> str:
    """The name that the field's value has in JSON: the schema's name with a small first letter."""
    return slot.field.java_name


def smallest_element(slot: Slot) -> int:
    """The fewest bytes that one element of an array can have; tag sections have at least one."""
    if slot.kind != "struct":
        return WIDTHS.get(slot.kind) or (1 if slot.compact else 2 if slot.kind == "string" else 4)
    return sum(map(_smallest, slot.body.slots)) + (slot.body.tags is not None) if slot.body else 0


def _smallest(slot: Slot) -> int:
    if slot.array:
        return 1 if slot.compact else 4
    return 1 if slot.kind == "struct" and slot.nullable else smallest_element(slot)


def default_of(slot: Slot) -> Any:
    """The value that a writer writes for an absent field, in JSON's terms."""
    if slot.field.defaults_to_null and slot.nullable:
        return None
    if slot.array:
        return []
    if slot.kind == "struct":
        return defaults_of(slot.body) if slot.body else {}
    return primitive_default(slot.field, slot.kind)


def defaults_of(body: Layout) -> dict[str, Any]:
    """Every field of a body with its default, tagged ones included."""
    return {key_of(slot): default_of(slot) for slot in body.all_slots}


def primitive_default(field: Field, kind: str) -> Any:
    """The default of a field or of the elements of an array, never null."""
    text = field.default
    try:
        if kind in INTEGERS:
            return int(text, 16) if text.lower().startswith("0x") else int(text or 0)
        if kind == "float64":
            return float_json(float(text.rstrip("fFdD") or 0))
    except ValueError:
        return 0
    if kind == "bool":
        return text.lower() == "true"
    if kind == "uuid":
        return text.strip("=") if len(text.strip("=")) == 22 else uuid_text(bytes(16))
    return text if kind == "string" and not field.defaults_to_null else ""


def varint(value: int) -> bytes:
    """The shortest unsigned varint of a number that is not negative."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def uuid_text(data: bytes) -> str:
    """16 bytes as Kafka shows a UUID: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data)[:22].decode()


def uuid_bytes(text: str) -> bytes:
    """The 16 bytes of a UUID in Kafka's notation; ValueError when it is none."""
    return base64.urlsafe_b64decode(text + "==")


def float_json(value: float) -> float | str:
    """A float64 as JSON can hold it: the three values that are not numbers become text."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def base64_text(data: bytes) -> str:
    """Bytes as Kafka's JSON converters show them."""
    return base64.b64encode(data).decode()


def base64_bytes(text: str) -> bytes:
    """Bytes out of base64; ValueError when the text is none."""
    return base64.b64decode(text, validate=True)
