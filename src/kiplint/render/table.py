"""Text in columns and colours, fitted to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    In a `width` that is too small, the last column is wrapped, or stands below its row where it is too narrow for its
    longest word. No word is broken.
    """
    cells = [[(printable(text), paint_with) for text, paint_with in row] for row in rows]
    if not cells:
        return []
    if head:
        cells.insert(0, [(printable(label), code) for label in head])
    widths = [max(len(text) for text, _ in column) for column in zip(*cells, strict=True)]
    start = len(indent) + sum(size + 2 for size in widths[:-1])
    longest_word = max(len(word) for row in cells for word in [*row[-1][0].split(), ""])
    is_below = width is not None and start + longest_word > width
    margin = " " * (len(indent) + 4 if is_below else start)
    lines = []
    for *row, (last, paint_with) in cells:
        pairs = [*zip(row, widths, strict=False)]
        first = indent + "".join(paint(text, of, color) + " " * (size - len(text) + 2) for (text, of), size in pairs)
        texts = _fold(last, None if width is None else width - len(margin))
        if is_below:
            plain = indent + "  ".join(text.ljust(size) for (text, _), size in pairs).rstrip()
            folded = _fold(plain, width, margin)
            lines += folded if len(folded) > 1 else [first.rstrip()]
        else:
            lines.append((first + paint(texts.pop(0), paint_with, color)).rstrip())
        lines += [margin + paint(text, paint_with, color) for text in texts if text]
    return lines


def _fold(text: str, width: int | None, indent: str = "") -> list[str]:
    """A text in lines of a width, at least one, the further ones indented; no word is broken."""
    if width is None or len(text) <= width:
        return [text]
    return wrap(text, max(width, 1), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def fold(text: str, width: int | None, color: bool = False, code: str = "") -> list[str]:
    """A text in lines that fit, each in the colour; continuation lines are indented, no word is broken."""
    plain = printable(text)
    indent = " " * (len(plain) - len(plain.lstrip()) + 4)
    return [paint(line, code, color) for line in _fold(plain, width, indent)]


def paragraph(items: Iterable[str], indent: str = "  ", width: int | None = None) -> list[str]:
    """Items separated by commas, wrapped between them where the line is full; lines are never longer than `WIDTH`."""
    text = indent + ", ".join(printable(item).replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in _fold(text, min(WIDTH, width or WIDTH), indent)]


def verdict_lines(verdict: Verdict, width: int | None, color: bool) -> list[str]:
    """A verdict: its sentence, an indented line for each exception, and the next step."""
    lines = fold(verdict.sentence, width, color, BOLD)
    for text in verdict.exceptions:
        lines += fold(f"  {text}", width)
    return lines + (fold(verdict.step, width) if verdict.step else [])
