"""What a KIP says of messages: its definitions, and the places where it tells of them in other ways."""

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
"""How many bytes a KIP may have: those of a wiki bring all their markup."""

_GRAMMAR: Final = re.compile(
    r"^[ \t]*+[A-Z]\w*?[ ]?(?:Request|Response)\b[^=\n]{0,60}=>", re.MULTILINE
)  # such as `ApiVersionRequest => ApiKeys`


class Draft(msgspec.Struct, frozen=True, dict=True):
    """A definition in a KIP, and its place there. The last one of a name counts, others are older."""

    definition: Definition
    block: Block
    span: Span
    older: bool = False

    @property
    def name(self) -> str:
        """The message's name, as far as it can be told."""
        message = self.definition.message
        return message.name if message else next(iter(self.definition.likely_names[1:]), "")


class Kip(msgspec.Struct, frozen=True, dict=True):
    """A KIP: its path as it is shown, its bytes and text, and its definitions in their order.

    `loose` are the lines of fields that stand outside of any definition, `grammar` those where a message is written
    in the notation that KIPs had before there were definitions.
    """

    path: str
    data: bytes
    document: ShownDocument
    drafts: tuple[Draft, ...]
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
    def current(self) -> tuple[Draft, ...]:
        """The definitions that count."""
        return tuple(one for one in self.drafts if not one.older)

    def span(self, block: Block, inner: Span) -> Span:
        """Where a place in a definition is in the KIP."""
        starts = self._starts.get(block.start) or self._starts.setdefault(block.start, Lines(block.text).starts)
        start = starts[min(inner.line, len(starts)) - 1] + inner.column - 1
        end = starts[min(inner.end_line, len(starts)) - 1] + inner.end_column - 1
        first, last = (min(one, len(block.text)) + block.start for one in (start, end))
        return Span(*self.document.span(first, last, self.lines))


def read_kip(path: str) -> Kip:
    """The KIP in a file, or for `-` on standard input. Raises SourceError where there is none to read."""
    data = _bytes(path)
    document = read_document(decode_text(data))
    found = find_blocks(document.plain)
    lines = Lines(document.text)
    label = "<stdin>" if path == STDIN else path

    def line(at: int) -> int:
        return lines.line_of(document.offsets[at])

    kip = Kip(
        label,
        data,
        document,
        tuple(_told_apart(document, lines, found.blocks)),
        tuple(map(line, found.loose)),
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


def _told_apart(document: ShownDocument, lines: Lines, blocks: Iterable[Block]) -> list[Draft]:
    """The definitions; of those with one name, all but the last are older: KIPs show what was, then what is to be."""
    drafts = [
        Draft(load("", block.text.encode()), block, Span(*document.span(block.start, block.end, lines)))
        for block in blocks
    ]
    last = {draft.name: n for n, draft in enumerate(drafts) if draft.name}
    return [
        msgspec.structs.replace(draft, older=True) if draft.name and last[draft.name] != n else draft
        for n, draft in enumerate(drafts)
    ]
