"""The values of a layout in JSON's terms: their keys, defaults and smallest sizes, and samples, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kiplint.codec.wire import base64_text, float_json, uuid_text
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
ZERO_UUID = uuid_text(bytes(16))


def key_of(slot: Slot) -> str:
    """The name that the field's value has in JSON: the schema's name with a small first letter."""
    return slot.field.java_name


def join_path(path: str, name: str) -> str:
    """The path of a value in a struct: that of the struct, which is empty for a body, and the name of the value."""
    return f"{path}.{name}" if path else name


def smallest_body(body: Layout | None) -> int:
    """The fewest bytes that the fields of a struct can have; tag sections have at least one."""
    if body is None:
        return 0
    return sum(map(_smallest, body.slots)) + (body.tags is not None)


def _smallest(slot: Slot) -> int:
    if slot.array:
        return 1 if slot.compact else 4
    return 1 if slot.kind == "struct" and slot.nullable else smallest_element(slot)


def smallest_element(slot: Slot) -> int:
    """The fewest bytes that one element of an array can have."""
    if slot.kind == "struct":
        return smallest_body(slot.body)
    return WIDTHS.get(slot.kind) or (1 if slot.compact else 2 if slot.kind == "string" else 4)


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
    try:
        return float_json(float(text.rstrip("fFdD") or 0))
    except ValueError:
        return 0.0


MOST_ERROR = 100
"""Every error code up to this exists in Kafka."""
SOME_TIME = 0x018B_CFE5_6800
"""14 November 2023 in milliseconds."""
Variant = tuple[str, dict[str, Any]]
IsSpecial = Callable[[Slot, bool], bool]
"""The path of the field that is special, and the values of the body."""


def minimal(body: Layout) -> dict[str, Any]:
    """Every field that must be there, each with its default; no tagged ones."""
    return {key_of(slot): bare(slot) for slot in body.slots}


def rich(body: Layout, number: int = 1) -> dict[str, Any]:
    """Every field, tagged ones too, with a value that is neither its default nor like its neighbours'."""
    return {key_of(slot): rich_value(slot, at) for at, slot in enumerate(body.all_slots, number)}


def rich_value(slot: Slot, number: int = 1) -> Any:
    """A value that is not null and not the field's default; arrays have two elements.

    Kafka's reader refuses more elements than bytes are left, so an array of elements without bytes is empty.
    """
    if slot.array and not smallest_element(slot):
        return []
    if slot.array:
        return [_single(slot, number), _single(slot, number + 1)]
    value = _single(slot, number)
    return _single(slot, number + 2) if value == default_of(slot) else value


def each_rich(body: Layout) -> Iterator[Variant]:
    """For each untagged field, at every depth: the body in which only it is rich."""
    return _variants(body, lambda slot, tagged: not tagged and (slot.array or slot.body is None), rich_value)


def each_high(body: Layout) -> Iterator[Variant]:
    """For each number, boolean and byte string, at every depth: the body in which all its bits are set."""
    highs: dict[str, Any] = {kind: -1 if low else high for kind, (low, high) in INTEGERS.items()}
    highs |= {"bool": True, "float64": -1.5, "bytes": base64_text(b"\xff"), "records": base64_text(b"\xff")}
    return _variants(
        body,
        lambda slot, tagged: not tagged and not slot.array and slot.kind in highs,
        lambda slot: highs[slot.kind],
    )


def number_values(body: Layout) -> dict[str, Any]:
    """The minimal body, whose numbers are 1, 2, 3 and so on."""
    slots = (slot for slot in body.slots if slot.kind in INTEGERS and not slot.array)
    return minimal(body) | {key_of(slot): number % 100 for number, slot in enumerate(slots, 1)}


def each_null(body: Layout) -> Iterator[Variant]:
    """For each field that can be null, at every depth: the body in which only it is null."""
    return _variants(
        body,
        lambda slot, tagged: slot.nullable and not (tagged and default_of(slot) is None),
        lambda slot: None,
    )


def each_tag(body: Layout) -> Iterator[Variant]:
    """For each tagged field, at every depth: the body in which it is present."""
    return _variants(body, lambda slot, tagged: tagged, rich_value)


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


def bare(slot: Slot) -> Any:
    """The default of a field; that of a struct has no tagged fields."""
    if slot.kind == "struct" and not slot.array and slot.body and default_of(slot) is not None:
        return minimal(slot.body)
    return default_of(slot)


def _single(slot: Slot, number: int) -> Any:
    if slot.kind == "struct":
        return rich(slot.body, number) if slot.body else {}
    if slot.kind in INTEGERS:
        if (value := _choose_number(slot, number)) is not None:
            return value
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


def _choose_number(slot: Slot, number: int) -> int | None:
    """A valid error code or time for a field of that kind, as many clients convert these; None for other fields."""
    if slot.kind == "int16" and slot.field.name.endswith("ErrorCode"):
        return number % MOST_ERROR + 1
    if slot.kind == "int64" and slot.field.name.endswith(("Ms", "Timestamp")):
        return SOME_TIME + number * 0x01010101
    return None
