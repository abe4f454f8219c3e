"""The tree of a text without mistakes, three times faster than `scan` makes it."""

from __future__ import annotations

import re
from typing import Final

from kiplint.text.limits import MAX_DEPTH
from kiplint.text.lines import BOM
from kiplint.text.nodes import Kind, Node

_BLANK: Final = r"(?:[ \t\r\n]++|//[^\r\n]*+)*+"
_STRING: Final = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt])*+"'
_WORD: Final = r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
# Groups: 1 key, 2 string, 3 word, 4 opening bracket, 5 closing bracket, 6 comma.
_ITEM: Final = re.compile(
    rf'{_BLANK}(?:("[^"\\\x00-\x1f]*+"){_BLANK}:{_BLANK})?+(?:({_STRING})|({_WORD})|([{{\[])|([}}\]])){_BLANK}(,)?+'
)


def outline(text: str) -> Node | None:
    """The same tree as `scan(text).root` when the text is strict JSON with // comments, else None.

    Also None for what is legal but rare: keys with escapes, \\u escapes, more than `MAX_DEPTH` levels. Duplicate
    keys are not looked for.
    """
    opened: list[tuple[Node, list[Node]]] = []
    children: list[Node] = []
    in_object, may_begin, may_close = False, True, False
    position = 1 if text.startswith(BOM) else 0
    while item := _ITEM.match(text, position):
        position = item.end()
        _, (key, key_end), string, word, (opening, _), (closing, end), (comma, _) = item.regs
        if not (may_close if closing >= 0 else may_begin):
            return None
        if closing >= 0:
            if key >= 0 or not opened or (text[closing] == "}") is not in_object:
                return None
            node, children = opened.pop()
            node.end = end
            in_object = bool(opened) and opened[-1][0].kind == "object"
        elif (key >= 0) is not in_object:
            return None
        else:
            node = _node(text, string, word, opening)
            if in_object:
                node.key, node.key_start, node.key_end = text[key + 1 : key_end - 1], key, key_end
            children.append(node)
        if opening >= 0:
            opened.append((node, children))
            node.children = children = []
            in_object = node.kind == "object"
        elif not opened:
            return node if position == len(text) and comma < 0 else None
        if len(opened) > MAX_DEPTH or (opening >= 0 and comma >= 0):
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
