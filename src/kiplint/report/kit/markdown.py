"""What goes into Markdown: rows of tables, and text that means nothing to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from kiplint.text.show import printable

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", "@": "@<!-- -->", **{sign: "\\" + sign for sign in "\\|`*_[]~$"}})


def write_row(cells: Iterable[str], out: TextIO) -> None:
    """Write a row of a table; the cells are Markdown."""
    out.write(f"| {' | '.join(cells)} |\n")


def inline(text: str) -> str:
    """Text that stays in its line and its cell, means nothing to Markdown or HTML, and calls and links nobody."""
    return printable(text).translate(_ESCAPES).replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
