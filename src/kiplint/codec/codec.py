"""Reading and writing one version of one message; compiled on first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.codec import fast
from kiplint.codec.build import build
from kiplint.codec.explain import explain
from kiplint.codec.fast import Reader, make_reader
from kiplint.codec.problems import ByteProblem, Malformed
from kiplint.codec.values import default_of, key_of
from kiplint.codec.wire import ELEMENTS, DecodedBody
from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.element import fact
from kiplint.model.layout import Layout, layout, unfolded_size
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES

_SHORT = 2048
"""Bytes that are read sooner without a compiled reader, if they are read once."""


class UnusableLayout(Exception):  # noqa: N818
    """The definition has no usable layout; `Codec.unusable` says why."""


class Codec:
    """The bytes of one (message, version). Make one and keep it: compiling takes longer than most readings."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version
        self.title = f"{message.name} {version}"

    @fact
    def unusable(self) -> str:
        """Why the definition has no layout that bytes could have, or empty."""
        fields, depth = unfolded_size(self.message, UNFOLDED_FIELDS)
        if fields > UNFOLDED_FIELDS or depth > UNFOLDED_LEVELS:
            limit = UNFOLDED_FIELDS if fields > UNFOLDED_FIELDS else UNFOLDED_LEVELS
            return limit.exceeded(self.message.name)
        if self.message.cycles:
            return f"{self.message.name} has a struct that contains itself: {min(self.message.cycles.values())}"
        reason = next(_unusable(self._layout), "")
        return f"{self.message.name} has the field {reason}" if reason else ""

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

    def decode(self, data: bytes, pos: int = 0, *, whole: bool = True, spans: bool = False) -> DecodedBody:
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
            return DecodedBody(value, end)
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

    def encode(self, value: Any) -> tuple[bytes, tuple[ByteProblem, ...]]:
        """The bytes of values that may leave out fields, and what is wrong with them."""
        return build(self.body, self.message, value)

    @fact
    def error_fields(self) -> ErrorFields:
        """The fields with error codes."""
        return _error_fields(self.body)


ErrorFields = tuple[tuple[str, bool, Any], ...]
"""The fields of a struct with error codes: key, whether it is an array, and for a struct its own fields, else None."""


def is_error_field(name: str) -> bool:
    """Whether an int16 field of that name is an error code."""
    return name.endswith(("errorCode", "ErrorCode"))


def _error_fields(body: Layout) -> ErrorFields:
    entries = ((slot, _error_fields(slot.body) if slot.body else None) for slot in body.all_slots)
    return tuple(
        (key_of(slot), slot.array, inner)
        for slot, inner in entries
        if inner or (slot.kind == "int16" and not slot.array and is_error_field(slot.field.name))
    )


def errors_in(fields: ErrorFields, value: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The path and code of every error in decoded values; the code 0 is none."""
    for key, is_array, inner in fields:
        content = value.get(key)
        if content and inner is None:
            yield key, content
        elif content:
            for place, element in enumerate(content if is_array else [content]):
                for path, code in errors_in(inner, element):
                    yield f"{key}{f'[{place}]' if is_array else ''}.{path}", code


def _unusable(body: Layout) -> Iterator[str]:
    """For each field that cannot be encoded, its path and the reason."""
    for slot in body.all_slots:
        if slot.body:
            yield from _unusable(slot.body)
        elif slot.kind not in PRIMITIVES:
            yield f"{slot.field.path}, whose type {slot.field.type} is unknown"
    for slot in body.tags or ():
        if (slot.field.tag or 0) < 0:
            yield f"{slot.field.path}, whose tag {slot.field.tag} is negative"


def fill_defaults(body: Layout, value: dict[str, Any]) -> dict[str, Any]:
    """The values of a body with the default of every absent tagged field, at every depth."""
    whole = dict(value)
    for slot in body.all_slots:
        content = value.get(key_of(slot))
        if slot.body and content is not None:
            whole[key_of(slot)] = (
                [fill_defaults(slot.body, element) for element in content]
                if slot.array
                else fill_defaults(slot.body, content)
            )
    for slot in body.tags or ():
        whole.setdefault(key_of(slot), default_of(slot))
    return whole
