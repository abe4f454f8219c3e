"""A text as an editor has it, and the places in it as the language server protocol counts them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from lsprotocol import types

from kiplint.engine.finding import Span
from kiplint.text.lines import BOM, Lines
from kiplint.text.nodes import Node
from kiplint.text.scan import scan

Encoding = types.PositionEncodingKind | str
_BYTES: dict[str, tuple[str, int]] = {
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
}


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

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file that it would be; half a character that was cut out becomes a question mark."""
        return self.text.encode("utf-8", "replace")

    @cached_property
    def root(self) -> Node | None:
        """The tree of the text, whatever is wrong with it; None when there is no value in it."""
        return scan(self.text).root

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> Buffer:
        """The text after the changes, one after the other."""
        now = self
        for one in changes:
            if isinstance(one, types.TextDocumentContentChangePartial):
                start, end = now.offset(one.range.start), now.offset(one.range.end)
                text = now.text[:start] + one.text + now.text[max(start, end) :]
            else:
                text = one.text
            now = Buffer(self.path, text, version, self.encoding)
        return now

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond a line or the text counts as its end."""
        if position.line >= len(self.lines):
            return len(self.text)
        start = self.lines.starts[position.line]
        line = self._line(position.line)
        if line.isascii() or self.encoding not in _BYTES:
            return start + min(position.character, len(line))
        seen = 0
        for number, character in enumerate(line):
            if seen >= position.character:
                return start + number
            seen += self._units(character)
        return start + len(line)

    def position(self, offset: int) -> types.Position:
        """The position of an offset; one outside the text counts as its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        number = self.lines.line_of(offset) - 1
        return types.Position(number, self._units(self.text[self.lines.starts[number] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_of_span(self, span: Span) -> types.Range:
        """The range of a finding."""
        return self.range(self._offset_at(span.line, span.column), self._offset_at(span.end_line, span.end_column))

    def range_of_bytes(self, start: int, end: int) -> types.Range:
        """The range of an edit, which counts bytes."""
        if self.data.isascii():
            return self.range(start, end)
        before, inside = (self.data[part].decode("utf-8", "replace") for part in (slice(start), slice(start, end)))
        return self.range(len(before), len(before) + len(inside))

    def whole(self) -> types.Range:
        """The range of all there is."""
        return self.range(0, len(self.text))

    def _offset_at(self, line: int, column: int) -> int:
        mark = line == 1 and self.text.startswith(BOM)  # it takes up no column
        return self.lines.starts[line - 1] + column - 1 + mark

    def _line(self, number: int) -> str:
        starts = self.lines.starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding not in _BYTES:
            return len(text)
        name, size = _BYTES[self.encoding]
        return len(text.encode(name, "surrogatepass")) // size
