"""The definitions in the text of a KIP, and the places where it describes messages in other ways."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import msgspec

from kiplint.engine.finding import Span
from kiplint.model.load import Definition, load
from kiplint.sources.schema_files import SourceError
from kiplint.text.document import Block, ShownDocument, find_blocks, read_document
from kiplint.text.files import read_file
from kiplint.text.lines import Lines, decode_text

STDIN: Final = "-"
LARGEST: Final = 1 << 24
"""The size of the largest KIP, in bytes; those of a wiki contain all their markup."""

_GRAMMAR: Final = re.compile(
    r"^[ \t]*+[A-Z]\w*?[ ]?(?:Request|Response)\b[^=\n]{0,60}=>", re.MULTILINE
)  # such as `ApiVersionRequest => ApiKeys`


class KipDefinition(msgspec.Struct, frozen=True, dict=True):
    """A definition in a KIP, and its place there. The last definition of a name counts, the others are older."""

    source: Definition
    block: Block
    span: Span
    older: bool = False

    @property
    def name(self) -> str:
        """The message's name, as far as it can be read."""
        message = self.source.message
        return message.name if message else next(iter(self.source.likely_names[1:]), "")


class Kip(msgspec.Struct, frozen=True, dict=True):
    """A KIP: its path as it is shown, its bytes and text, and its definitions in their order.

    `loose` are the lines of fields outside of definitions, `grammar` the lines with messages in the notation that KIPs
    had before there were definitions.
    """

    path: str
    data: bytes
    document: ShownDocument
    definitions: tuple[KipDefinition, ...]
    loose: tuple[int, ...] = ()
    grammar: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> Lines:
        """The lines of its text."""
        return Lines(self.document.text)

    @cached_property
    def _starts(self) -> dict[int, list[int]]:
        return {}

    @property
    def current(self) -> tuple[KipDefinition, ...]:
        """The definitions that count."""
        return tuple(definition for definition in self.definitions if not definition.older)

    def span(self, block: Block, inner: Span) -> Span:
        """The place in the KIP of a place in a definition."""
        starts = self._starts.get(block.start) or self._starts.setdefault(block.start, Lines(block.text).starts)
        start = starts[min(inner.line, len(starts)) - 1] + inner.column - 1
        end = starts[min(inner.end_line, len(starts)) - 1] + inner.end_column - 1
        first, last = (min(offset, len(block.text)) + block.start for offset in (start, end))
        return Span(*self.document.span(first, last, self.lines))


def read_kip(path: str) -> Kip:
    """The KIP in a file, or in standard input for `-`. Raises SourceError where it cannot be read."""
    data = _bytes(path)
    document = read_document(decode_text(data))
    blocks = find_blocks(document.plain)
    lines = Lines(document.text)
    label = "<stdin>" if path == STDIN else path

    def line(offset: int) -> int:
        return lines.line_of(document.offsets[offset])

    kip = Kip(
        label,
        data,
        document,
        tuple(_mark_older(document, lines, blocks.blocks)),
        tuple(map(line, blocks.loose)),
        tuple(line(match.start()) for match in _GRAMMAR.finditer(document.plain)),
    )
    vars(kip)["lines"] = lines
    return kip


def _bytes(path: str) -> bytes:
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise SourceError("cannot read standard input: it is closed")
            return sys.stdin.buffer.read(LARGEST)
        return read_file(path, LARGEST)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None


def _mark_older(document: ShownDocument, lines: Lines, blocks: Iterable[Block]) -> list[KipDefinition]:
    """The definitions; all but the last of a name are older: KIPs show the old definition, then the new."""
    definitions = [
        KipDefinition(load("", block.text.encode()), block, Span(*document.span(block.start, block.end, lines)))
        for block in blocks
    ]
    last = {definition.name: n for n, definition in enumerate(definitions) if definition.name}
    return [
        msgspec.structs.replace(definition, older=True)
        if definition.name and last[definition.name] != n
        else definition
        for n, definition in enumerate(definitions)
    ]
