"""Bytes of a connection as frames, each behind its length of four bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kiplint.codec.problems import Problem
from kiplint.codec.wire import MOST_BYTES
from kiplint.text.words import in_bytes


class Piece(NamedTuple):
    """One frame of a stream: where its length stands, its bytes without that, and what is wrong with its length."""

    offset: int
    data: bytes
    problem: Problem | None = None


def split(data: bytes, start: int = 0) -> Iterator[Piece]:
    """The frames of a stream from a position on; one whose length cannot be is the last."""
    pos = start
    while pos < len(data):
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        left = len(data) - pos - 4
        if left < 0:
            text = f"the stream ends inside the length of a frame: {left + 4} of 4 bytes"
            yield Piece(pos, b"", Problem("codec/truncated", pos, text))
        elif size < 0:
            yield Piece(pos, b"", Problem("codec/length-negative", pos, f"the length of the frame is {size}"))
        elif size > MOST_BYTES:
            text = f"the length of the frame is {size}; {MOST_BYTES} bytes are the most"
            yield Piece(pos, b"", Problem("codec/too-large", pos, text))
        elif size > left:
            text = f"the length of the frame is {size}, {in_bytes(left, 'is', 'are')} left"
            yield Piece(pos, data[pos + 4 :], Problem("codec/length-beyond-end", pos, text))
        else:
            yield Piece(pos, data[pos + 4 : pos + 4 + size])
            pos += 4 + size
            continue
        return
