"""Values in JSON's terms, as Kafka's JSON converters write them: their keys, defaults and texts, and their sizes."""

from __future__ import annotations

import base64
import math
from typing import Any

from kiplint.model.fields import Field
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS, WIDTHS

UNKNOWN_TAGS = "_unknownTaggedFields"
"""The key for tags that the layout does not define; no field can have this name."""
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
    """The key of a field's value in JSON: the field's name with a lowercase first letter, as in Java."""
    return slot.field.java_name


def min_value_size(slot: Slot) -> int:
    """The minimum size in bytes of one value of a field; in an array, of one element."""
    if slot.kind == "struct":
        tag_section = 1 if slot.body and slot.body.tags is not None else 0
        return tag_section + sum(_min_field_size(field_slot) for field_slot in (slot.body.slots if slot.body else ()))
    if slot.kind in WIDTHS:
        return WIDTHS[slot.kind]
    length_width = 2 if slot.kind == "string" else 4
    return 1 if slot.compact else length_width


def _min_field_size(slot: Slot) -> int:
    """The minimum size in bytes of a field: an empty array has only a count, and a null struct only a marker."""
    if slot.array:
        return 1 if slot.compact else 4
    return 1 if slot.kind == "struct" and slot.nullable else min_value_size(slot)


def default_of(slot: Slot) -> Any:
    """The value, in JSON's terms, that is written for a field that has none."""
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
    """The default of a field of the type `kind`, never null; 0 for a default that is not a number of that type."""
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
        uuid = text.strip("=")
        return uuid if len(uuid) == 22 else uuid_text(bytes(16))
    return text if kind == "string" and not field.defaults_to_null else ""


def varint(value: int) -> bytes:
    """The unsigned varint of a number: seven bits a byte, lowest first, with the high bit set in all but the last."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def in_bytes(number: int) -> str:
    """A number of bytes in words, without a comma, as offsets are written: `1 byte`, `2000 bytes`."""
    return f"{number} byte" if number == 1 else f"{number} bytes"


def uuid_text(data: bytes) -> str:
    """16 bytes as Kafka shows a UUID: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data)[:22].decode()


def uuid_bytes(text: str) -> bytes:
    """The bytes of a UUID in base64 without padding, as `uuid_text` gives it; raises ValueError for other text."""
    return base64.urlsafe_b64decode(text + "==")


def float_json(value: float) -> float | str:
    """A float64 as a JSON value: not a number and the infinities become `NaN`, `Infinity` and `-Infinity`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def base64_text(data: bytes) -> str:
    """Bytes in base64, as Kafka's JSON converters write them."""
    return base64.b64encode(data).decode()


def base64_bytes(text: str) -> bytes:
    """The bytes of a text in base64; raises ValueError for any other text."""
    return base64.b64decode(text, validate=True)
