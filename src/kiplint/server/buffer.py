"""A text as an editor has it: positions as editors count them, what is at a position, and the message if broken."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

import msgspec
from lsprotocol import types

from kiplint.engine.finding import Span
from kiplint.limits import DEFINITION_BYTES
from kiplint.model.fields import Field, Struct
from kiplint.model.message import Message
from kiplint.model.shape import repair
from kiplint.model.spec import MessageSpec
from kiplint.text.decode import NOT_JSON
from kiplint.text.lines import BOM, Lines
from kiplint.text.scan import escape, scan
from kiplint.text.tree import Node

_WIDE: Final = {"utf-8": re.compile("[^\\x00-\\x7f]"), "utf-16": re.compile("[^\\x00-\\uffff]")}
_ELEMENTS: Final = ("fields", "commonStructs")
_REQUIRED_KEYS: Final = frozenset(("type", "versions", "fields"))
"""What is taken over of a field or struct although the text does not begin it; of the message everything is."""


class Units:
    """How many bytes (`utf-8`) or 16-bit units (`utf-16`) stand before each character; any other counts characters.

    Only the characters that take more than one unit are kept, so that a place costs a search among them. Half a
    character, a lone surrogate, takes one unit.
    """

    def __init__(self, text: str, encoding: str) -> None:
        wide = () if text.isascii() or encoding not in _WIDE else [*_WIDE[encoding].finditer(text)]
        self._behind = [match.end() for match in wide]
        self._more = [0, *accumulate(_units(match[0], encoding) - 1 for match in wide)]

    def before(self, offset: int) -> int:
        """The units before a character."""
        return offset + self._more[bisect_right(self._behind, offset)]

    def offset(self, units: int, start: int, end: int) -> int:
        """The first character from `start` on that has so many units before it, at most `end`."""
        return start + bisect_left(range(start, end), units, key=self.before)


def _units(sign: str, encoding: str) -> int:
    return 2 if encoding == "utf-16" else len(sign.encode("utf-8", "replace"))


Encoding = types.PositionEncodingKind | str


class Buffer:
    """One state of one text; `version` is the editor's number of it, None for a file that no editor has open.

    Offsets count characters. Positions count lines from 0, and in them what the editor counts: UTF-16 units, unless it
    asked for another encoding.
    """

    def __init__(self, path: str, text: str, version: int | None, encoding: Encoding) -> None:
        self.path = path
        self.text = text
        self.version = version
        self.encoding = encoding
        self.lines = Lines(text)

    @property
    def fits(self) -> bool:
        """Whether it is small enough for a definition; one that is not is not looked into, and may be cut."""
        return len(self.text) <= DEFINITION_BYTES and len(self.data) <= DEFINITION_BYTES

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file that it would be; half a character that was cut out becomes a question mark."""
        return self.text.encode("utf-8", "replace")

    @cached_property
    def root(self) -> Node | None:
        """The tree of the text, whatever is wrong with it; None when there is no value in it, or it is too large."""
        return scan(self.text).root if self.fits else None

    @cached_property
    def _units(self) -> Units:
        return Units(self.text, str(getattr(self.encoding, "value", self.encoding)))

    @cached_property
    def _bytes(self) -> Units:
        return Units(self.text, "utf-8")

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> Buffer:
        """The text after the changes, one after the other; a change of a part of what does not fit leaves it so."""
        now = self
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                if not now.fits:
                    now = Buffer(self.path, now.text, version, self.encoding)
                    continue
                start, end = now.offset(change.range.start), now.offset(change.range.end)
                text = now.text[:start] + change.text + now.text[max(start, end) :]
            else:
                text = change.text
            now = Buffer(self.path, text, version, self.encoding)
        return now

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond a line or the text counts as its end."""
        if position.line >= len(self.lines):
            return len(self.text)
        start, end = self._line(position.line)
        return self._units.offset(self._units.before(start) + position.character, start, end)

    def position(self, offset: int) -> types.Position:
        """The position of an offset; one outside the text counts as its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        number = self.lines.line_of(offset) - 1
        start = self.lines.starts[number]
        return types.Position(number, self._units.before(offset) - self._units.before(start))

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_of_span(self, span: Span) -> types.Range:
        """The range of a finding."""
        return self.range(self._offset_at(span.line, span.column), self._offset_at(span.end_line, span.end_column))

    def range_of_bytes(self, start: int, end: int) -> types.Range:
        """The range of an edit, which counts bytes."""
        return self.range(*(self._bytes.offset(at, 0, len(self.text)) for at in (start, end)))

    def _offset_at(self, line: int, column: int) -> int:
        mark = line == 1 and self.text.startswith(BOM)  # it takes up no column
        return self.lines.starts[line - 1] + column - 1 + mark

    def _line(self, number: int) -> tuple[int, int]:
        """The offsets of a line without what ends it."""
        starts = self.lines.starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        while end > starts[number] and self.text[end - 1] in "\r\n":
            end -= 1
        return starts[number], end


Element = Message | Struct | Field


class Place(msgspec.Struct, frozen=True):
    """The innermost value around an offset. `way` leads to it from the whole, `tokens` are the pointer's."""

    way: tuple[Node, ...]
    tokens: tuple[str, ...]

    @property
    def node(self) -> Node:
        """The value itself."""
        return self.way[-1]

    @property
    def key(self) -> str:
        """The property that the value is of, or is inside of as an element of a list of words; else empty."""
        return next((token for token in reversed(self.tokens) if not token.isdigit()), "")

    @property
    def pointer(self) -> str:
        """Its JSON pointer."""
        return pointer_of(self.tokens)

    @property
    def depth(self) -> int:
        """How many tokens of the pointer lead to the message, struct or field that the value belongs to."""
        depth = 0
        while self.tokens[depth : depth + 1] in (("fields",), ("commonStructs",)) and len(self.tokens) > depth + 1:
            depth += 2
        return depth


def place_at(buffer: Buffer, offset: int) -> Place | None:
    """The innermost value, with its key, that an offset is in or at the end of; None outside of all."""
    node = buffer.root
    if node is None or not node.start <= offset <= node.end:
        return None
    way, tokens = [node], list[str]()
    while child := _child(node, offset):
        number, node = child
        way.append(node)
        tokens.append(str(number) if node.key is None else node.key)
    return Place(tuple(way), tuple(tokens))


def _child(node: Node, offset: int) -> tuple[int, Node] | None:
    for number, inner in enumerate(node.children):
        if (inner.start if inner.key is None else inner.key_start) <= offset <= inner.end:
            return number, inner
    return None


def element_at(message: Message, place: Place) -> Element:
    """The message, struct or field that a place belongs to."""
    pointer = pointer_of(place.tokens[: place.depth])
    elements: dict[str, Element] = {struct.pointer: struct for struct in message.structs if struct.is_common}
    elements |= {field.pointer: field for field in message.all_fields}
    return elements.get(pointer, message)


def pointer_of(tokens: tuple[str, ...]) -> str:
    """The JSON pointer (RFC 6901) of tokens."""
    return "".join(f"/{escape(token)}" for token in tokens)


def child(node: Node, key: str) -> Node | None:
    """A property of an object; of several the last."""
    return next((member for member in reversed(node.children) if member.key == key), None)


def objects(node: Node | None, key: str = "fields") -> Iterator[Node]:
    """Every object under `fields` or `commonStructs`, at every depth, the outer ones first."""
    container = child(node, key) if node else None
    for element in container.children if container and container.kind == "array" else ():
        if element.kind == "object":
            yield element
            yield from objects(element)


def salvage(buffer: Buffer, before: MessageSpec | None) -> Message | None:
    """The message of a broken text, `before` what it last was; None where not even an object can be made out.

    Pointers refer to the broken text.
    """
    value = _value(buffer.root, buffer.text) if buffer.root else None
    if not isinstance(value, dict):
        return None
    value = _merge(value, msgspec.to_builtins(before) if before else {}, whole=True)
    name = os.path.basename(buffer.path).removesuffix(".json")
    stand_ins = {"name": name, "type": "response" if name.endswith("Response") else "request", "validVersions": "0"}
    spec = repair({**stand_ins, **value})[0]
    return Message(spec, buffer.path, buffer.data) if spec else None


_MISSING: Final = object()


def _value(node: Node, text: str) -> Any:
    """The value of a node; `_MISSING` for what has none yet, or is a string without its end."""
    if node.kind == "object":
        return {child.key: _value(child, text) for child in node.children}
    if node.kind == "array":
        return [value for child in node.children if (value := _value(child, text)) is not _MISSING]
    if node.kind == "string":
        closed = node.end - node.start > 1 and text[node.end - 1] == text[node.start]
        return node.string(text) if closed else _MISSING
    try:
        return msgspec.json.decode(text[node.start : node.end])
    except NOT_JSON:
        return _MISSING


def _complete(value: Any) -> Any:
    """A value without what has none yet."""
    if isinstance(value, dict):
        return {key: _complete(inner) for key, inner in value.items() if inner is not _MISSING}
    return [_complete(inner) for inner in value] if isinstance(value, list) else value


def _merge(value: dict[str, Any], before: dict[str, Any], *, whole: bool = False) -> dict[str, Any]:
    """An object with what it lacks, and what its text has only begun, as it was before; elements go by their names."""
    result: dict[str, Any] = _complete(value)
    for key, inner in before.items():
        if key not in result and (whole or key in value or key in _REQUIRED_KEYS):
            result[key] = inner
    for key in _ELEMENTS:
        if isinstance(elements := value.get(key), list):
            former = {element["name"]: element for element in before.get(key) or ()}
            result[key] = []
            for element in elements:
                if isinstance(element, dict):
                    name = element.get("name")
                    result[key].append(_merge(element, former.get(name, {}) if isinstance(name, str) else {}))
    return result
