"""Tables and names for a terminal: aligned columns, and nothing in them that acts on it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from kiplint.report.kit.colors import BOLD, DIM, paint
from kiplint.text.show import printable

WIDTH = 100


def table(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]], color: bool) -> list[str]:
    """The lines of a table, columns two blanks apart; a cell is its text and its colour, or empty."""
    cells = [[(printable(text), code) for text, code in row] for row in rows]
    widths = [max(len(title), *(len(row[n][0]) for row in cells)) for n, title in enumerate(head)] if cells else []
    lines = [_line([(title, DIM) for title in head], widths, color)] if cells else []
    return lines + [_line(row, widths, color) for row in cells]


def title(text: str, color: bool) -> str:
    """A heading."""
    return paint(printable(text), BOLD, color)


def paragraph(items: Iterable[str], indent: str = "  ") -> list[str]:
    """Items separated by commas, wrapped between them where the line is full."""
    glued = ", ".join(printable(item).replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    lines = textwrap.wrap(
        glued, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def wrapped(label: str, text: str, width: int, color: bool) -> list[str]:
    """A label in a column of its own, and the text beside it, wrapped."""
    lines = textwrap.wrap(printable(text), WIDTH - width - 4, break_long_words=False, break_on_hyphens=False)
    labels = [paint(label.ljust(width), DIM, color), *(" " * width for _ in lines[1:])]
    return [f"  {before}  {line}" for before, line in zip(labels, lines, strict=True)]


def _line(row: Sequence[tuple[str, str]], widths: Sequence[int], color: bool) -> str:
    last = len(row) - 1
    parts = []
    for n, (text, code) in enumerate(row):
        blanks = " " * (widths[n] - len(text)) if n < last else ""
        parts.append(paint(text, code, color) + blanks if code else text + blanks)
    return ("  " + "  ".join(parts)).rstrip()
