"""Text in columns and colors, fitted to the width of the terminal."""

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
"""A text and its color code, which may be empty."""


def paint(text: str, code: str, color: bool) -> str:
    """The text in a color, such as `DIM`; unchanged if colors are off or the code is empty."""
    return f"\x1b[{code}m{text}\x1b[0m" if color and text and code else text


def width_of(out: TextIO) -> int | None:
    """The number of columns of the terminal that `out` writes to; None for other outputs, which are not wrapped."""
    return get_terminal_size().columns if out.isatty() else None


def title(text: str, color: bool) -> str:
    """A text as a heading, which is bold."""
    return paint(printable(text), BOLD, color)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    color: bool,
    width: int | None = None,
    *,
    indent: str = "  ",
    head_code: str = DIM,
) -> list[str]:
    """The lines of a table, columns two blanks apart; an empty head is omitted, `head_code` is its color.

    In a `width` that is too small, the last column is wrapped, or stands below its row where it is too narrow for its
    longest word. No word is broken.
    """
    cells = [[(printable(text), cell_code) for text, cell_code in row] for row in rows]
    if not cells:
        return []
    if head:
        cells.insert(0, [(printable(label), head_code) for label in head])
    widths = [max(len(text) for text, _ in column) for column in zip(*cells, strict=True)]
    start_of_last = len(indent) + sum(column_width + 2 for column_width in widths[:-1])
    words_of_last = [word for *_, (text, _) in cells for word in text.split()]
    is_last_below = width is not None and start_of_last + max(map(len, words_of_last), default=0) > width
    margin = " " * (len(indent) + 4 if is_last_below else start_of_last)
    lines = []
    for *first_cells, (last_text, last_code) in cells:
        plain_row = painted_row = indent
        for (text, cell_code), column_width in zip(first_cells, widths, strict=False):
            blanks = " " * (column_width - len(text) + 2)
            plain_row += text + blanks
            painted_row += paint(text, cell_code, color) + blanks
        last_lines = _wrapped(last_text, None if width is None else width - len(margin))
        if is_last_below:
            row_lines = _wrapped(plain_row.rstrip(), width, margin)
            lines += row_lines if len(row_lines) > 1 else [painted_row.rstrip()]  # a wrapped row has no colours
        else:
            lines.append((painted_row + paint(last_lines[0], last_code, color)).rstrip())
            last_lines = last_lines[1:]
        lines += [margin + paint(line, last_code, color) for line in last_lines if line]
    return lines


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """The lines of a text, at least one, at most `width` or one word long; all but the first have the `indent`."""
    if width is None or len(text) <= width:
        return [text]
    return wrap(text, max(width, 1), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def fold(text: str, width: int | None, color: bool = False, code: str = "") -> list[str]:
    """The lines of a text, wrapped to the width, each in the color; later lines are indented by four more spaces.

    No word is broken.
    """
    plain = printable(text)
    indent = " " * (len(plain) - len(plain.lstrip()) + 4)
    return [paint(line, code, color) for line in _wrapped(plain, width, indent)]


def paragraph(items: Iterable[str], indent: str = "  ", width: int | None = None) -> list[str]:
    """The lines of items with commas between them, wrapped to `WIDTH` or a smaller `width`; no item is broken."""
    no_break = "\N{NO-BREAK SPACE}"
    text = indent + ", ".join(printable(item).replace(" ", no_break) for item in items)
    return [line.replace(no_break, " ") for line in _wrapped(text, min(WIDTH, width or WIDTH), indent)]


def verdict_lines(verdict: Verdict, width: int | None, color: bool) -> list[str]:
    """A verdict: its sentence, an indented line for each exception, and the next step."""
    lines = fold(verdict.sentence, width, color, BOLD)
    for text in verdict.exceptions:
        lines += fold(f"  {text}", width)
    return lines + (fold(verdict.step, width) if verdict.step else [])
