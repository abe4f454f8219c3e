"""Lines and columns of a text, in characters and in bytes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

BOM: Final = "\ufeff"
"""The byte order mark; at offset 0 it is part of the text, but takes up no column."""


class Lines:
    r"""The lines of a text, which `\n`, `\r\n` and `\r` end. Columns count characters; both are counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", self.text))]

    def line_of(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return bisect_right(self.starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based (line, column) of an offset."""
        line = self.line_of(offset)
        column = offset - self.starts[line - 1] + 1
        if line == 1 and offset and self.text.startswith(BOM):
            column -= 1
        return line, column

    def line(self, number: int) -> str:
        """The text of the line with a number, counted from 1, without its line end; IndexError when there is none."""
        start = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        line = self.text[start:end].rstrip("\r\n")
        return line.removeprefix(BOM) if number == 1 else line


def decode_text(data: bytes) -> str:
    """The text of a file: U+FFFD replaces bytes that are not UTF-8, and a byte order mark stays, as U+FEFF."""
    return data.decode("utf-8", "replace")


@lru_cache(maxsize=4)
def byte_offsets(data: bytes) -> Sequence[int]:
    """The byte offset of each character of a file's text, and of its end; `[0, 1, 3]` for `a` and `é`."""
    if data.isascii():
        return range(len(data) + 1)
    widths = (len(character.encode()) for character in decode_text(data))
    return [*accumulate(widths, initial=0)]


def character_offset(data: bytes, offset: int) -> int:
    """The character offset in the text of a file that a byte offset corresponds to; beyond its end, the end."""
    return bisect_left(byte_offsets(data), min(offset, len(data)))


@lru_cache(maxsize=4)
def lines_of(data: bytes) -> Lines:
    """The lines of a file's text."""
    return Lines(decode_text(data))
