"""The compiled readers: a layout becomes a Python function, generated as source code.

Values of fixed width wait in a run, so that one `struct` call reads all of a run. A reader that fails raises without a
reason: the slow reader (`explain`) finds it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from kiplint.codec.problems import Malformed
from kiplint.codec.values import FORMATS, UNKNOWN_TAGS, key_of, smallest_element
from kiplint.codec.wire import ELEMENTS, TRUTH, base64_text, float_json, read_varint, uuid_text
from kiplint.limits import EMPTY_ELEMENTS
from kiplint.model.layout import Layout, Slot

Reader = Callable[[bytes, int], tuple[dict[str, Any], int]]
"""From bytes and a position to the values of a body and the position after it, which may lie behind the end."""
READ_FAILURES = (Malformed, struct.error, IndexError, UnicodeDecodeError)
"""What a reader raises on bytes that do not match the layout."""


def make_reader(body: Layout, title: str) -> Reader:
    """Compile a reader whose values can be written as JSON: bytes become base64, floats JSON numbers."""
    source = _ReaderSource()
    name = source.function(lambda: source.body(body))
    code = compile("\n".join(source.functions) + "\n", f"<{title!a}>", "exec")
    exec(code, source.names)  # built from a layout: names of fields stand in it as literals
    reader: Reader = source.names[name]
    return reader


DEEPEST = 12
"""How deep blocks are nested before the rest becomes another function; Python allows 20 nested loops."""


class _ReaderSource:
    """The source of a module. Each method adds the code that reads a part, and most return the expression of its value.

    The expression is valid after `flush`. `run` has the format codes and names of the values that wait in a run.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "Malformed": Malformed,
            "TRUTH": TRUTH,
            "elements": ELEMENTS,
            "varint": read_varint,
            "uuid": uuid_text,
            "base64": base64_text,
            "number": float_json,
            "unpack": struct.unpack_from,
            "read_tags": read_tags,
        }
        self.functions: list[str] = []
        self.lines: list[str] = []
        self.depth = 1
        self.run: list[tuple[str, str]] = []
        self.count = 0

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{stem}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add the head of a block, which has the lines that follow inside."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def function(self, part: Callable[[], str]) -> str:
        """Put a part into a function of its own; returns the name of the function."""
        outside, name = (self.lines, self.depth, self.run), self.name("read")
        self.lines, self.depth, self.run = [f"def {name}(data, pos):"], 1, []
        result = part()
        self.flush()
        self.line(f"return {result}, pos")
        self.functions += self.lines
        self.lines, self.depth, self.run = outside
        return name

    def apart(self, part: Callable[[], str]) -> str:
        """Put a part into a function of its own where blocks are nested deep already."""
        if self.depth <= DEEPEST:
            return part()
        self.flush()
        name, result = self.function(part), self.name("v")
        self.line(f"{result}, pos = {name}(data, pos)")
        return result

    def fixed(self, code: str, stem: str = "v") -> str:
        name = self.name(stem)
        self.run.append((code, name))
        return name

    def flush(self) -> None:
        if [code for code, _ in self.run] == ["B"]:
            self.line(f"{self.run.pop()[1]} = data[pos]; pos += 1")
        elif self.run:
            names, unpack, size = self.unpacked("unpack_from")
            self.line(f"{names}= {unpack}(data, pos); pos += {size}")

    def unpacked(self, method: str) -> tuple[str, str, int]:
        """End the run: the names of its values, that of the method of `Struct` which reads them, and their size."""
        fields = struct.Struct(">" + "".join(code for code, _ in self.run))
        names = "".join(f"{name}, " for _, name in self.run)
        reader = f"{method}_{fields.format[1:]}"
        self.names[reader], self.run = getattr(fields, method), []
        return names, reader, fields.size

    def body(self, body: Layout) -> str:
        values = [(key_of(slot), self.slot(slot)) for slot in body.slots]
        fields = "{" + ", ".join(f"{key!r}: {value}" for key, value in values) + "}"
        if body.tags is None:
            return fields
        count, result = self.fixed("B", "t"), self.name("d")
        self.flush()
        self.line(f"{result} = {fields}")
        tags = {slot.field.tag: (key_of(slot), self.function(partial(self.slot, slot))) for slot in body.tags}
        entries = ", ".join(f"{tag}: ({key!r}, {reader})" for tag, (key, reader) in tags.items())
        self.line(f"if {count}: pos = read_tags(data, pos - 1, {result}, {{{entries}}})")
        return result

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
        marker, result = self.fixed("B", "m"), self.name("v")
        self.flush()
        with self.block(f"if {marker} == 1:"):
            inner = self.apart(lambda: self.struct(slot))
            self.flush()
            self.line(f"{result} = {inner}")
        self.line(f"elif {marker} == 255: {result} = None")
        self.line("else: raise Malformed")
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
        """Read a length; in the compact form the name has the length plus 1."""
        name = self.fixed("B" if compact else "i" if wide else "h", "n")
        self.flush()
        if compact:
            self.line(f"if {name} > 127: {name}, pos = varint(data, pos - 1)")
        return name

    def sized(self, kind: str, compact: bool, nullable: bool) -> str:
        length, result = self.length(compact, kind != "string"), self.name("v")
        with self.block(f"if {length} {'>' if compact else '>='} 0:"):
            self.line(f"end = pos + {length}{' - 1' if compact else ''}")
            chunk = "data[pos:end]"
            decode = f"{chunk}.decode()" if kind == "string" else f"base64({chunk})"
            self.line(f"{result} = {decode}; pos = end")
        self.null(length, result, compact, nullable)
        return result

    def null(self, length: str, result: str, compact: bool, nullable: bool) -> None:
        if nullable:
            self.line(f"else: {result} = None" if compact else f"elif {length} == -1: {result} = None")
        if not (nullable and compact):
            self.line("else: raise Malformed")

    def array(self, slot: Slot) -> str:
        count, result = self.length(slot.compact, wide=True), self.name("a")
        with self.block(f"if {count} {'>' if slot.compact else '>='} 0:"):
            if slot.compact:
                self.line(f"{count} -= 1")
            least = smallest_element(slot)
            limit = f"{count} * {least} > len(data) - pos" if least else f"{count} > {EMPTY_ELEMENTS}"
            self.line(f"if {limit}: raise Malformed")
            self.line(f"elements.left -= {count}")
            self.line("if elements.left < 0: raise Malformed")
            if slot.kind in FORMATS and slot.kind not in ("bool", "uuid", "float64"):
                code = FORMATS[slot.kind]
                self.line(f'{result} = list(unpack(f">{{{count}}}{code}", data, pos)); pos += {count} * {least}')
            else:
                self.elements(slot, count, result)
        self.null(count, result, slot.compact, slot.nullable)
        return result

    def elements(self, slot: Slot, count: str, result: str) -> None:
        if (
            slot.body is None
            or not smallest_element(slot)
            or not all(inner.kind in FORMATS and not inner.array for inner in slot.body.slots)
        ):
            self.looped(slot, count, result)
        elif slot.body.tags is None:
            self.flat(slot.body, count, result)
        else:
            size = smallest_element(slot)
            with self.block(f"if any(data[pos + {size - 1}:pos + {count} * {size}:{size}]):"):
                self.looped(slot, count, result)
            with self.block("else:"):
                self.flat(slot.body, count, result)

    def flat(self, body: Layout, count: str, result: str) -> None:
        """Unpack structs of the same width together: all their fields are fixed, and none has tags."""
        fields = ", ".join(f"{key_of(slot)!r}: {self.primitive(slot.kind, False, False)}" for slot in body.slots)
        if body.tags is not None:
            self.fixed("B")
        names, unpack, size = self.unpacked("iter_unpack")
        self.line(f"end = pos + {count} * {size}")
        self.line(f"{result} = [{{{fields}}} for {names}in {unpack}(data[pos:end])]; pos = end")

    def looped(self, slot: Slot, count: str, result: str) -> None:
        self.line(f"{result} = []")
        with self.block(f"for _ in range({count}):"):
            if slot.kind == "struct":
                element = self.apart(lambda: self.struct(slot))
            else:
                element = self.primitive(slot.kind, slot.compact, False)
            self.flush()
            self.line(f"{result}.append({element})")


def read_tags(data: bytes, pos: int, out: dict[str, Any], readers: dict[int, tuple[str, Reader]]) -> int:
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
        if tag in readers:
            key, reader = readers[tag]
            out[key], pos = reader(data, pos)
            if pos != end:
                raise Malformed
        else:
            unknown.append({"tag": tag, "data": base64_text(data[pos:end])})
            pos = end
    if unknown:
        out[UNKNOWN_TAGS] = unknown
    return pos
