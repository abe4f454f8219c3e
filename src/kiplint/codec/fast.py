"""The compiled readers: a layout becomes a Python function, generated as source code.

Values of fixed width wait in a run, so that one `struct` call reads all of a run. A reader that fails raises without a
reason: the slow reader (`explain`) finds it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    name = source.function("read", lambda: source.body(body))
    reader: Reader = source.out.compile(title)[name]
    return reader


class _ReaderSource:
    """Each method adds the code that reads a part; it returns the expression of the value, valid after `flush`."""

    def __init__(self) -> None:
        self.out = SourceCode(
            {
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

    def body(self, body: Layout) -> str:
        values = [(key_of(slot), self.slot(slot)) for slot in body.slots]
        fields = "{" + ", ".join(f"{key!r}: {value}" for key, value in values) + "}"
        if body.tags is None:
            return fields
        count, result = self.fixed("B", "t"), self.out.name("d")
        self.flush()
        self.out.line(f"{result} = {fields}")
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
        """Read a length; in the compact form the name has the length plus 1."""
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
            limit = f"{count} * {least} > len(data) - pos" if least else f"{count} > {EMPTY_ELEMENTS}"
            self.out.line(f"if {limit}: raise Malformed")
            self.out.line(f"elements.left -= {count}")
            self.out.line("if elements.left < 0: raise Malformed")
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
            or not all(inner.kind in FORMATS and not inner.array for inner in slot.body.slots)
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

    def flat(self, body: Layout, count: str, result: str) -> None:
        """Unpack structs of the same width together: all their fields are fixed, and none has tags."""
        fields = ", ".join(f"{key_of(slot)!r}: {self.primitive(slot.kind, False, False)}" for slot in body.slots)
        if body.tags is not None:
            self.fixed("B")
        run, self.out.run = self.out.run, []
        unpack, size = self.out.packed("".join(code for code, _ in run), "iter_unpack")
        names = "".join(f"{name}, " for _, name in run)
        self.out.line(f"end = pos + {count} * {size}")
        self.out.line(f"{result} = [{{{fields}}} for {names}in {unpack}(data[pos:end])]; pos = end")

    def looped(self, slot: Slot, count: str, result: str) -> None:
        self.out.line(f"{result} = []")
        with self.out.block(f"for _ in range({count}):"):
            if slot.kind == "struct":
                element = self.apart(lambda: self.struct(slot))
            else:
                element = self.primitive(slot.kind, slot.compact, False)
            self.flush()
            self.out.line(f"{result}.append({element})")


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


DEEPEST = 12
"""How deep blocks are nested before the rest becomes another function; Python allows 20 nested loops."""


class SourceCode:
    """The source of a module of generated functions. Names of schemas enter it as string literals only."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = dict(names)
        self._finished: list[str] = []
        self._lines: list[str] = []
        self._depth = 1
        self._count = 0
        self._constants: dict[Any, str] = {}
        self.run: list[tuple[str, str]] = []

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, stem: str, key: Any, make: Callable[[], Any]) -> str:
        """The name of a constant, made once for equal keys."""
        if (stem, key) not in self._constants:
            self._constants[stem, key] = name = self.name(stem)
            self.names[name] = make()
        return self._constants[stem, key]

    def line(self, text: str) -> None:
        """Add one line at the present depth."""
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add the head of a block; what follows inside stands under it."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    @property
    def is_deep(self) -> bool:
        """Whether the next nested part should be a function of its own."""
        return self._depth > DEEPEST

    @contextmanager
    def function(self, stem: str, parameters: str) -> Iterator[str]:
        """Write another function; yields its name."""
        outside = (self._lines, self._depth, self.run)
        name = self.name(stem)
        self._lines, self._depth, self.run = [f"def {name}({parameters}):"], 1, []
        yield name
        self._finished += self._lines
        self._lines, self._depth, self.run = outside

    def packed(self, codes: str, method: str) -> tuple[str, int]:
        """The name of a method of the `Struct` for a run of format codes (big-endian, no gaps), and the run's size."""
        fields = struct.Struct(">" + codes)
        return self.constant(method, codes, lambda: getattr(fields, method)), fields.size

    def compile(self, title: str) -> dict[str, Any]:
        """Run the module, and give its names."""
        code = compile("\n".join(self._finished) + "\n", f"<{title!a}>", "exec")
        exec(code, self.names)  # built from a layout: names and defaults stand in it as literals
        return self.names
