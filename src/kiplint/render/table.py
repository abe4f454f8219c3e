"""Text in columns and colours, fitted to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.render.report import Verdict

BOLD = "1"
DIM = "2"
BLUE = "1;34"
SEVERITY = {"error": "1;31", "warning": "1;33", "info": "1;36"}
WIDTH = 100
"""The longest line of a paragraph, however wide the terminal is."""

Cell = tuple[str, str]
"""A text and its colour, or empty."""


def paint(text: str, code: str, color: bool) -> str:
    """The text in a colour, or unchanged if colours are off."""
    return f"\x1b[{code}m{text}\x1b[0m" if color and text and code else text


def width_of(out: TextIO) -> int | None:
    """The columns of the terminal that `out` writes to; None where it is not a terminal, which has no end."""
    return get_terminal_size().columns if out.isatty() else None


def title(text: str, color: bool) -> str:
    """A heading."""
    return paint(printable(text), BOLD, color)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    color: bool,
    width: int | None = None,
    *,
    indent: str = "  ",
    code: str = DIM,
) -> list[str]:
    """The lines of a table, columns two blanks apart; an empty head is left out, `code` is its colour.

    In a `width` that is too small, the widest columns are wrapped between words; columns that do not fit even then
    stand below their row. No word is broken.
    """
    cells = [[(printable(text), paint_with) for text, paint_with in row] for row in rows]
    if not cells:
        return []
    if head:
        cells.insert(0, [(printable(label), code) for label in head])
    most = None if width is None else width - len(indent)
    widths = _fit([[text for text, _ in column] for column in zip(*cells, strict=True)], most)
    lines = []
    for row in cells:
        columns = [_fold(text, column_width) for (text, _), column_width in zip(row, widths, strict=False)]
        for parts in zip_longest(*columns, fillvalue=""):
            texts = (
                paint(text, paint_with, color) + " " * (column_width - len(text))
                for text, (_, paint_with), column_width in zip(parts, row, widths, strict=False)
            )
            lines.append(f"{indent}{'  '.join(texts)}".rstrip())
        for text, paint_with in row[len(widths) :]:
            below = _fold(text, (most or 0) - 4) if text else []
            lines += [f"{indent}    {paint(line, paint_with, color)}" for line in below]
    return lines


def _fit(columns: Sequence[Sequence[str]], most: int | None) -> list[int]:
    """The widths of the columns that fit beside one another, at least of one, the widest made narrower first."""
    widths = [max(map(len, column)) for column in columns]
    least = [max(len(word) for text in column for word in [*_indented_words(text), ""]) for column in columns]
    if most is None:
        return widths
    while len(least) > 1 and sum(least) + 2 * (len(least) - 1) > most:
        least.pop()
    widths = widths[: len(least)]
    while sum(widths) + 2 * (len(widths) - 1) > most and widths != least:
        loose = [number for number, column_width in enumerate(widths) if column_width > least[number]]
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _indented_words(text: str) -> list[str]:
    """The words of a text; the blanks that it begins with count as part of each."""
    blanks = text[: len(text) - len(text.lstrip())]
    return [blanks + word for word in text.split()]


def _fold(text: str, width: int) -> list[str]:
    """A text in lines of a width, at least one; no word is broken."""
    if len(text) <= width:
        return [text]
    return wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False)


def fold(text: str, width: int | None, color: bool = False, code: str = "") -> list[str]:
    """A text in lines that fit, each in the colour; continuation lines are indented, no word is broken."""
    plain = printable(text)
    lines = [plain]
    if width is not None and len(plain) > width:
        indent = " " * (len(plain) - len(plain.lstrip()) + 4)
        lines = wrap(plain, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [paint(line, code, color) for line in lines]


def paragraph(items: Iterable[str], indent: str = "  ", width: int | None = None) -> list[str]:
    """Items separated by commas, wrapped between them where the line is full; lines are never longer than `WIDTH`."""
    text = ", ".join(printable(item).replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    lines = _fold(text, min(WIDTH, width or WIDTH) - len(indent))
    return [indent + line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def verdict_lines(verdict: Verdict, width: int | None, color: bool) -> list[str]:
    """A verdict: its sentence, an indented line for each exception, and the next step."""
    lines = fold(verdict.sentence, width, color, BOLD)
    for text in verdict.exceptions:
        lines += fold(f"  {text}", width)
    return lines + (fold(verdict.step, width) if verdict.step else [])
