"""The messages of an editor out of its bytes: a header is looked at before anything is read for it."""

from __future__ import annotations

import io

from kiplint.engine.errors import UsageError
from kiplint.text.show import show_raw

MOST_BYTES = 128 << 20
"""The longest message that is read: more than twice the largest text that editors send, so that it may be escaped."""

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
        data = super().read(size)
        if size is not None and len(data) < size:
            raise UsageError(f"standard input ends after {len(data):,} of the {size:,} bytes of a message")
        return data

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


def _number(length: bytes | None) -> int:
    if length is None:
        raise UsageError("standard input is not a language client: a message has no Content-Length")
    if not length.isdigit() or not int(length[:20]):
        raise UsageError(
            f"standard input: a Content-Length is {show_raw(length.decode('latin-1'))}, and no number of bytes"
        )
    if len(length.lstrip(b"0")) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
        raise UsageError(
            f"standard input: a message has more than {MOST_BYTES >> 20} MiB, which is all that is read of one"
        )
    return int(length)
