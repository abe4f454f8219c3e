"""Places as other formats count them: bytes of a line, and lines for byte offsets."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import lru_cache

from kiplint.text.lines import Lines, decode_text


class Places:
    """Places in the files of a report, whose bytes are `sources`. Lines and columns are 1-based."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._of = lru_cache(maxsize=4)(self._read)

    def knows(self, path: str) -> bool:
        """Whether the bytes of the file are there."""
        return path in self._sources

    def shows(self, path: str, offset: int) -> bool:
        """Whether an offset in bytes has a line and column; the offsets of a byte order mark have none."""
        return offset > 0 or not self._sources[path].startswith(BOM_UTF8)

    def position(self, path: str, offset: int) -> tuple[int, int]:
        """The line and column of an offset in bytes; columns count characters."""
        return self._of(path).position(len(self._sources[path][:offset].decode("utf-8", "replace")))

    def byte_column(self, path: str, line: int, column: int) -> int:
        """A column that counts characters, counted in bytes."""
        lines = self._of(path)
        if not 1 <= line <= len(lines):
            return column
        return len(lines.line(line)[: column - 1].encode("utf-8", "replace")) + 1

    def bytes_between(self, path: str, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        return self._sources[path][start:end]

    def _read(self, path: str) -> Lines:
        return Lines(decode_text(self._sources.get(path, b"")))
