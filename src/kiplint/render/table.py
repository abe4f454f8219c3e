"""Text in columns and colours, fitted to the width of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.render.report import Verdict

BOLD = "1"
DIM = "2"
BLUE = "1;34"
SEVERITY = {"error": "1;31", "warning": "1;33", "info": "1;36"}


def paint(text: str, code: str, color: bool) -> str:
    """The text in a colour, or unchanged if colours are off."""
    return f"\x1b[{code}m{text}\x1b[0m" if color and text else text


WIDTH = 100
COLUMNS = 80
"""The columns of a terminal that does not tell its size."""


Cell = tuple[str, str]


def width_of(out: TextIO) -> int | None:
    """The columns of the terminal that `out` writes to; None where it is not a terminal, which has no end.

    COLUMNS counts as it does for `shutil.get_terminal_size`, whose module takes long to import.
    """
    return _columns() if out.isatty() else None


def _columns() -> int:
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    try:
        stdout = sys.__stdout__
        return (os.get_terminal_size(stdout.fileno()).columns if stdout else 0) or COLUMNS
    except (ValueError, OSError):
        return COLUMNS


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    color: bool,
    width: int | None = None,
    *,
    indent: str = "  ",
    code: str = DIM,
) -> list[str]:
    """The lines of a table, columns two blanks apart; a cell is its text and its colour, or empty.

    In a `width` that is too small, the widest columns are wrapped between words; columns that do not fit even then
    stand below their row. No word is ever broken. `code` is the colour of the head; an empty head is left out.
    """
    cells = [[(printable(text), paint_with) for text, paint_with in row] for row in rows]
    if not cells:
        return []
    all_rows = [[(printable(label), code) for label in head], *cells] if head else cells
    inner_width = None if width is None else width - len(indent)
    columns = list(zip(*all_rows, strict=True))
    widths = [max(len(text) for text, _ in column) for column in columns]
    least = [max(_least(text) for text, _ in column) for column in columns]
    beside = _beside(least, inner_width)
    final_widths = _fit(widths[:beside], least[:beside], inner_width)
    lines: list[str] = []
    for row in all_rows:
        lines += [f"{indent}{line}".rstrip() for line in _row(row[:beside], final_widths, color)]
        for text, paint_with in row[beside:]:
            lines += [f"{indent}    {paint(line, paint_with, color)}" for line in _fold(text, (inner_width or 0) - 4)]
    return lines


def _least(text: str) -> int:
    """The length of the longest word of a text, with the blanks that it begins with."""
    first = len(text) - len(text.lstrip())
    return first + max(map(len, text.split()), default=0)


def _beside(least: Sequence[int], width: int | None) -> int:
    """How many columns fit beside one another, at least one."""
    number = len(least)
    while width is not None and number > 1 and sum(least[:number]) + 2 * (number - 1) > width:
        number -= 1
    return number


def _fit(widths: Sequence[int], least: Sequence[int], width: int | None) -> list[int]:
    """The widths of columns that fit, the widest made narrower first."""
    result = list(widths)
    while width is not None and sum(result) + 2 * (len(result) - 1) > width:
        loose = [n for n, width_of_column in enumerate(result) if width_of_column > least[n]]
        if not loose:
            break
        result[max(loose, key=lambda n: result[n])] -= 1
    return result


def _row(row: Sequence[Cell], widths: Sequence[int], color: bool) -> list[str]:
    """The lines of a row, as many as its highest cell has."""
    cells = [_fold(text, width) for (text, _), width in zip(row, widths, strict=True)]
    height = max(1, *map(len, cells))
    parts = [
        [(part[n] if n < len(part) else "", code) for part, (_, code) in zip(cells, row, strict=True)]
        for n in range(height)
    ]
    return [_line(part, widths, color) for part in parts]


def _fold(text: str, width: int) -> list[str]:
    """A text in lines of a width, broken at blanks alone."""
    if len(text) <= width:
        return [text] if text else []
    return _wrap(text, max(width, 1))


def _wrap(text: str, width: int, first: str = "", following: str = "") -> list[str]:
    """A text in lines of a width, with their indents; no word is broken."""
    from textwrap import wrap  # a run without long lines does without

    return wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fold(text: str, width: int | None, color: bool = False, code: str = "") -> list[str]:
    """A text in lines that fit, each in the colour; continuation lines are indented, no word is broken."""
    plain = printable(text)
    lines = [plain]
    if width is not None and len(plain) > width:
        before = " " * (len(plain) - len(plain.lstrip()) + 4)
        lines = _wrap(plain, width, following=before)
    return [paint(line, code, color) for line in lines]


def verdict_lines(verdict: Verdict, width: int | None, color: bool) -> list[str]:
    """A verdict: its sentence, an indented line for each exception, and the next step."""
    lines = fold(verdict.sentence, width, color, BOLD)
    for text in verdict.exceptions:
        lines += fold(f"  {text}", width)
    return lines + (fold(verdict.step, width) if verdict.step else [])


def led(label: Cell, text: Cell, width: int | None, color: bool) -> list[str]:
    """A label and the text behind it, each in its colour, in lines that fit; continuation lines are indented."""
    prefix = printable(label[0])
    first, *others = fold(f"{prefix}{text[0]}", width)
    if not first.startswith(prefix):  # the label alone is too long
        prefix = ""
    rest = [" " * (len(line) - len(line.lstrip())) + paint(line.lstrip(), text[1], color) for line in others]
    return [paint(prefix, label[1], color and bool(label[1])) + paint(first[len(prefix) :], text[1], color), *rest]


def title(text: str, color: bool) -> str:
    """A heading."""
    return paint(printable(text), BOLD, color)


def paragraph(items: Iterable[str], indent: str = "  ", width: int | None = None) -> list[str]:
    """Items separated by commas, wrapped between them where the line is full; lines are never longer than `WIDTH`."""
    text = ", ".join(printable(item).replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    lines = _wrap(text, min(WIDTH, width or WIDTH), indent, indent)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def wrap_labelled(label: str, text: str, width: int, color: bool, room: int | None = None) -> list[str]:
    """A label in a column of its own, and the text beside it, wrapped; both together have the `room`."""
    most = max(min(WIDTH, room or WIDTH) - width - 4, 1)
    lines = _wrap(printable(text), most)
    labels = [paint(label.ljust(width), DIM, color), *(" " * width for _ in lines[1:])]
    return [f"  {before}  {line}" for before, line in zip(labels, lines, strict=True)]


def _line(row: Sequence[tuple[str, str]], widths: Sequence[int], color: bool) -> str:
    last = len(row) - 1
    parts = []
    for n, (text, code) in enumerate(row):
        blanks = " " * (widths[n] - len(text)) if n < last else ""
        parts.append(paint(text, code, color) + blanks if code else text + blanks)
    return "  ".join(parts)
