"""A position in bytes that are to be explained: every step is checked, and what is wrong is noted."""

from __future__ import annotations

import struct
from typing import Any

from kiplint.codec.problems import Problem
from kiplint.codec.shape import FORMATS
from kiplint.codec.span import Span
from kiplint.codec.wire import float_json, uuid_text
from kiplint.model.types import WIDTHS
from kiplint.text.words import in_bytes

MOST_PROBLEMS = 100
"""How many problems of one message are told."""

MOST_SPANS = 200_000
"""Of how many values of one message it is kept where they stand: a place takes a hundred times the room of a byte."""


class StopReading(Exception):  # noqa: N818
    """A problem after which no one can say where the next value begins."""


class Cursor:
    """Bytes from `pos` to `end`, and what has been found in them so far."""

    def __init__(self, data: bytes, pos: int, *, spans: bool) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.inside = ""
        self.spans: list[Span] = []
        self.problems: list[Problem] = []
        self._keep = spans

    def note(self, rule: str, offset: int, message: str, path: str) -> None:
        """Note a problem and go on."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(f"codec/{rule}", offset, message, path))

    def stop(self, rule: str, offset: int, message: str, path: str) -> StopReading:
        """Note a problem that ends the reading; to be raised."""
        if len(self.problems) == MOST_PROBLEMS:
            self.problems.pop()
        self.note(rule, offset, message, path)
        return StopReading()

    def row(self, offset: int, depth: int, path: str, kind: str, value: Any) -> None:
        """Keep where a value stands, from `offset` to the present position; of more than enough only records."""
        if self._keep and (len(self.spans) < MOST_SPANS or "records" in kind):
            self.spans.append(Span(offset, self.pos - offset, depth, path, kind, value))

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return self.end - self.pos

    def fixed(self, kind: str, path: str) -> Any:
        """A value of fixed width."""
        width, start = WIDTHS[kind], self.pos
        if self.left < width:
            raise self.stop("truncated", start, f"{kind} takes {in_bytes(width)}, {self._rest()}", path)
        (value,) = struct.unpack_from(">" + FORMATS[kind], self.data, start)
        self.pos += width
        if kind == "bool":
            if value > 1:
                self.note("boolean-invalid", start, f"the byte of a boolean is {value}, neither 0 nor 1", path)
            return value != 0
        return uuid_text(value) if kind == "uuid" else float_json(value) if kind == "float64" else value

    def _rest(self) -> str:
        return (f"{self.left} are left" if self.left else "none is left") + self.inside

    def varint(self, what: str, path: str) -> int:
        """An unsigned varint of at most 32 bits."""
        start, value = self.pos, 0
        for shift in range(0, 35, 7):
            if not self.left:
                raise self.stop("truncated", start, f"the bytes end inside {what}{self.inside}", path)
            byte = self.data[self.pos]
            self.pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    self.note("varint-overlong", start, f"{what} is {value}, written in {shift // 7 + 1} bytes", path)
                if value > 0xFFFFFFFF:
                    break
                return value
        raise self.stop("varint-too-large", start, f"{what} is a varint above 32 bits", path)

    def length(self, compact: bool, wide: bool, what: str, path: str) -> int:
        """A length or count, -1 for null; it is not compared with what is left."""
        start = self.pos
        if compact:
            return self.varint(what, path) - 1
        value = int(self.fixed("int32" if wide else "int16", path))
        if value < -1:
            raise self.stop("length-negative", start, f"{what} is {value}", path)
        return value

    def take(self, size: int, start: int, what: str, path: str) -> bytes:
        """The next bytes; `start` is where their length stands."""
        if size > self.left:
            raise self.stop("length-beyond-end", start, f"{what} is {size}, {self._rest()}", path)
        chunk = self.data[self.pos : self.pos + size]
        self.pos += size
        return chunk
