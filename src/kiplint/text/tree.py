"""The tree that a scan of a text yields: where every value stands, whatever else is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from kiplint.limits import DEFINITION_LEVELS
from kiplint.text.lines import BOM

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
        """The value of a string; None for any other value."""
        if self.kind != "string":
            return None
        quote = text[self.start]
        plain = text[self.start + 1 : self.end - 1]
        if quote == '"' and text[self.end - 1] == quote and "\\" not in plain and plain.isprintable():
            return plain
        from kiplint.text.tokens import read_string  # escapes and broken strings are rare

        closed = self.end - self.start > 1 and text[self.end - 1] == quote
        return read_string(text, self.start, self.end, closed=closed)[0]


_BLANK: Final = r"(?:[ \t\r\n]++|//[^\r\n]*+)*+"
_STRING: Final = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt])*+"'
_WORD: Final = r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
# Groups: 1 key, 2 string, 3 word, 4 opening bracket, 5 closing bracket, 6 comma.
_ITEM: Final = re.compile(
    rf'{_BLANK}(?:("[^"\\\x00-\x1f]*+"){_BLANK}:{_BLANK})?+(?:({_STRING})|({_WORD})|([{{\[])|([}}\]])){_BLANK}(,)?+'
)


@lru_cache(maxsize=2)
def outline(text: str) -> Node | None:
    """The same tree as `scan(text).root` when the text is strict JSON with // comments, else None.

    Also None for what is legal but rare: keys with escapes, \\u escapes, more than `DEFINITION_LEVELS` levels.
    Duplicate keys are not looked for. A text is outlined twice in a row, once to place its findings and once to fix
    them.
    """
    stack: list[tuple[Node, list[Node]]] = []
    children: list[Node] = []
    in_object, may_begin, may_close = False, True, False
    position = 1 if text.startswith(BOM) else 0
    while item := _ITEM.match(text, position):
        position = item.end()
        _, (key, key_end), string, word, (opening, _), (closing, end), (comma, _) = item.regs
        if not (may_close if closing >= 0 else may_begin):
            return None
        if closing >= 0:
            if key >= 0 or not stack or (text[closing] == "}") is not in_object:
                return None
            node, children = stack.pop()
            node.end = end
            in_object = bool(stack) and stack[-1][0].kind == "object"
        elif (key >= 0) is not in_object:
            return None
        else:
            node = _node(text, string, word, opening)
            if in_object:
                node.key, node.key_start, node.key_end = text[key + 1 : key_end - 1], key, key_end
            children.append(node)
        if opening >= 0:
            stack.append((node, children))
            node.children = children = []
            in_object = node.kind == "object"
        elif not stack:
            return node if position == len(text) and comma < 0 else None
        if len(stack) > DEFINITION_LEVELS or (opening >= 0 and comma >= 0):
            return None
        may_begin, may_close = opening >= 0 or comma >= 0, comma < 0
    return None


def _node(text: str, string: tuple[int, int], word: tuple[int, int], opening: int) -> Node:
    if string[0] >= 0:
        return Node("string", *string)
    if word[0] >= 0:
        return Node("word", *word)
    kind: Kind = "object" if text[opening] == "{" else "array"
    return Node(kind, opening, opening + 1)
