"""The tree that a scan of a text yields: where every value stands, whatever else is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

Kind = Literal["object", "array", "string", "word", "missing"]
"""`word` is a number, true, false, null or anything else outside quotes; `missing` is a key without a value."""

NOTHING: Final[Sequence[Node]] = ()


class Node:
    """A value in a text. All offsets are half-open character offsets.

    `start` and `end` span the value. When it is a property of an object, `key` is the decoded key and
    `key_start` and `key_end` span it with its quotes; else `key` is None and they are -1. `children` are the
    properties (duplicates and all) or elements, in order.
    """

    __slots__ = ("children", "end", "key", "key_end", "key_start", "kind", "start")

    def __init__(self, kind: Kind, start: int, end: int) -> None:
        self.kind: Kind = kind
        self.start = start
        self.end = end
        self.key: str | None = None
        self.key_start = -1
        self.key_end = -1
        self.children: Sequence[Node] = NOTHING

    def __repr__(self) -> str:
        key = "" if self.key is None else f"{self.key!r}: "
        return f"<{key}{self.kind} {self.start}-{self.end}, {len(self.children)} children>"

    def string(self, text: str) -> str | None:
        """What the string says; None when the value is not a string."""
        if self.kind != "string":
            return None
        quote = text[self.start]
        plain = text[self.start + 1 : self.end - 1]
        if quote == '"' and text[self.end - 1] == quote and "\\" not in plain and plain.isprintable():
            return plain
        from kiplint.text.strings import read_string  # escapes and broken strings are rare

        closed = self.end - self.start > 1 and text[self.end - 1] == quote
        return read_string(text, self.start, self.end, closed=closed)[0]
