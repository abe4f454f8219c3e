"""The messages in the text of a KIP, as definitions, and what of them cannot be read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from kiplint.commands.kip.forms import (
    Form,
    Kind,
    Originals,
    Unread,
    find_patches,
    name_in,
    new_side,
    read_block,
    unsigned,
)
from kiplint.commands.kip.tables import find_tables
from kiplint.engine.finding import Line, Span
from kiplint.limits import KIP_BYTES
from kiplint.model.load import Definition, load
from kiplint.sources.disk import STDIN, read_input
from kiplint.text.document import Block, ShownDocument, find_blocks, read_document
from kiplint.text.lines import Lines, decode_text


class KipDefinition(msgspec.Struct, frozen=True):
    """A message in a KIP as a definition, and its place there. The last of a name counts, the others are older.

    `kind` is how the KIP writes it: as a `definition`, a `part` of it, a `patch`, or a `table` of fields.
    """

    source: Definition
    block: Block
    span: Span
    older: bool = False
    kind: Kind = "definition"

    @property
    def name(self) -> str:
        """The message's name, as far as it can be read."""
        message = self.source.message
        return message.name if message else next(iter(self.source.likely_names[1:]), "")


class UnreadObject(msgspec.Struct, frozen=True):
    """What a KIP says of a message and kiplint cannot read."""

    line: Line
    name: Annotated[str, Meta(description="The name of the message or field, or empty.")]
    reason: Annotated[str, Meta(description="Why it cannot be read.")]


class Kip(msgspec.Struct, frozen=True, dict=True):
    """A KIP: its path as it is shown, its bytes and text, its definitions in their order, and what cannot be read.

    `loose` are the lines of fields outside of definitions.
    """

    path: str
    data: bytes
    document: ShownDocument
    definitions: tuple[KipDefinition, ...]
    unread: tuple[UnreadObject, ...] = ()
    loose: tuple[int, ...] = ()

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

    def _stretch(self, block: Block, inner: Span) -> tuple[int, int]:
        starts = self._starts.get(block.start) or self._starts.setdefault(block.start, Lines(block.text).starts)
        start = starts[min(inner.line, len(starts)) - 1] + inner.column - 1
        return start, starts[min(inner.end_line, len(starts)) - 1] + inner.end_column - 1

    def span(self, block: Block, inner: Span) -> Span:
        """The place in the KIP of a place in a definition."""
        return Span(*self.document.span(*block.stretch(*self._stretch(block, inner)), self.lines))

    def has(self, block: Block, inner: Span) -> bool:
        """Whether the KIP itself has the text at a place in a definition."""
        return block.has(*self._stretch(block, inner))


def read_kip(path: str, base: Originals | None = None) -> Kip:
    """The KIP in a file, or in standard input for `-`; `base` has what it leaves out, and what its patches apply to.

    Raises SourceError where it cannot be read.
    """
    data = read_input(path, KIP_BYTES)
    document = read_document(decode_text(data))
    plain = document.plain
    lines = Lines(document.text)

    def line(offset: int) -> int:
        return lines.line_of(document.offsets[offset])

    patches = find_patches(plain)
    new = new_side(plain, patches)
    blocks = find_blocks(new)
    if (bare := unsigned(new, blocks.blocks)) != new:
        new, blocks = bare, find_blocks(bare)
    whole = [read_block(block) for block in blocks.blocks]
    in_patches = [(patch.start, patch.end) for patch in patches]
    complete = {_stretch_of(form.start, in_patches) for form in whole}
    forms = [*whole, *(patch.form for patch in patches if (patch.start, patch.end) not in complete)]
    definition_stretches = sorted([*in_patches, *((form.start, form.end) for form in whole)])
    loose = [start for start in blocks.loose if not _stretch_of(start, in_patches)]
    unread = [Unread(start, name_in(new[start : start + 400]), "is a field outside of a definition") for start in loose]
    for table in find_tables(plain):
        if _stretch_of(table.start, definition_stretches):
            continue
        if isinstance(table, Form):
            forms.append(table)
        else:
            unread.append(table)
    definitions: list[KipDefinition] = []
    for form in sorted(forms, key=lambda form: form.start):
        text = form.read(base)
        if isinstance(text, Unread):
            unread.append(text)
        else:
            span = Span(*document.span(form.start, form.end, lines))
            places = () if isinstance(text.places, range) else text.places
            block = Block(form.start, form.end, text.text, places=places)
            definitions.append(KipDefinition(load("", text.text.encode()), block, span, kind=form.kind))
    kip = Kip(
        "<stdin>" if path == STDIN else path,
        data,
        document,
        tuple(_mark_older(definitions)),
        tuple(
            UnreadObject(line(piece.start), piece.name, piece.reason)
            for piece in sorted(unread, key=lambda piece: piece.start)
        ),
        tuple(map(line, blocks.loose)),
    )
    vars(kip)["lines"] = lines
    return kip


def _stretch_of(start: int, stretches: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The stretch that has an offset, or None; the stretches are in order and apart."""
    number = bisect_right(stretches, start, key=lambda stretch: stretch[0])
    return stretches[number - 1] if number and start < stretches[number - 1][1] else None


def _mark_older(definitions: Sequence[KipDefinition]) -> list[KipDefinition]:
    """The definitions; all but the last of a name are older: KIPs show the old definition, then the new."""
    last = {definition.name: n for n, definition in enumerate(definitions) if definition.name}
    return [
        msgspec.structs.replace(definition, older=last.get(definition.name, n) != n)
        for n, definition in enumerate(definitions)
    ]
