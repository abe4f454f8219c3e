"""The fast reader: a layout compiled into a function that gives plain values, or raises without saying why.

Neighbouring values of fixed width, lengths and counts among them, are unpacked together. Overruns need no checks of
their own: positions only grow, so the next unpacking or index fails, or the position ends behind the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from kiplint.codec.problems import Malformed
from kiplint.codec.shape import FORMATS, UNKNOWN_TAGS, key_of, smallest_element
from kiplint.codec.source import Source
from kiplint.codec.wire import MOST_EMPTY, TRUTH, base64_text, float_json, read_varint, uuid_text
from kiplint.model.layout import Body, Slot

Reader = Callable[[bytes, int], tuple[dict[str, Any], int]]
"""From bytes and a position to the values of a body and the position after it, which may lie behind the end."""
FAILURES = (Malformed, struct.error, IndexError, UnicodeDecodeError)
"""What a reader raises on bytes that are not what the layout says."""


def make_reader(body: Body, title: str) -> Reader:
    """Compile a reader, which gives bytes as base64 and floats as JSON has them."""
    source = _ReaderSource()
    name = source.function("read", lambda: source.body(body))
    made: Reader = source.out.compile(title)[name]
    return made


class _ReaderSource:
    """Methods add what reads one part, and give the expression that has its value once `flush` has been called."""

    def __init__(self) -> None:
        self.out = Source(
            {
                "Malformed": Malformed,
                "TRUTH": TRUTH,
                "varint": read_varint,
                "uuid": uuid_text,
                "base64": base64_text,
                "number": float_json,
                "unpack": struct.unpack_from,
                "read_tags": read_tags,
            }
        )

    def function(self, stem: str, part: Callable[[], str]) -> str:
        with self.out.function(stem, "data, pos") as name:
            result = part()
            self.flush()
            self.out.line(f"return {result}, pos")
        return name

    def apart(self, part: Callable[[], str]) -> str:
        """Put a part into a function of its own where blocks are nested deep already."""
        if not self.out.is_deep:
            return part()
        self.flush()
        name, result = self.function("part", part), self.out.name("v")
        self.out.line(f"{result}, pos = {name}(data, pos)")
        return result

    def fixed(self, code: str, stem: str = "v") -> str:
        name = self.out.name(stem)
        self.out.run.append((code, name))
        return name

    def flush(self) -> None:
        run, self.out.run = self.out.run, []
        if [code for code, _ in run] == ["B"]:
            self.out.line(f"{run[0][1]} = data[pos]; pos += 1")
        elif run:
            unpack, size = self.out.packed("".join(code for code, _ in run), "unpack_from")
            self.out.line(f"{', '.join(name for _, name in run)}, = {unpack}(data, pos); pos += {size}")

    def body(self, body: Body) -> str:
        values = [(key_of(slot), self.slot(slot)) for slot in body.slots]
        shown = "{" + ", ".join(f"{key!r}: {value}" for key, value in values) + "}"
        if body.tags is None:
            return shown
        count, result = self.fixed("B", "t"), self.out.name("d")
        self.flush()
        self.out.line(f"{result} = {shown}")
        entries = ", ".join(f"{slot.field.tag}: ({key_of(slot)!r}, {self.tagged(slot)})" for slot in body.tags)
        self.out.line(f"if {count}: pos = read_tags(data, pos - 1, {result}, {{{entries}}})")
        return result

    def tagged(self, slot: Slot) -> str:
        return self.function("tagged", lambda: self.slot(slot))

    def slot(self, slot: Slot) -> str:
        if slot.array:
            return self.array(slot)
        if slot.kind == "struct":
            return self.maybe(slot) if slot.nullable else self.apart(lambda: self.struct(slot))
        return self.primitive(slot.kind, slot.compact, slot.nullable)

    def struct(self, slot: Slot) -> str:
        if slot.body is None:
            raise RecursionError(slot.field.path)
        return self.body(slot.body)

    def maybe(self, slot: Slot) -> str:
        marker, result = self.fixed("B", "m"), self.out.name("v")
        self.flush()
        with self.out.block(f"if {marker} == 1:"):
            inner = self.apart(lambda: self.struct(slot))
            self.flush()
            self.out.line(f"{result} = {inner}")
        self.out.line(f"elif {marker} == 255: {result} = None")
        self.out.line("else: raise Malformed")
        return result

    def primitive(self, kind: str, compact: bool, nullable: bool) -> str:
        if kind not in FORMATS:
            return self.sized(kind, compact, nullable)
        name = self.fixed(FORMATS[kind])
        if kind == "bool":
            return f"TRUTH[{name}]"
        if kind == "uuid":
            return f"uuid({name})"
        return f"number({name})" if kind == "float64" else name

    def length(self, compact: bool, wide: bool) -> str:
        """Read a length; in the compact form the name has one more than it says."""
        name = self.fixed("B" if compact else "i" if wide else "h", "n")
        self.flush()
        if compact:
            self.out.line(f"if {name} > 127: {name}, pos = varint(data, pos - 1)")
        return name

    def sized(self, kind: str, compact: bool, nullable: bool) -> str:
        length, result = self.length(compact, kind != "string"), self.out.name("v")
        with self.out.block(f"if {length} {'>' if compact else '>='} 0:"):
            self.out.line(f"end = pos + {length}{' - 1' if compact else ''}")
            chunk = "data[pos:end]"
            decode = f"{chunk}.decode()" if kind == "string" else f"base64({chunk})"
            self.out.line(f"{result} = {decode}; pos = end")
        self.null(length, result, compact, nullable)
        return result

    def null(self, length: str, result: str, compact: bool, nullable: bool) -> None:
        if nullable:
            self.out.line(f"else: {result} = None" if compact else f"elif {length} == -1: {result} = None")
        if not (nullable and compact):
            self.out.line("else: raise Malformed")

    def array(self, slot: Slot) -> str:
        count, result = self.length(slot.compact, wide=True), self.out.name("a")
        with self.out.block(f"if {count} {'>' if slot.compact else '>='} 0:"):
            if slot.compact:
                self.out.line(f"{count} -= 1")
            least = smallest_element(slot)
            limit = f"{count} * {least} > len(data) - pos" if least else f"{count} > {MOST_EMPTY}"
            self.out.line(f"if {limit}: raise Malformed")
            if slot.kind in FORMATS and slot.kind not in ("bool", "uuid", "float64"):
                code = FORMATS[slot.kind]
                self.out.line(f'{result} = list(unpack(f">{{{count}}}{code}", data, pos)); pos += {count} * {least}')
            else:
                self.elements(slot, count, result)
        self.null(count, result, slot.compact, slot.nullable)
        return result

    def elements(self, slot: Slot, count: str, result: str) -> None:
        if (
            slot.body is None
            or not smallest_element(slot)
            or not all(one.kind in FORMATS and not one.array for one in slot.body.slots)
        ):
            self.looped(slot, count, result)
        elif slot.body.tags is None:
            self.flat(slot.body, count, result)
        else:
            size = smallest_element(slot)
            with self.out.block(f"if any(data[pos + {size - 1}:pos + {count} * {size}:{size}]):"):
                self.looped(slot, count, result)
            with self.out.block("else:"):
                self.flat(slot.body, count, result)

    def flat(self, body: Body, count: str, result: str) -> None:
        """Unpack structs that are all of one width together: their fields are fixed, and none has tags in it."""
        shown = ", ".join(f"{key_of(one)!r}: {self.primitive(one.kind, False, False)}" for one in body.slots)
        if body.tags is not None:
            self.fixed("B")
        run, self.out.run = self.out.run, []
        unpack, size = self.out.packed("".join(code for code, _ in run), "iter_unpack")
        names = "".join(f"{name}, " for _, name in run)
        self.out.line(f"end = pos + {count} * {size}")
        self.out.line(f"{result} = [{{{shown}}} for {names}in {unpack}(data[pos:end])]; pos = end")

    def looped(self, slot: Slot, count: str, result: str) -> None:
        self.out.line(f"{result} = []")
        with self.out.block(f"for _ in range({count}):"):
            if slot.kind == "struct":
                element = self.apart(lambda: self.struct(slot))
            else:
                element = self.primitive(slot.kind, slot.compact, False)
            self.flush()
            self.out.line(f"{result}.append({element})")


def read_tags(data: bytes, pos: int, out: dict[str, Any], known: dict[int, tuple[str, Reader]]) -> int:
    """Read a tag section that has tags into the values; unknown tags are kept as they are."""
    count, pos = read_varint(data, pos)
    before = -1
    unknown = []
    for _ in range(count):
        tag, pos = read_varint(data, pos)
        size, pos = read_varint(data, pos)
        end = pos + size
        if tag <= before or end > len(data):
            raise Malformed
        before = tag
        if tag in known:
            key, reader = known[tag]
            out[key], pos = reader(data, pos)
            if pos != end:
                raise Malformed
        else:
            unknown.append({"tag": tag, "data": base64_text(data[pos:end])})
            pos = end
    if unknown:
        out[UNKNOWN_TAGS] = unknown
    return pos
