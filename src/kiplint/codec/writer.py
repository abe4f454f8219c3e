"""The fast writer: a layout compiled into a function that writes complete, right values, or raises without saying why.

Complete means every field of the version, and tagged fields where they are wanted. What it refuses goes to the
builder, which fills in defaults and explains.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from kiplint.codec.problems import Malformed
from kiplint.codec.shape import FORMATS, UNKNOWN_TAGS, default_of, key_of
from kiplint.codec.source import Source
from kiplint.codec.wire import as_bytes, as_float, uuid_bytes, varint
from kiplint.model.layout import Body, Slot

Writer = Callable[[dict[str, Any], Callable[[bytes], None]], None]
"""From the values of a body and a function that takes the next bytes."""
FAILURES = (Malformed, struct.error, KeyError, TypeError, AttributeError, UnicodeEncodeError)
"""What a writer raises on values that are not complete and right."""
_EMPTY = b"\0"


def make_writer(body: Body, title: str) -> Writer:
    """Compile a writer."""
    source = _WriterSource()
    name = source.function("write", "v", lambda: source.body(body, "v"))
    made: Writer = source.out.compile(title)[name]
    return made


class _WriterSource:
    """Methods add what writes one part; values of fixed width wait in a run until `flush`."""

    def __init__(self) -> None:
        self.out = Source(
            {
                "Malformed": Malformed,
                "varint": varint,
                "as_bytes": as_bytes,
                "as_float": as_float,
                "uuid_bytes": uuid_bytes,
                "pack": struct.pack,
                "write_tags": write_tags,
            }
        )

    def function(self, stem: str, parameter: str, part: Callable[[], None]) -> str:
        with self.out.function(stem, f"{parameter}, w") as name:
            self.out.line("pass")
            part()
            self.flush()
        return name

    def flush(self) -> None:
        run, self.out.run = self.out.run, []
        if run:
            pack, _ = self.out.packed("".join(code for code, _ in run), "pack")
            self.out.line(f"w({pack}({', '.join(value for _, value in run)}))")

    def body(self, body: Body, value: str) -> None:
        if body.tags is None:
            self.out.line(f"if len({value}) != {len(body.slots)}: raise Malformed")
        for slot in body.slots:
            name = self.out.name("v")
            self.out.line(f"{name} = {value}[{key_of(slot)!r}]")
            self.slot(slot, name)
        if body.tags is not None:
            self.tags(body, value)

    def tags(self, body: Body, value: str) -> None:
        entries = ", ".join(f"{slot.field.tag}: {self.tagged(slot)}" for slot in body.tags or ())
        self.flush()
        self.out.line(f"if len({value}) == {len(body.slots)}: w({_EMPTY!r})")
        self.out.line(f"else: write_tags({value}, w, {len(body.slots)}, {{{entries}}})")

    def tagged(self, slot: Slot) -> str:
        writer = self.function("tagged", "v", lambda: self.slot(slot, "v"))
        return f"({key_of(slot)!r}, {default_of(slot)!r}, {writer})"

    def apart(self, part: Callable[[str], None], value: str) -> None:
        """Put a part into a function of its own where blocks are nested deep already."""
        if not self.out.is_deep:
            return part(value)
        self.flush()
        return self.out.line(f"{self.function('part', 'v', lambda: part('v'))}({value}, w)")

    def slot(self, slot: Slot, value: str) -> None:
        if slot.array:
            self.array(slot, value)
        elif slot.kind != "struct":
            self.primitive(slot.kind, slot.compact, slot.nullable, value)
        elif slot.nullable:
            self.maybe(slot, value)
        else:
            self.apart(lambda name: self.struct(slot, name), value)

    def struct(self, slot: Slot, value: str) -> None:
        if slot.body is None:
            raise RecursionError(slot.field.path)
        self.out.line(f"if {value}.__class__ is not dict: raise Malformed")
        self.body(slot.body, value)

    def maybe(self, slot: Slot, value: str) -> None:
        self.flush()
        self.out.line(f'if {value} is None: w(b"\\xff")')
        with self.out.block("else:"):
            self.out.line('w(b"\\x01")')
            self.apart(lambda name: self.struct(slot, name), value)
            self.flush()

    def primitive(self, kind: str, compact: bool, nullable: bool, value: str) -> None:
        if kind not in FORMATS:
            self.sized(kind, compact, nullable, value)
            return
        if kind == "uuid":
            value = f"uuid_bytes({value})"
        elif kind == "float64":
            value = f"as_float({value})"
        else:
            self.out.line(f"if {value}.__class__ is not {'bool' if kind == 'bool' else 'int'}: raise Malformed")
        self.out.run.append((FORMATS[kind], value))

    def sized(self, kind: str, compact: bool, nullable: bool, value: str) -> None:
        length = self.out.name("n")
        encode = f"{value}.encode()" if kind == "string" else f"as_bytes({value})"
        with self.counted(length, value, nullable):
            self.out.line(f"{value} = {encode}")
            self.out.line(f"{length} = len({value})")
        self.length(length, compact, "i" if kind != "string" else "h")
        self.out.line(f"if {length} > 0: w({value})")

    def counted(self, length: str, value: str, nullable: bool) -> Any:
        """The block in which the length of a value that is not null is found; null has -1."""
        if not nullable:
            return self.out.block("if True:")
        self.out.line(f"if {value} is None: {length} = -1")
        return self.out.block("else:")

    def length(self, length: str, compact: bool, code: str) -> None:
        if not compact:
            self.out.run.append((code, length))
            self.flush()
            return
        run = [*self.out.run]
        with self.out.block(f"if {length} < 127:"):
            self.out.run.append(("B", f"{length} + 1"))
            self.flush()
        with self.out.block("else:"):
            self.out.run = run
            self.flush()
            self.out.line(f"w(varint({length} + 1))")

    def array(self, slot: Slot, value: str) -> None:
        count = self.out.name("n")
        with self.counted(count, value, slot.nullable):
            self.out.line(f"if {value}.__class__ is not list: raise Malformed")
            self.out.line(f"{count} = len({value})")
        self.length(count, slot.compact, "i")
        with self.out.block(f"if {count} > 0:"):
            if slot.kind in FORMATS and slot.kind not in ("bool", "uuid", "float64"):
                self.out.line(f"if set(map(type, {value})) != {{int}}: raise Malformed")
                self.out.line(f'w(pack(f">{{{count}}}{FORMATS[slot.kind]}", *{value}))')
            else:
                self.elements(slot, value)

    def elements(self, slot: Slot, value: str) -> None:
        element = self.out.name("e")
        with self.out.block(f"for {element} in {value}:"):
            if slot.kind == "struct":
                self.apart(lambda name: self.struct(slot, name), element)
            else:
                self.primitive(slot.kind, slot.compact, False, element)
            self.flush()


def write_tags(
    value: dict[str, Any], write: Callable[[bytes], None], untagged: int, known: dict[int, tuple[str, Any, Writer]]
) -> None:
    """Write the tag section of a body: known tags that do not have their default, and unknown ones, by number."""
    found: dict[int, bytes] = {}
    seen = untagged
    for tag, (key, default, writer) in known.items():
        if key in value:
            seen += 1
            if value[key] != default:
                parts: list[bytes] = []
                writer(value[key], parts.append)
                found[tag] = b"".join(parts)
    for one in value.get(UNKNOWN_TAGS, ()):
        if one["tag"].__class__ is not int or one["tag"] in known or one["tag"] in found or one["tag"] < 0:
            raise Malformed
        found[one["tag"]] = as_bytes(one["data"])
    if len(value) != seen + (UNKNOWN_TAGS in value):
        raise Malformed
    write(varint(len(found)))
    for tag, data in sorted(found.items()):
        write(varint(tag) + varint(len(data)) + data)
