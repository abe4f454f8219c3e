"""Bytes that no reader may accept: the rich body of a layout with one fault, and where the fault is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kiplint.codec.codec import Codec
from kiplint.codec.values import join_path, key_of, minimal, rich, smallest_element
from kiplint.codec.wire import varint
from kiplint.model.layout import Layout, Slot
from kiplint.model.types import SIZED

ENDLESS = b"\xff" * 6
"""A varint whose fifth byte announces another; numbers of 32 bits take five at most."""


class Fault(NamedTuple):
    """Bytes with a fault: its kind, the field (or empty), the bytes, and the offset of the fault in them."""

    kind: str
    field: str
    data: bytes
    offset: int


class _Length(NamedTuple):
    """A length or count in a body: the field that has it, how it is written, and its place."""

    path: str
    family: str
    compact: bool
    nullable: bool
    offset: int
    end: int
    """Where the value ends."""

    @property
    def width(self) -> int:
        """The bytes of a length that is not compact."""
        return 2 if self.family == "string" else 4


def faults(codec: Codec) -> Iterator[Fault]:
    """One body for each kind of fault and each encoding of a length that the layout has."""
    data, problems = codec.encode(rich(codec.body))
    if problems:
        return
    by_encoding: dict[tuple[str, bool, bool], _Length] = {}
    for length in _lengths(codec, data):
        by_encoding.setdefault((length.family, length.compact, length.nullable), length)
    earlier: set[tuple[str, str, bool]] = set()
    for length in by_encoding.values():
        for fault in _of_length(data, length):
            if (key := (fault.kind, length.family, length.compact)) not in earlier:
                earlier.add(key)
                yield fault
    yield Fault("trailing-bytes", "", data + b"\0", len(data))
    if codec.body.tags is not None:
        yield from _of_tags(codec)


def _of_length(data: bytes, length: _Length) -> Iterator[Fault]:
    path, at, after = length.path, length.offset, length.offset + length.width
    beyond = len(data) + 1
    if length.compact:
        size = _varint_size(data, at)
        yield Fault("length-beyond-end", path, data[:at] + varint(beyond + 1) + data[at + size :], at)
        yield Fault("varint-without-end", path, data[:at] + ENDLESS + data[at + size :], at)
    else:
        if beyond < 1 << (8 * length.width - 1):
            yield Fault("length-beyond-end", path, data[:at] + beyond.to_bytes(length.width, "big") + data[after:], at)
        yield Fault(
            "length-negative", path, data[:at] + (-2).to_bytes(length.width, "big", signed=True) + data[after:], at
        )
    if not length.nullable:
        null = b"\0" if length.compact else b"\xff" * length.width
        yield Fault("null-not-allowed", path, data[:at] + null + data[length.end :], at)


def _of_tags(codec: Codec) -> Iterator[Fault]:
    """Faults in the tag section of the message, which ends the minimal body."""
    minimum, problems = codec.encode(minimal(codec.body))
    if problems:
        return
    data = minimum[:-1]
    first, second = varint(10_001) + b"\0", varint(10_000) + b"\0"
    for kind, tags in (("tag-order", (first, second)), ("tag-duplicate", (first, first))):
        yield Fault(kind, "", data + b"\2" + b"".join(tags), len(data) + 1 + len(tags[0]))
    yield Fault("varint-without-end", "", data + ENDLESS, len(data))
    yield Fault("length-beyond-end", "", data + b"\1" + varint(10_000) + b"\1", len(data) + 1)


def _varint_size(data: bytes, at: int) -> int:
    return next(size for size in range(1, 6) if data[at + size - 1] < 0x80)


def _lengths(codec: Codec, data: bytes) -> Iterator[_Length]:
    """The lengths and counts of untagged fields, of the body first, then of its structs."""
    spans = codec.decode(data, spans=True).spans
    first = {span.path: span for span in reversed(spans)}
    ends: dict[str, int] = {}
    for span in spans:
        for path in _enclosing(span.path):
            ends[path] = max(ends.get(path, 0), span.offset + span.length)
    for path, slot in _paths(codec.body, ""):
        span = first[path]
        if not slot.array:
            if slot.kind in SIZED:
                yield _Length(path, slot.kind, slot.compact, slot.nullable, span.offset, span.offset + span.length)
            continue
        if smallest_element(slot):
            yield _Length(path, "array", slot.compact, slot.nullable, span.offset, ends[path])
        if slot.kind in SIZED:
            inner = first[f"{path}[0]"]
            yield _Length(inner.path, slot.kind, slot.compact, False, inner.offset, inner.offset + inner.length)


def _enclosing(path: str) -> Iterator[str]:
    """The path of a value, then the paths of all values around it, innermost first. The path of the body is empty."""
    yield path
    while path:
        path = path.rpartition("[" if path.endswith("]") else ".")[0]
        yield path


def _paths(body: Layout, before: str) -> Iterator[tuple[str, Slot]]:
    """The untagged fields of a body and of its structs; of arrays the first element."""
    for slot in body.slots:
        path = join_path(before, key_of(slot))
        yield path, slot
        if slot.body:
            yield from _paths(slot.body, f"{path}[0]" if slot.array else path)
