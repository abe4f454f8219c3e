"""The writer: fills in what a value leaves out, as Kafka's classes do, and reports every problem of the value."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from kiplint.codec.values import FORMATS, UNKNOWN_TAGS, default_of, join_path, key_of
from kiplint.codec.wire import ByteProblem, as_bytes, as_float, uuid_bytes, varint
from kiplint.model import layout
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS
from kiplint.text.words import did_you_mean

PACK = {kind: struct.Struct(">" + code).pack for kind, code in FORMATS.items()}


def build(body: Layout, container: Container, value: Any) -> tuple[bytes, tuple[ByteProblem, ...]]:
    """The bytes of a value, and what is wrong with it; without problems the bytes are right. Never raises.

    What is left out gets its default. A field that the version does not have may be there when it has its default or
    is ignorable. `container` is the message (or struct) that the layout was made of.
    """
    builder = _Builder()
    builder.body(body, container, value, "")
    return bytes(builder.out), tuple(builder.problems)


class _Builder:
    def __init__(self) -> None:
        self.out = bytearray()
        self.problems: list[ByteProblem] = []

    def note(self, rule: str, message: str, path: str) -> None:
        self.problems.append(ByteProblem(f"codec/{rule}", len(self.out), message, path or None))

    def body(self, body: Layout, container: Container, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            self.note("value-invalid", f"{path or 'the value'} is {_kind(value)}, not an object", path)
            return
        count = 0
        for slot in body.slots:
            key = key_of(slot)
            if key in value:
                count += 1
                self.slot(slot, value[key], join_path(path, key))
            else:
                self.slot(slot, default_of(slot), join_path(path, key))
        if len(value) > count:
            keys = {key_of(slot) for slot in body.all_slots}
            self.other_keys(keys, container, value, path, flexible=body.tags is not None)
        if body.tags is not None:
            self.tags(body.tags, value, path)

    def other_keys(self, present: set[str], container: Container, value: Any, path: str, *, flexible: bool) -> None:
        """Check the keys that are not fields of the version."""
        others = {field.java_name: field for field in container.fields}
        for key, inner in value.items():
            if key in present or (key == UNKNOWN_TAGS and flexible):
                continue
            if key not in others:
                hint = did_you_mean(str(key), sorted(others))
                self.note("unknown-field", f"{container.name} has no field {key}{hint}", join_path(path, str(key)))
            elif not others[key].ignorable and inner != _absent(others[key]):
                message = f"{key} exists in versions {others[key].versions} and is not ignorable"
                self.note("field-not-in-version", message, join_path(path, key))

    def slot(self, slot: Slot, value: Any, path: str) -> None:
        if slot.array:
            self.array(slot, value, path)
        elif slot.kind == "struct":
            self.struct(slot, value, path)
        elif slot.kind in FORMATS:
            self.fixed(slot.kind, value, path)
        else:
            self.sized(slot.kind, slot.compact, slot.nullable, value, path)

    def struct(self, slot: Slot, value: Any, path: str) -> None:
        if slot.nullable:
            self.out += b"\xff" if value is None else b"\x01"
            if value is None:
                return
        self.element(slot, value, path)

    def element(self, slot: Slot, value: Any, path: str) -> None:
        if slot.body is None or slot.field.struct is None:
            raise RecursionError(slot.field.path)
        if value is None:
            self.note("null-not-allowed", f"{path} is null, which this version does not allow", path)
        else:
            self.body(slot.body, slot.field.struct, value, path)

    def fixed(self, kind: str, value: Any, path: str) -> None:
        try:
            self.out += PACK[kind](value if value.__class__ is int and kind in INTEGERS else _prepare(kind, value))
        except (ValueError, struct.error):
            limits = f" ({INTEGERS[kind][0]}..{INTEGERS[kind][1]})" if kind in INTEGERS else ""
            self.note("value-invalid", f"{path} is {_quote(value)}, no {kind}{limits}", path)

    def sized(self, kind: str, compact: bool, nullable: bool, value: Any, path: str) -> None:
        if value is None:
            self.null(nullable, compact, "h" if kind == "string" else "i", path)
            return
        try:
            data = _text(value) if kind == "string" else as_bytes(value)
        except ValueError:
            what = "Unicode text" if kind == "string" else "base64"
            self.note("value-invalid", f"{path} is {_quote(value)}, not {what}", path)
            return
        if self.length(len(data), compact, "h" if kind == "string" else "i", path):
            self.out += data

    def null(self, nullable: bool, compact: bool, code: str, path: str) -> None:
        if not nullable:
            self.note("null-not-allowed", f"{path} is null, which this version does not allow", path)
        self.out += b"\0" if compact else struct.pack(">" + code, -1)

    def length(self, size: int, compact: bool, code: str, path: str) -> bool:
        most = 2**31 - 2 if compact or code == "i" else 2**15 - 1
        if size > most:
            self.note("value-invalid", f"{path} has {size} bytes; {most} are the most", path)
            return False
        self.out += varint(size + 1) if compact else struct.pack(">" + code, size)
        return True

    def array(self, slot: Slot, value: Any, path: str) -> None:
        if value is None:
            self.null(slot.nullable, slot.compact, "i", path)
            return
        if not isinstance(value, list):
            self.note("value-invalid", f"{path} is {_kind(value)}, not an array", path)
            return
        self.length(len(value), slot.compact, "i", path)
        for index, element in enumerate(value):
            inner = f"{path}[{index}]"
            if slot.kind == "struct":
                self.element(slot, element, inner)
            elif slot.kind in FORMATS:
                self.fixed(slot.kind, element, inner)
            else:
                self.sized(slot.kind, slot.compact, False, element, inner)

    def tags(self, tagged_slots: Iterable[Slot], value: dict[str, Any], path: str) -> None:
        """Write the tag section: own tags that do not have their default, and unknown ones, by number."""
        slots = {slot.field.tag or 0: slot for slot in tagged_slots}
        sections = self.unknown_tags(set(slots), value.get(UNKNOWN_TAGS) or [], path)
        for tag, slot in slots.items():
            key = key_of(slot)
            if key in value and value[key] != default_of(slot):
                outer, self.out = self.out, bytearray()
                self.slot(slot, value[key], join_path(path, key))
                sections[tag], self.out = bytes(self.out), outer
        self.out += varint(len(sections))
        for tag, data in sorted(sections.items()):
            self.out += varint(tag) + varint(len(data)) + data

    def unknown_tags(self, own_tags: set[int], entries: Any, path: str) -> dict[int, bytes]:
        sections: dict[int, bytes] = {}
        inner = join_path(path, UNKNOWN_TAGS)
        for entry in entries if isinstance(entries, list) else [entries]:
            tag = entry.get("tag") if isinstance(entry, dict) else None
            if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= 0x7FFFFFFF:
                self.note("value-invalid", f'{inner} has {_quote(entry)}, not {{"tag": number, "data": base64}}', inner)
            elif tag in own_tags:
                self.note("value-invalid", f"{inner} has tag {tag}, which this version knows", inner)
            elif tag in sections:
                self.note("tag-duplicate", f"{inner} has tag {tag} twice", inner)
            else:
                try:
                    sections[tag] = as_bytes(entry.get("data"))
                except ValueError:
                    self.note("value-invalid", f"{inner}: the data of tag {tag} is not base64", inner)
        return sections


def _prepare(kind: str, value: Any) -> Any:
    if kind == "uuid":
        return uuid_bytes(value)
    if kind == "float64":
        return as_float(value)
    if value.__class__ is not (bool if kind == "bool" else int):
        raise ValueError(value)
    return value


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError(value)
    return value.encode()


def _absent(field: Field) -> Any:
    """The default that a value may have for a field that the version does not have."""
    version = field.versions.lowest
    return default_of(layout.slot(field, version, version in field.message.flexible)) if version >= 0 else None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _quote(value: Any) -> str:
    text = "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
