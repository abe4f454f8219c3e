"""Reading and writing one version of one message.

The reader follows a layout through bytes, and reports the position of each value and every problem. The writer uses the
default of whatever a value omits, as Kafka's classes do.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from kiplint.codec.problems import ByteProblem, byte_problem
from kiplint.codec.values import (
    FORMATS,
    UNKNOWN_TAGS,
    base64_bytes,
    base64_text,
    default_of,
    float_json,
    in_bytes,
    key_of,
    min_value_size,
    uuid_bytes,
    uuid_text,
    varint,
)
from kiplint.limits import EMPTY_ELEMENTS, UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot, describe, layout, unfolded_size
from kiplint.model.message import Message
from kiplint.model.types import INTEGERS, PRIMITIVES, WIDTHS

MOST_PROBLEMS = 100
"""The number of errors after which the reading of a message ends, and of the warnings that are reported."""


NULL, NULL_IN_TAG, PRESENT = -1, 0, 1
"""The markers of a nullable struct (KIP-893): an int8, or an unsigned varint in a tagged field."""


class ValueSpan(msgspec.Struct, frozen=True):
    """The position of a value, or of the length, count or marker in front of others, in bytes of the input.

    `path` has the names of the values in JSON with indexes; `type` is the encoding in words.
    """

    offset: int
    length: int
    path: str
    type: str
    value: Any


class DecodedBody(msgspec.Struct, frozen=True):
    """The values of a body, as far as they could be read, where it ends, and what is wrong with it.

    `spans` are the positions of the values, if the caller requested them. The body `is_complete` unless a problem ended
    the reading before its last field.
    """

    value: dict[str, Any]
    end: int
    problems: tuple[ByteProblem, ...]
    spans: tuple[ValueSpan, ...]
    is_complete: bool


class UnusableLayout(Exception):  # noqa: N818
    """The definition has no usable layout; `Codec.unusable` has the reason."""


class Codec:
    """Reads and writes the bodies of one (message, version)."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def unusable(self) -> str:
        """Why the definition has no usable layout; empty if it has one."""
        field_count, depth = unfolded_size(self.message, UNFOLDED_FIELDS)
        if field_count > UNFOLDED_FIELDS:
            return UNFOLDED_FIELDS.exceeded(self.message.name)
        if depth > UNFOLDED_LEVELS:
            return UNFOLDED_LEVELS.exceeded(self.message.name)
        field = next(_fields_without_layout(self._layout), None)
        if field is None:
            return ""
        return f"{self.message.name} has the field {field.path}, whose type {field.type} is unknown or contains itself"

    @cached_property
    def _layout(self) -> Layout:
        """The layout, whether it is usable or not."""
        return layout(self.message, self.version)

    @property
    def body(self) -> Layout:
        """The layout. Raises UnusableLayout."""
        if self.unusable:
            raise UnusableLayout(self.unusable)
        return self._layout

    def decode(self, data: bytes, pos: int = 0, *, whole: bool = True, spans: bool = False) -> DecodedBody:
        """The values of a body that begins at the offset `pos`, and the problems of its bytes.

        `whole` means that the body must end where `data` ends; that is false for a header, which a body follows. With
        `spans` the position of each value is recorded as well. Raises UnusableLayout.
        """
        reader = _ValueReader(data, pos, spans=spans)
        value: dict[str, Any] = {}
        is_complete = False
        try:
            reader.body(self.body, self.message, value, "")
            is_complete = True
            if whole and reader.remaining:
                verb = "follows" if reader.remaining == 1 else "follow"
                detail = f"{in_bytes(reader.remaining)} {verb} after the end of the message"
                reader.note("trailing-bytes", reader.pos, detail, "")
        except _StopReading:
            pass
        return DecodedBody(value, reader.pos, tuple(reader.problems), tuple(reader.spans), is_complete)

    def encode(self, value: dict[str, Any]) -> bytes | None:
        """The bytes of a body whose values, in JSON's terms, are in a dict by key; a missing field has its default.

        None when a value or a default does not fit its type. Raises UnusableLayout.
        """
        out = bytearray()
        try:
            _write_body(out, self.body, value)
        except (ValueError, struct.error):
            return None
        return bytes(out)


def _fields_without_layout(body: Layout) -> Iterator[Field]:
    """The fields of a layout, at every depth, whose type is neither a primitive nor a struct with a layout."""
    for slot in body.all_slots:
        if slot.body:
            yield from _fields_without_layout(slot.body)
        elif slot.kind not in PRIMITIVES:
            yield slot.field


class _StopReading(Exception):  # noqa: N818
    """A problem, already recorded, after which reading must stop."""


class _ValueReader:
    """Reads values from the bytes between `pos` and `end`, and records their positions and problems.

    Each method reads a part of a body and leaves `pos` behind it. `path` is the place of the part in the JSON value,
    such as `topics[1].name`. `out` is the dict of the struct to which the part belongs; an array or object is put into
    it before its elements are read, so that after a stop it has all values that were read.
    """

    def __init__(self, data: bytes, pos: int, *, spans: bool) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.empty_elements = 0  # of all arrays that were read
        self.spans: list[ValueSpan] = []
        self.problems: list[ByteProblem] = []
        self.counts: Counter[str] = Counter()  # of the problems, by severity
        self._with_spans = spans

    def note(self, rule: str, offset: int, message: str, path: str) -> None:
        """Record a problem; stop if there are too many errors."""
        problem = byte_problem(rule, offset, message, path or None)
        self.counts[problem.severity] += 1
        if self.counts[problem.severity] <= MOST_PROBLEMS:
            self.problems.append(problem)
        if self.counts["error"] >= MOST_PROBLEMS:
            raise _StopReading

    def stop(self, rule: str, offset: int, message: str, path: str) -> _StopReading:
        """Record a problem that ends the reading, and return the exception for the caller to raise."""
        self.note(rule, offset, message, path)
        return _StopReading()

    def record_span(self, offset: int, path: str, description: str, value: Any) -> None:
        """Record the span of a value, from `offset` to `pos`, if spans are wanted; `description` is its `type`."""
        if self._with_spans:
            self.spans.append(ValueSpan(offset, self.pos - offset, path, description, value))

    @property
    def remaining(self) -> int:
        """The number of remaining bytes."""
        return self.end - self.pos

    @property
    def _remaining_in_words(self) -> str:
        return f"{self.remaining} {'is' if self.remaining == 1 else 'are'} left" if self.remaining else "none is left"

    def take(self, size: int) -> bytes:
        """The next `size` bytes, which must exist."""
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def fixed_width(self, kind: str, path: str) -> Any:
        """Read a value of a type of fixed width, such as int32 or uuid."""
        width, start = WIDTHS[kind], self.pos
        if self.remaining < width:
            raise self.stop("truncated", start, f"{kind} takes {in_bytes(width)}, {self._remaining_in_words}", path)
        (value,) = struct.unpack(">" + FORMATS[kind], self.take(width))
        if kind == "bool":
            if value > 1:
                self.note("boolean-invalid", start, f"the byte of a boolean is {value}, neither 0 nor 1", path)
            return value != 0
        if kind == "uuid":
            return uuid_text(value)
        return float_json(value) if kind == "float64" else value

    def varint(self, what: str, path: str) -> int:
        """Read an unsigned varint of at most 32 bits; `what` names it in messages, such as `the tag`."""
        start, value = self.pos, 0
        for index in range(5):
            if not self.remaining:
                raise self.stop("truncated", start, f"the bytes end inside {what}", path)
            byte = self.data[self.pos]
            self.pos += 1
            value |= (byte & 0x7F) << (7 * index)
            is_last = byte < 0x80
            if is_last and byte == 0 and index > 0:
                self.note("varint-overlong", start, f"{what} is {value}, written in {index + 1} bytes", path)
            if is_last and value <= 0xFFFFFFFF:
                return value
        raise self.stop("varint-too-large", start, f"{what} is a varint of more than 32 bits", path)

    def length(self, compact: bool, nullable: bool, kind: str, what: str, path: str) -> int | None:
        """Read a length or a count, which may be more than what remains; None for null.

        It is a varint if `compact`, otherwise an integer of the type `kind`. `what` names it in messages.
        """
        start = self.pos
        size = self.varint(what, path) - 1 if compact else int(self.fixed_width(kind, path))
        if size < -1 and not nullable:
            raise self.stop("length-negative", start, f"{what} is {size}", path)
        if size < -1:
            self.note("length-below-null", start, f"{what} is {size}, which is read as null", path)
        elif size == -1 and not nullable:
            self.note("null-not-allowed", start, "the value is null, which this version does not allow", path)
        return None if size < 0 else size

    def body(self, body: Layout, container: Container, out: dict[str, Any], path: str) -> None:
        """Read the fields of `container`, a message or struct, into `out`."""
        for slot in body.slots:
            self.field(slot, out, path)
        if body.tags is not None:
            self.tags(body.tags, container, out, path)

    def field(self, slot: Slot, out: dict[str, Any], container_path: str) -> None:
        """Read one field of a message or struct into `out`."""
        key = key_of(slot)
        path = _join_path(container_path, key)
        if slot.array:
            self.array(slot, out, key, path)
        elif slot.kind == "struct":
            self.struct(slot, out, key, path)
        else:
            out[key] = self.primitive(slot, slot.nullable, describe(slot), path)

    def struct(self, slot: Slot, out: dict[str, Any], key: str, path: str) -> None:
        """Read a struct that is not an array element, after its marker if it is nullable, into `out[key]`."""
        start = self.pos
        if slot.nullable:
            null = NULL_IN_TAG if slot.is_tagged else NULL
            marker = self.varint("the marker", path) if slot.is_tagged else self.fixed_width("int8", path)
            if marker not in (PRESENT, null):
                message = f"the marker of a nullable struct is {marker}, neither {PRESENT} nor {null}"
                self.note("marker-invalid", start, message, path)
            is_null = marker <= null
            self.record_span(start, path, describe(slot), None if is_null else {})
            if is_null:
                out[key] = None
                return
        out[key] = {}
        self.struct_fields(slot, out[key], path)

    def struct_fields(self, slot: Slot, out: dict[str, Any], path: str) -> None:
        """Read the fields of the struct that is the type of a slot into `out`."""
        assert slot.body and slot.field.struct  # else the layout is unusable
        self.body(slot.body, slot.field.struct, out, path)

    def primitive(self, slot: Slot, nullable: bool, description: str, path: str) -> Any:
        """Read a value that is not a struct; `description` is the type of its span, such as `compact string`."""
        start = self.pos
        value = self.fixed_width(slot.kind, path) if slot.kind in WIDTHS else self.length_prefixed(slot, nullable, path)
        self.record_span(start, path, description, value)
        return value

    def length_prefixed(self, slot: Slot, nullable: bool, path: str) -> str | None:
        """Read a string, bytes or records after their length; bytes and records are returned in base64."""
        start, what = self.pos, f"the length of the {slot.kind}"
        size = self.length(slot.compact, nullable, "int16" if slot.kind == "string" else "int32", what, path)
        if size is None:
            return None
        if size > self.remaining:
            raise self.stop("length-beyond-end", start, f"{what} is {size}, {self._remaining_in_words}", path)
        chunk_start = self.pos
        chunk = self.take(size)
        if slot.kind != "string":
            return base64_text(chunk)
        try:
            return chunk.decode()
        except UnicodeDecodeError as error:
            message = f"the string has the byte 0x{chunk[error.start]:02x}, not UTF-8"
            self.note("utf8-invalid", chunk_start + error.start, message, path)
            return chunk.decode(errors="replace")

    def array(self, slot: Slot, out: dict[str, Any], key: str, path: str) -> None:
        """Read the count of an array, and then its elements, into `out[key]`."""
        start, what = self.pos, "the count of elements"
        count = self.length(slot.compact, slot.nullable, "int32", what, path)
        elements: list[Any] = []
        out[key] = None if count is None else elements
        self.record_span(start, path, describe(slot), count)
        if count is None:
            return
        min_size = min_value_size(slot)
        if min_size == 0:
            self.empty_elements += count
        if self.empty_elements > EMPTY_ELEMENTS:
            message = f"{what} is {count}, each without bytes; at most {EMPTY_ELEMENTS} are read"
            raise self.stop("too-many-elements", start, message, path)
        if min_size * count > self.remaining:
            message = f"{what} is {count}, each of {min_size} or more bytes; {self.remaining} are left"
            raise self.stop("length-beyond-end", start, message, path)
        for index in range(count):
            element_path = f"{path}[{index}]"
            if slot.kind == "struct":
                elements.append({})
                self.struct_fields(slot, elements[index], element_path)
            else:
                elements.append(self.primitive(slot, False, slot.kind, element_path))

    def tags(self, tagged_slots: tuple[Slot, ...], container: Container, out: dict[str, Any], path: str) -> None:
        """Read a tag section; as Kafka does, note a tag that the container has only in other versions as a problem."""
        section_start = self.pos
        slots = {slot.field.tag: slot for slot in tagged_slots}
        fields_of_all_versions = {field.tag: field for field in container.fields if field.tag is not None}
        count = self.varint("the count of tagged fields", path)
        self.record_span(section_start, path, "tag section", count)
        earlier_tags: set[int] = set()
        highest_tag = 0
        for _ in range(count):
            start = self.pos
            tag = self.varint("the tag", path)
            size = self.varint("the size of the tagged field", path)
            if tag in earlier_tags:
                self.note("tag-duplicate", start, f"tag {tag} occurs twice", path)
            elif tag < highest_tag:
                self.note("tag-order", start, f"tag {tag} follows tag {highest_tag}", path)
            elif tag not in slots and tag in fields_of_all_versions:
                field = fields_of_all_versions[tag]
                versions = field.tagged & field.versions
                message = f"tag {tag} is {field.name} in versions {versions}, not in this one"
                self.note("tag-version", start, message, path)
            earlier_tags.add(tag)
            highest_tag = max(highest_tag, tag)
            self.tagged(tag, size, slots.get(tag), out, path, start)

    def tagged(self, tag: int, size: int, slot: Slot | None, out: dict[str, Any], path: str, start: int) -> None:
        """Read the value of a tag, which must be `size` bytes long, into `out`; no slot means an unknown tag.

        The tag and its size, which are read already, begin at the offset `start`.
        """
        if size > self.remaining:
            message = f"tag {tag} has {in_bytes(size)}, {self._remaining_in_words}"
            raise self.stop("length-beyond-end", start, message, path)
        self.record_span(start, path, f"tag {tag}", size)
        if slot is None:
            value_start = self.pos
            data = base64_text(self.take(size))
            out.setdefault(UNKNOWN_TAGS, []).append({"tag": tag, "data": data})
            self.record_span(value_start, _join_path(path, UNKNOWN_TAGS), "unknown tagged field", data)
            return
        end_of_section = self.end
        self.end = self.pos + size
        self.field(slot, out, path)
        if self.remaining:
            message = f"tag {tag} has {in_bytes(size)}, but its value ends {self.remaining} earlier"
            self.note("tag-size", self.pos, message, _join_path(path, key_of(slot)))
            self.pos = self.end
        self.end = end_of_section


def _join_path(path: str, name: str) -> str:
    """The path of a value in a struct: that of the struct, which is empty for a body, and the name of the value."""
    return f"{path}.{name}" if path else name


def _write_body(out: bytearray, body: Layout, values: dict[str, Any]) -> None:
    """Append the bytes of a message or struct. Raises ValueError and struct.error for values that do not fit."""
    for slot in body.slots:
        key = key_of(slot)
        _write_field(out, slot, values[key] if key in values else default_of(slot))
    if body.tags is not None:
        _write_tags(out, body.tags, values)


def _write_field(out: bytearray, slot: Slot, value: Any) -> None:
    """Append the bytes of the value of a field, which may be an array."""
    if slot.array:
        _require_type(slot, value, (list, type(None)))
        _write_length(out, None if value is None else len(value), slot.compact, "i")
        for element in value or ():
            _write_element(out, slot, element, nullable=False)
        return
    if slot.kind == "struct" and slot.nullable:
        null = NULL_IN_TAG if slot.is_tagged else NULL
        out += struct.pack("b", null if value is None else PRESENT)
    _write_element(out, slot, value, nullable=slot.nullable)


def _write_element(out: bytearray, slot: Slot, value: Any, *, nullable: bool) -> None:
    """Append the bytes of one value, an element of an array or the value of another field."""
    if value is not None or not nullable:
        _require_type(slot, value, _JSON_TYPES.get(slot.kind, str))
    length_format = "h" if slot.kind == "string" else "i"
    if slot.body:
        if value is not None:
            _write_body(out, slot.body, value)
    elif slot.kind == "uuid":
        out += struct.pack("16s", uuid_bytes(value))
    elif slot.kind in FORMATS:
        out += struct.pack(">" + FORMATS[slot.kind], float(value) if slot.kind == "float64" else value)
    elif value is None:
        _write_length(out, None, slot.compact, length_format)
    else:
        data = value.encode() if slot.kind == "string" else base64_bytes(value)
        _write_length(out, len(data), slot.compact, length_format)
        out += data


_JSON_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("bool", *INTEGERS), int),
    "float64": (int, float, str),
    "struct": dict,
}
"""The type that the value of a kind has in JSON's terms; all others are strings."""


def _require_type(slot: Slot, value: Any, types: type | tuple[type, ...]) -> None:
    """Raise ValueError for a value of another type, such as that of a field of another type with the same name."""
    if not isinstance(value, types):
        raise ValueError(f"{slot.field.path} cannot be {type(value).__name__}")


def _write_length(out: bytearray, length: int | None, compact: bool, length_format: str) -> None:
    """Append a length or a count, or null for None; `length_format` is its code in `struct` unless it is compact."""
    size = -1 if length is None else length
    out += varint(size + 1) if compact else struct.pack(">" + length_format, size)


def _write_tags(out: bytearray, tagged_slots: Iterable[Slot], values: dict[str, Any]) -> None:
    """Append the tag section: tagged fields without their default, and unknown tags, in the order of their numbers."""
    data_by_tag = {entry["tag"]: base64_bytes(entry["data"]) for entry in values.get(UNKNOWN_TAGS, ())}
    for slot in tagged_slots:
        key = key_of(slot)
        if key in values and values[key] != default_of(slot):
            data = bytearray()
            _write_field(data, slot, values[key])
            data_by_tag[slot.field.tag or 0] = bytes(data)
    out += varint(len(data_by_tag))
    for tag, tagged_data in sorted(data_by_tag.items()):
        out += varint(tag) + varint(len(tagged_data)) + tagged_data
