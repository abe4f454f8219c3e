"""Lines and columns of a text, in characters and in bytes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
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


@lru_cache(maxsize=4)
def byte_offsets(data: bytes) -> Sequence[int]:
    """By character of a file's text: its offset in bytes; then the number of the bytes."""
    if data.isascii():
        return range(len(data) + 1)
    return [*accumulate((len(character.encode()) for character in decode_text(data)), initial=0)]


def character_of(data: bytes, offset: int) -> int:
    """The offset in characters of an offset in bytes of UTF-8."""
    return bisect_left(byte_offsets(data), min(offset, len(data)))


@lru_cache(maxsize=4)
def lines_of(data: bytes) -> Lines:
    """The lines of a file's text."""
    return Lines(decode_text(data))
