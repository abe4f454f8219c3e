"""The writer of a layout: what a value leaves out gets its default, as in Kafka's classes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

from kiplint.codec.values import FORMATS, UNKNOWN_TAGS, default_of, key_of
from kiplint.codec.wire import base64_bytes, float_of, uuid_bytes, varint
from kiplint.model.layout import Layout, Slot

_PACK: Final = {kind: struct.Struct(">" + code).pack for kind, code in FORMATS.items()}
_LENGTHS: Final = {"string": "h"}
"""The format of the length of what is not compact; all but strings have four bytes."""


def build(body: Layout, value: dict[str, Any]) -> bytes:
    """The bytes of a value of the layout. Raises ValueError and struct.error for what a type cannot hold."""
    out = bytearray()
    _write_body(out, body, value)
    return bytes(out)


def _write_body(out: bytearray, body: Layout, value: dict[str, Any]) -> None:
    for slot in body.slots:
        key = key_of(slot)
        _write_slot(out, slot, value[key] if key in value else default_of(slot))
    if body.tags is not None:
        _write_tags(out, body.tags, value)


def _write_slot(out: bytearray, slot: Slot, value: Any) -> None:
    if slot.array:
        _write_length(out, None if value is None else len(value), slot.compact, "i")
        for element in value or ():
            _write_element(out, slot, element, nullable=False)
        return
    if slot.kind == "struct" and slot.nullable:
        out += b"\xff" if value is None else b"\x01"
    _write_element(out, slot, value, nullable=slot.nullable)


def _write_element(out: bytearray, slot: Slot, value: Any, *, nullable: bool) -> None:
    if value is None and not nullable:
        raise ValueError(f"{slot.field.path} is null")
    if slot.body:
        if value is not None:
            _write_body(out, slot.body, value)
    elif slot.kind in FORMATS:
        prepare = {"uuid": uuid_bytes, "float64": float_of}.get(slot.kind)
        out += _PACK[slot.kind](prepare(value) if prepare else value)
    else:
        data = None if value is None else value.encode() if slot.kind == "string" else base64_bytes(value)
        _write_length(out, None if data is None else len(data), slot.compact, _LENGTHS.get(slot.kind, "i"))
        out += data or b""


def _write_length(out: bytearray, length: int | None, compact: bool, code: str) -> None:
    """Write a length or a count; None stands for null."""
    size = -1 if length is None else length
    out += varint(size + 1) if compact else struct.pack(">" + code, size)


def _write_tags(out: bytearray, tagged_slots: Iterable[Slot], value: dict[str, Any]) -> None:
    """Write the tag section: own tags that do not have their default, and unknown ones, by number."""
    sections = {entry["tag"]: base64_bytes(entry["data"]) for entry in value.get(UNKNOWN_TAGS, ())}
    for slot in tagged_slots:
        key = key_of(slot)
        if key in value and value[key] != default_of(slot):
            section = bytearray()
            _write_slot(section, slot, value[key])
            sections[slot.field.tag or 0] = bytes(section)
    out += varint(len(sections))
    for tag, data in sorted(sections.items()):
        out += varint(tag) + varint(len(data)) + data
