"""Reading and writing one version of one message; compiled on first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.codec import fast
from kiplint.codec.build import build
from kiplint.codec.explain import explain
from kiplint.codec.fast import Reader, make_reader
from kiplint.codec.problems import ByteProblem, Malformed
from kiplint.codec.values import default_of, defaults_of, key_of
from kiplint.codec.wire import ELEMENTS, Decoded
from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.element import fact
from kiplint.model.layout import Layout, Slot, layout, unfolded
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES

_SHORT = 2048
"""Bytes that are read sooner without a compiled reader, if they are read once."""


class UnusableLayout(Exception):  # noqa: N818
    """The definition has no layout that bytes could have: a struct in itself, or too large unfolded."""


class Codec:
    """The bytes of one (message, version). Make one and keep it: compiling takes longer than most readings."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version
        self.title = f"{message.name} {version}"

    @fact
    def unusable(self) -> str:
        """Why the definition has no layout that bytes could have, or empty."""
        fields, depth = unfolded(self.message, UNFOLDED_FIELDS)
        if fields > UNFOLDED_FIELDS or depth > UNFOLDED_LEVELS:
            limit = UNFOLDED_FIELDS if fields > UNFOLDED_FIELDS else UNFOLDED_LEVELS
            return limit.exceeded(self.message.name)
        if self.message.cycles:
            return f"{self.message.name} has a struct that contains itself: {min(self.message.cycles.values())}"
        unknown = next(_of_unknown_type(self._layout), None)
        if unknown is None:
            return ""
        return f"{self.message.name} has the field {unknown.field.path}, whose type {unknown.field.type} is unknown"

    @fact
    def body(self) -> Layout:
        """The layout. Raises UnusableLayout."""
        if self.unusable:
            raise UnusableLayout(self.unusable)
        return self._layout

    @fact
    def _layout(self) -> Layout:
        return layout(self.message, self.version)

    @fact
    def reader(self) -> Reader:
        """The compiled reader of values in JSON's terms: base64 for bytes, text for floats that are not a number."""
        return make_reader(self.body, f"read {self.title}")

    def read(self, data: bytes) -> dict[str, Any]:
        """The values of a body that is the whole of the bytes; Malformed, without a reason, when it is not."""
        try:
            value, end = self.reader(data, 0)
        except fast.READ_FAILURES:
            raise Malformed from None
        if end != len(data):
            raise Malformed
        return value

    def decode(self, data: bytes, pos: int = 0, *, whole: bool = True, spans: bool = False) -> Decoded:
        """The values from a position on, and the problems; `whole` means that the body must end with the bytes.

        With `spans` the place of each value comes too, which takes ten times as long.
        """
        if spans:
            return explain(self.body, data, pos, whole=whole, spans=True)
        before = ELEMENTS.left
        try:
            value, end = self.reader(data, pos)
        except fast.READ_FAILURES:
            end, ELEMENTS.left = -1, before
        if end == len(data) or (not whole and 0 <= end < len(data)):
            return Decoded(value, end)
        return explain(self.body, data, pos, whole=whole, spans=False)

    def reads(self, data: bytes, pos: int) -> bool:
        """Whether the body reads from a position to the end of the bytes. It counts no elements."""
        if self.unusable:
            return False
        before = ELEMENTS.left
        try:
            if len(data) < _SHORT and "reader" not in vars(self):
                return not explain(self.body, data, pos, whole=True, spans=False).problems
            return self.reader(data, pos)[1] == len(data)
        except fast.READ_FAILURES:
            return False
        finally:
            ELEMENTS.left = before

    def write(self, value: dict[str, Any]) -> bytes:
        """The bytes of valid values. Raises Malformed."""
        data, problems = self.encode(value)
        if problems:
            raise Malformed
        return data

    def encode(self, value: Any) -> tuple[bytes, tuple[ByteProblem, ...]]:
        """The bytes of values that may leave out fields, and what is wrong with them."""
        return build(self.body, self.message, value)

    @fact
    def error_fields(self) -> ErrorFields:
        """The fields with error codes."""
        return _error_fields(self.body)

    @fact
    def defaults(self) -> dict[str, Any]:
        """Every field with its default, tagged ones included."""
        return defaults_of(self.body)


ErrorFields = tuple[tuple[str, bool, Any], ...]
"""The fields of a struct with error codes: key, whether it is an array, and for a struct its own fields, else None."""


def is_error_field(name: str) -> bool:
    """Whether an int16 field of that name is an error code."""
    return name.endswith(("errorCode", "ErrorCode"))


def _error_fields(body: Layout) -> ErrorFields:
    entries = ((slot, _error_fields(slot.body) if slot.body else None) for slot in (*body.slots, *(body.tags or ())))
    return tuple(
        (key_of(slot), slot.array, inner)
        for slot, inner in entries
        if inner or (slot.kind == "int16" and not slot.array and is_error_field(slot.field.name))
    )


def has_errors(fields: ErrorFields, value: dict[str, Any]) -> bool:
    """Whether decoded values have an error."""
    for key, is_array, inner in fields:
        content = value.get(key)
        if content and (
            inner is None
            or (any(has_errors(inner, element) for element in content) if is_array else has_errors(inner, content))
        ):
            return True
    return False


def errors_in(fields: ErrorFields, value: dict[str, Any], path: str = "") -> Iterator[tuple[str, int]]:
    """The path and code of every error in decoded values; the code 0 is none."""
    for key, is_array, inner in fields:
        content = value.get(key)
        if not content:
            continue
        if inner is None:
            yield f"{path}{key}", content
        elif is_array:
            for number, element in enumerate(content):
                yield from errors_in(inner, element, f"{path}{key}[{number}].")
        else:
            yield from errors_in(inner, content, f"{path}{key}.")


def _of_unknown_type(body: Layout) -> Iterator[Slot]:
    for slot in (*body.slots, *(body.tags or ())):
        if slot.body:
            yield from _of_unknown_type(slot.body)
        elif slot.kind not in PRIMITIVES:
            yield slot


def filled(body: Layout, value: dict[str, Any]) -> dict[str, Any]:
    """The values of a body with the default of every absent tagged field, at every depth."""
    slots = (*body.slots, *(body.tags or ()))
    slots_by_key = {key_of(slot): slot for slot in slots}
    whole = {key: _filled(slots_by_key[key], inner) if key in slots_by_key else inner for key, inner in value.items()}
    return whole | {key_of(slot): default_of(slot) for slot in body.tags or () if key_of(slot) not in whole}


def _filled(slot: Slot, value: Any) -> Any:
    if slot.body is None or value is None:
        return value
    if slot.array:
        return [filled(slot.body, element) for element in value]
    return filled(slot.body, value)
