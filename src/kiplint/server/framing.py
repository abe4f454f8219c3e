"""The messages of an editor, from its bytes: the header is checked before anything else is read."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.limits import MESSAGE_BYTES
from kiplint.sources.schema_files import LARGEST_ENTRY, MARKS
from kiplint.text.show import show_raw

MOST_KEPT = 16 << 20
"""The maximum of bytes of a message that are kept: what is in no text, and as much of each text as is needed."""

MOST_STRING: Final = 6 * LARGEST_ENTRY
"""The bytes of a string that are kept: enough to see that a text is too large, even where each byte is an escape."""

MOST_HEADER = 8 << 10
"""Bytes of all lines of a header."""

NAME = b"content-length"


class Frames(io.BufferedReader):
    """Standard input as pygls reads it: by lines up to an empty line, then as many bytes as the header states.

    Its lines are the two that pygls understands, whatever else a header has. Where the bytes are not messages nothing
    says where the next one begins: UsageError is raised.
    """

    _lines: tuple[bytes, ...] = ()

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line of a header; empty at the end of the input."""
        if not self._lines:
            length = self._length()
            if length is None:
                return b""
            self._lines = (b"Content-Length: %d\r\n" % length, b"\r\n")
        line, *rest = self._lines
        self._lines = tuple(rest)
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        """The bytes of a message."""
        if size is not None and size > MOST_KEPT:
            return shortened(self._pieces(size))
        data = super().read(size)
        if size is not None and len(data) < size:
            raise _ends_early(len(data), size)
        return data

    def _pieces(self, size: int) -> Iterator[bytes]:
        left = size
        while left:
            piece = super().read(min(left, 1 << 20))
            if not piece:
                raise _ends_early(size - left, size)
            left -= len(piece)
            yield piece

    def _length(self) -> int | None:
        """How many bytes the message behind the next header has; None where the input ends before it."""
        left, length = MOST_HEADER, None
        while line := super().readline(left + 1):
            left -= len(line)
            if left < 0:
                raise UsageError(f"standard input: the header of a message has more than {MOST_HEADER:,} bytes")
            if not line.endswith(b"\n"):
                break
            name, _, value = line.strip().partition(b":")
            if name.strip().lower() == NAME:
                length = value.strip()
            elif not name:
                return _number(length)
        if left == MOST_HEADER:
            return None
        raise UsageError("standard input ends in the header of a message")


def _ends_early(count: int, size: int) -> UsageError:
    return UsageError(f"standard input ends after {count:,} of the {size:,} bytes of a message")


_INSIDE: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_WHOLE: Final = re.compile(rb"(?:[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)


def shortened(pieces: Iterable[bytes]) -> bytes:
    """JSON in pieces, each string of it that is longer than `MOST_STRING` cut there.

    The marks of a definition behind the cut are appended, as `marks_of` does it for a file. Raises UsageError where
    more than `MOST_KEPT` bytes remain.
    """
    kept = bytearray()
    start, length, rest = -1, 0, b""  # where the string begins in what is kept, and its bytes so far
    marks: set[bytes] = set()
    for piece in pieces:
        data, at, rest = rest + piece, 0, b""
        while at < len(data):
            if start < 0:
                end = data.find(b'"', at) + 1 or len(data)
                kept += data[at:end]
                start, length, at = (len(kept), 0, end) if data[end - 1] == _QUOTE else (-1, 0, end)
            elif (end := _INSIDE.match(data, at).end()) > at:  # type: ignore[union-attr]
                room = max(MOST_STRING - length, 0)
                kept += data[at : min(end, at + room)]
                length += end - at
                if length > MOST_STRING:
                    marks |= {mark for mark in MARKS if mark in data[max(at - 20, 0) : end]}
                at = end
            elif data[at] == _QUOTE:
                if length > MOST_STRING:
                    whole = _WHOLE.match(bytes(kept[start:]))[0]  # type: ignore[index]
                    kept[start:] = b" ".join((whole.decode(errors="ignore").encode(), *sorted(marks)))
                    marks.clear()
                kept += b'"'
                start, at = -1, at + 1
            else:  # a backslash at the end of the piece
                rest, at = data[at:], len(data)
        if len(kept) > MOST_KEPT:
            raise UsageError(f"standard input: a message has more than {MOST_KEPT >> 20} MiB beside the text in it")
    return bytes(kept)


_QUOTE: Final = ord('"')


def _number(length: bytes | None) -> int:
    if length is None:
        raise UsageError("standard input is not a language client: a message has no Content-Length")
    if not length.isdigit() or not int(length[:20]):
        raise UsageError(f"standard input: invalid Content-Length {show_raw(length.decode('latin-1'))}")
    if len(length.lstrip(b"0")) > len(str(MESSAGE_BYTES)) or int(length) > MESSAGE_BYTES:
        raise UsageError(MESSAGE_BYTES.exceeded("standard input: a message"))
    return int(length)
