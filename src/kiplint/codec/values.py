"""Sample values of a layout, the same every time: minimal, rich, and one for each thing that can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kiplint.codec.fast import default_of, key_of
from kiplint.codec.wire import base64_text, uuid_text
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import INTEGERS

MOST_ERROR = 100
"""Up to here every error code is one of Kafka's."""
SOME_TIME = 0x018B_CFE5_6800
"""14 November 2023 in milliseconds."""
Variant = tuple[str, dict[str, Any]]
"""The path of the field that is special, and the values of the body."""


def minimal(body: Layout) -> dict[str, Any]:
    """Every field that must be there, each with its default; no tagged ones."""
    return {key_of(slot): _bare(slot) for slot in body.slots}


def rich(body: Layout) -> dict[str, Any]:
    """Every field, tagged ones too, with a value that is neither its default nor like its neighbours'."""
    return {key_of(slot): rich_value(slot, number) for number, slot in enumerate((*body.slots, *(body.tags or ())), 1)}


def rich_value(slot: Slot, number: int = 1) -> Any:
    """A value that is not null and not the field's default; arrays have two elements."""
    if slot.array:
        return [_single(slot, number), _single(slot, number + 1)]
    value = _single(slot, number)
    return _single(slot, number + 2) if value == default_of(slot) else value


def each_rich(body: Layout) -> Iterator[Variant]:
    """For each untagged field, at every depth: the body in which it alone is rich."""
    return _variants(body, lambda slot, tagged: not tagged and (slot.array or slot.body is None), rich_value)


def each_null(body: Layout) -> Iterator[Variant]:
    """For each field that can be null, at every depth: the body in which it alone is."""
    return _variants(body, lambda slot, tagged: slot.nullable and not (tagged and default_of(slot) is None), _null)


def each_tag(body: Layout) -> Iterator[Variant]:
    """For each tagged field, at every depth: the body with that one present."""
    return _variants(body, lambda slot, tagged: tagged, rich_value)


def _variants(body: Layout, wanted: Callable[[Slot, bool], bool], value: Callable[[Slot], Any]) -> Iterator[Variant]:
    base = minimal(body)
    for slots, tagged in ((body.slots, False), (body.tags or (), True)):
        for slot in slots:
            key = key_of(slot)
            if wanted(slot, tagged):
                yield key, base | {key: value(slot)}
            for path, inner in _variants(slot.body, wanted, value) if slot.body else ():
                whole: Any = [inner] if slot.array else inner
                yield f"{key}{'[0]' if slot.array else ''}.{path}", base | {key: whole}


def _null(slot: Slot) -> None:
    return None


def _bare(slot: Slot) -> Any:
    if slot.kind == "struct" and not slot.array and slot.body and default_of(slot) is not None:
        return minimal(slot.body)
    return default_of(slot)


def _single(slot: Slot, number: int) -> Any:
    if slot.kind == "struct":
        return _struct(slot, number)
    if slot.kind in INTEGERS:
        if (known := _meant(slot, number)) is not None:
            return known
        low, high = INTEGERS[slot.kind]
        # Every byte of a wide number has a value of its own, so that swapped or shifted bytes show.
        pattern = int.from_bytes(bytes((n + number) % 120 + 1 for n in range(8)), "big")
        return pattern % (high + 1) if number % 2 or low == 0 else -(pattern % high) - 1
    if slot.kind == "bool":
        return number % 3 != 0 if default_of(slot) is not True else number % 3 == 0
    if slot.kind == "float64":
        return number + 0.25
    if slot.kind == "uuid":
        return uuid_text(bytes((n * 7 + number) % 256 for n in range(16)))
    text = f"{slot.field.name[:12]}-{number}"
    return text if slot.kind == "string" else base64_text(text.encode())


def _meant(slot: Slot, number: int) -> int | None:
    """A value for a field whose numbers many clients do not take for mere numbers: error codes and times."""
    if slot.kind == "int16" and slot.field.name.endswith("ErrorCode"):
        return number % MOST_ERROR + 1
    if slot.kind == "int64" and slot.field.name.endswith(("Ms", "Timestamp")):
        return SOME_TIME + number * 0x01010101
    return None


def _struct(slot: Slot, number: int) -> Any:
    body = slot.body
    if body is None:
        return {}
    slots = enumerate((*body.slots, *(body.tags or ())), number)
    return {key_of(one): rich_value(one, place) for place, one in slots}
