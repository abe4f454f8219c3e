"""Reading and writing one version of one message.

The reader follows a layout through bytes, and reports the position of each value and every problem.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from kiplint.codec.build import build
from kiplint.codec.values import FORMATS, UNKNOWN_TAGS, join_path, key_of, smallest_element
from kiplint.codec.wire import ByteProblem, DecodedBody, ValueSpan, base64_text, float_json, uuid_text
from kiplint.limits import EMPTY_ELEMENTS, UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.fields import Container
from kiplint.model.layout import Layout, Slot, describe, layout, unfolded_size
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES, WIDTHS
from kiplint.text.words import in_bytes

MOST_PROBLEMS = 100
"""How many problems of a message are reported."""

MOST_SPANS = 200_000
"""Of how many values of a message the position is kept: a position takes a hundred times the memory of a byte."""


class UnusableLayout(Exception):  # noqa: N818
    """The definition has no usable layout; `Codec.unusable` says why."""


class Codec:
    """The bytes of one (message, version)."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
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

    @cached_property
    def body(self) -> Layout:
        """The layout. Raises UnusableLayout."""
        if self.unusable:
            raise UnusableLayout(self.unusable)
        return self._layout

    @cached_property
    def _layout(self) -> Layout:
        return layout(self.message, self.version)

    def decode(self, data: bytes, pos: int = 0, *, whole: bool = True, spans: bool = False) -> DecodedBody:
        """The values from a position on, and the problems; `whole` means that the body must end with the bytes.

        With `spans` the position of each value comes too. Raises UnusableLayout.
        """
        reader = _ValueReader(data, pos, spans=spans)
        value: dict[str, Any] = {}
        try:
            reader.body(self.body, self.message, value, "", 0)
        except StopReading:
            is_complete = False
        else:
            is_complete = True
            if whole and reader.remaining:
                many = in_bytes(reader.remaining, "follows", "follow")
                reader.note("trailing-bytes", reader.pos, f"{many} after the end of the message", "")
        return DecodedBody(value, reader.pos, tuple(reader.problems), tuple(reader.spans), is_complete)

    def encode(self, value: dict[str, Any]) -> bytes | None:
        """The bytes of values, which may leave out fields; None where a value or a default does not fit its type.

        Raises UnusableLayout.
        """
        try:
            return build(self.body, value)
        except (ValueError, struct.error):
            return None


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


class StopReading(Exception):  # noqa: N818
    """A problem after which the start of the next value is unknown."""


class _ValueReader:
    """Reads values from the bytes between `pos` and `end`, and records their positions and problems.

    An array or object is put into the result before its elements are read. So after a stop the result has all values
    that were read before.
    """

    def __init__(self, data: bytes, pos: int, *, spans: bool) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.inside = ""
        self.empty_elements = 0
        self.spans: list[ValueSpan] = []
        self.problems: list[ByteProblem] = []
        self._keep = spans

    def note(self, rule: str, offset: int, message: str, path: str) -> None:
        """Record a problem, and continue."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(ByteProblem(f"codec/{rule}", offset, message, path or None))

    def stop(self, rule: str, offset: int, message: str, path: str) -> StopReading:
        """A problem that ends the reading, recorded; the caller raises it."""
        if len(self.problems) == MOST_PROBLEMS:
            self.problems.pop()
        self.note(rule, offset, message, path)
        return StopReading()

    def row(self, offset: int, depth: int, path: str, kind: str, value: Any) -> None:
        """Keep the position of a value, from `offset` to the present one."""
        if self._keep and len(self.spans) < MOST_SPANS:
            self.spans.append(ValueSpan(offset, self.pos - offset, depth, path, kind, value))

    @property
    def remaining(self) -> int:
        """How many bytes remain."""
        return self.end - self.pos

    def fixed(self, kind: str, path: str) -> Any:
        """A value of fixed width."""
        width, start = WIDTHS[kind], self.pos
        if self.remaining < width:
            raise self.stop("truncated", start, f"{kind} takes {in_bytes(width)}, {self._rest()}", path)
        (value,) = struct.unpack_from(">" + FORMATS[kind], self.data, start)
        self.pos += width
        if kind == "bool":
            if value > 1:
                self.note("boolean-invalid", start, f"the byte of a boolean is {value}, neither 0 nor 1", path)
            return value != 0
        return uuid_text(value) if kind == "uuid" else float_json(value) if kind == "float64" else value

    def _rest(self) -> str:
        return (f"{self.remaining} are left" if self.remaining else "none is left") + self.inside

    def varint(self, what: str, path: str) -> int:
        """An unsigned varint of at most 32 bits."""
        start, value = self.pos, 0
        for shift in range(0, 35, 7):
            if not self.remaining:
                raise self.stop("truncated", start, f"the bytes end inside {what}{self.inside}", path)
            byte = self.data[self.pos]
            self.pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    self.note("varint-overlong", start, f"{what} is {value}, written in {shift // 7 + 1} bytes", path)
                if value > 0xFFFFFFFF:
                    break
                return value
        raise self.stop("varint-too-large", start, f"{what} is a varint above 32 bits", path)

    def length(self, compact: bool, wide: bool, what: str, path: str) -> int:
        """A length or count, -1 for null; it is not compared with what is left."""
        start = self.pos
        if compact:
            return self.varint(what, path) - 1
        value = int(self.fixed("int32" if wide else "int16", path))
        if value < -1:
            raise self.stop("length-negative", start, f"{what} is {value}", path)
        return value

    def take(self, size: int, start: int, what: str, path: str) -> bytes:
        """The next bytes; `start` is where their length stands."""
        if size > self.remaining:
            raise self.stop("length-beyond-end", start, f"{what} is {size}, {self._rest()}", path)
        chunk = self.data[self.pos : self.pos + size]
        self.pos += size
        return chunk

    def body(self, body: Layout, container: Container, out: dict[str, Any], path: str, depth: int) -> None:
        for slot in body.slots:
            self.slot(slot, out, key_of(slot), join_path(path, key_of(slot)), depth)
        if body.tags is not None:
            self.tags(body.tags, container, out, path, depth)

    def slot(self, slot: Slot, out: Any, key: Any, path: str, depth: int) -> None:
        """Read one field and put it under `key`."""
        if slot.array:
            self.array(slot, out, key, path, depth)
        elif slot.kind == "struct":
            self.struct(slot, out, key, path, depth)
        else:
            out[key] = self.primitive(slot.kind, slot.compact, slot.nullable, path, depth, describe(slot))

    def struct(self, slot: Slot, out: Any, key: Any, path: str, depth: int) -> None:
        start = self.pos
        if slot.nullable:
            marker = int(self.fixed("int8", path))
            if marker not in (1, -1):
                message = f"the marker of a nullable struct is {marker}, neither 1 nor -1"
                self.note("marker-invalid", start, message, path)
            if marker < 0:
                out[key] = None
                self.row(start, depth, path, describe(slot), None)
                return
        self.row(start, depth, path, describe(slot), {})
        out[key] = {}
        self.element(slot, out[key], path, depth + 1)

    def element(self, slot: Slot, out: dict[str, Any], path: str, depth: int) -> None:
        if slot.body is None or slot.field.struct is None:
            raise RecursionError(slot.field.path)
        self.body(slot.body, slot.field.struct, out, path, depth)

    def primitive(self, kind: str, compact: bool, nullable: bool, path: str, depth: int, words: str) -> Any:
        start = self.pos
        value = self.fixed(kind, path) if kind in WIDTHS else self.sized(kind, compact, nullable, path)
        self.row(start, depth, path, words, value)
        return value

    def sized(self, kind: str, compact: bool, nullable: bool, path: str) -> str | None:
        start, what = self.pos, f"the length of the {kind}"
        size = self.length(compact, kind != "string", what, path)
        if size < 0:
            self.null(nullable, start, path)
            return None
        chunk = self.take(size, start, what, path)
        if kind != "string":
            return base64_text(chunk)
        try:
            return chunk.decode()
        except UnicodeDecodeError as error:
            offset = self.pos - size + error.start
            self.note("utf8-invalid", offset, f"the string has the byte 0x{chunk[error.start]:02x}, not UTF-8", path)
            return chunk.decode(errors="replace")

    def null(self, nullable: bool, start: int, path: str) -> None:
        if not nullable:
            self.note("null-not-allowed", start, "null stands here, which this version does not allow", path)

    def array(self, slot: Slot, out: Any, key: Any, path: str, depth: int) -> None:
        start, what = self.pos, "the count of elements"
        count = self.length(slot.compact, wide=True, what=what, path=path)
        out[key] = None if count < 0 else []
        self.row(start, depth, path, describe(slot), None if count < 0 else count)
        if count < 0:
            self.null(slot.nullable, start, path)
            return
        least = smallest_element(slot)
        self.empty_elements += 0 if least else count
        if self.empty_elements > EMPTY_ELEMENTS:
            message = f"{what} is {count}, each without bytes; {EMPTY_ELEMENTS} are read at most"
            raise self.stop("too-many-elements", start, message, path)
        if least * count > self.remaining:
            message = f"{what} is {count}, each of {least} or more bytes; {self.remaining} are left{self.inside}"
            raise self.stop("length-beyond-end", start, message, path)
        self.elements(slot, count, out[key], path, depth)

    def elements(self, slot: Slot, count: int, out: list[Any], path: str, depth: int) -> None:
        for index in range(count):
            inner = f"{path}[{index}]"
            if slot.kind == "struct":
                self.row(self.pos, depth + 1, inner, slot.field.element_type, {})
                out.append({})
                self.element(slot, out[index], inner, depth + 2)
            else:
                out.append(self.primitive(slot.kind, slot.compact, False, inner, depth + 1, slot.kind))

    def tags(
        self, tagged_slots: tuple[Slot, ...], container: Container, out: dict[str, Any], path: str, depth: int
    ) -> None:
        """Read a tag section; as Kafka's reader does, refuse a tag that the container has in other versions only."""
        start, slots = self.pos, {slot.field.tag: slot for slot in tagged_slots}
        count = self.varint("the count of tagged fields", path)
        self.row(start, depth, path, "tag section", count)
        tags: set[int] = set()
        before = -1
        for _ in range(count):
            start = self.pos
            tag = self.varint("the tag", path)
            size = self.varint("the size of the tagged field", path)
            if tag in tags:
                self.note("tag-duplicate", start, f"tag {tag} stands twice", path)
            elif tag < before:
                self.note("tag-order", start, f"tag {tag} follows tag {before}", path)
            elif tag not in slots and (other := next((item for item in container.fields if item.tag == tag), None)):
                versions = other.tagged & other.versions
                message = f"tag {tag} is {other.name} in versions {versions}, not in this one"
                self.note("tag-version", start, message, path)
            tags.add(tag)
            before = max(before, tag)
            self.tagged(tag, size, slots.get(tag), out, path, depth + 1, start)

    def tagged(self, tag: int, size: int, slot: Slot | None, out: Any, path: str, depth: int, start: int) -> None:
        """Read the value of one tag, which must fill its size."""
        if size > self.remaining:
            message = f"tag {tag} has {in_bytes(size)}, {self.remaining} are left{self.inside}"
            raise self.stop("length-beyond-end", start, message, path)
        self.row(start, depth, path, f"tag {tag}", size)
        if slot is None:
            data = base64_text(self.take(size, start, f"the size of tag {tag}", path))
            out.setdefault(UNKNOWN_TAGS, []).append({"tag": tag, "data": data})
            self.row(self.pos - size, depth + 1, join_path(path, UNKNOWN_TAGS), "unknown tagged field", data)
            return
        outer, self.end = (self.end, self.inside), self.pos + size
        self.inside = f" inside tag {tag}"
        self.slot(slot, out, key_of(slot), join_path(path, key_of(slot)), depth + 1)
        if self.remaining:
            message = f"tag {tag} has {in_bytes(size)}, its value ends {self.remaining} before that"
            self.note("tag-size", self.pos, message, join_path(path, key_of(slot)))
            self.pos = self.end
        self.end, self.inside = outer
