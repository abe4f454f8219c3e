"""Lines and columns of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Final

_LINE_END: Final = r"\r\n?|\n"
BOM: Final = "\ufeff"
"""The byte order mark; at offset 0 it is part of the text, but takes up no column."""


class Lines:
    r"""Turns character offsets of `text` into 1-based lines and columns, and back into lines' texts.

    `\n`, `\r\n` and `\r` end lines. Columns count characters. The table of lines is made at the first question.
    """

    __slots__ = ("__dict__", "text")

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        if "\r" in self.text:
            return [0, *(match.end() for match in re.finditer(_LINE_END, self.text))]
        return [0, *accumulate(map((1).__add__, map(len, self.text.split("\n"))))][:-1]

    def __len__(self) -> int:
        return len(self.starts)

    def line_of(self, offset: int) -> int:
        """The 1-based line of an offset; offsets outside the text count as its nearest end."""
        return bisect_right(self.starts, max(offset, 0))

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based (line, column) of an offset; offsets outside the text count as its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = self.line_of(offset)
        column = offset - self.starts[line - 1] + 1
        if line == 1 and offset and self.text.startswith(BOM):
            column -= 1
        return line, column

    def line(self, number: int) -> str:
        """The text of the 1-based line `number` without its line end; IndexError when there is no such line."""
        if not 1 <= number <= len(self.starts):
            raise IndexError(f"no line {number}")
        start = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        line = self.text[start:end].rstrip("\r\n")
        return line.removeprefix(BOM) if number == 1 else line


def decode_text(data: bytes) -> str:
    """The text of a file: UTF-8, with U+FFFD for what is not. A byte order mark stays, as U+FEFF at offset 0.

    `Lines`, `Locator`, `parse_suppressions` and `diagnose` agree on offsets for this text.
    """
    return data.decode("utf-8", "replace")
