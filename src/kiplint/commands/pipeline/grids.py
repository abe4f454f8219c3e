"""Grids of text, as the pipeline answers with them: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TextIO

from kiplint.render.markdown import inline, write_row
from kiplint.render.table import DIM, paint, table, title, width_of
from kiplint.text.show import printable

NEXT = "\n"


class GridLike(Protocol):
    """A titled table of text, with a note below."""

    @property
    def title(self) -> str:
        """The heading."""

    @property
    def columns(self) -> Sequence[str]:
        """The heads of the columns."""

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """The cells."""

    @property
    def note(self) -> str:
        """What stands below the table."""


def write_text(grids: Iterable[GridLike], out: TextIO, *, color: bool) -> None:
    """Write the grids for a terminal."""
    parts = []
    for one in grids:
        lines = [
            title(one.title, color),
            *table(one.columns, ([(cell, "") for cell in row] for row in one.rows), color, width_of(out)),
        ]
        parts.append("\n".join([*lines, *([paint(f"  {printable(one.note)}", DIM, color)] if one.note else [])]))
    out.write("\n\n".join(parts) + "\n")


def write_markdown(grids: Iterable[GridLike], out: TextIO) -> None:
    """Write the grids as Markdown."""
    for number, one in enumerate(grids):
        out.write(f"{NEXT if number else ''}## {inline(one.title)}\n\n")
        if one.rows:
            write_row(map(inline, one.columns), out)
            write_row(["---"] * len(one.columns), out)
        for row in one.rows:
            write_row(map(inline, row), out)
        if one.note:
            out.write(f"{NEXT if one.rows else ''}{inline(one.note)}\n")
