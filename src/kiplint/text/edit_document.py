"""A file as an editor sees it: its bytes, its tree, its lines, and its ways with white space."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cached_property
from itertools import accumulate
from typing import Final

from kiplint.text.comments import Comment, comments
from kiplint.text.edit import Edit
from kiplint.text.lines import BOM, Lines
from kiplint.text.nodes import Node
from kiplint.text.outline import outline

_LINE_END: Final = re.compile(r"\r\n?|\n")
_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_TAIL: Final = re.compile(r"(?:[ \t]*+/\*[^\r\n]*?\*/)*+(?:[ \t]*+//[^\r\n]*+)?+(?=[ \t]*+(?:[\r\n]|\Z))")
_INDENT: Final = re.compile(r"[ \t]*+")
_COLON: Final = re.compile(r"[ \t]*+:[ \t]*+")
_MANY: Final = 64


class NotEditable(ValueError):  # noqa: N818
    """The bytes are no text with a value in it; the message says what they are."""


class Document:
    """The text of one file. Offsets are those of its characters; `edit` turns them into those of its bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            raise NotEditable(f"byte {error.start} is not UTF-8") from error
        self.lines = Lines(self.text)

    @cached_property
    def root(self) -> Node:
        """The value of the file, whatever is wrong with it; raises NotEditable when there is none."""
        root = outline(self.text)
        if root is None:
            from kiplint.text.scan import scan  # whole texts, which are nearly all, do without

            root = scan(self.text).root
        if root is None:
            raise NotEditable("the file has no value")
        return root

    @cached_property
    def newline(self) -> str:
        r"""What ends the file's first line; `\n` when there is but one."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    @cached_property
    def indent_unit(self) -> str:
        """How much deeper the properties of the whole stand; two spaces when they do not have lines of their own."""
        children = self.root.children
        indent = self.indent(start_of(children[0])) if children and self.begins_line(start_of(children[0])) else ""
        return indent or "  "

    def find(self, pointer: str) -> Node | None:
        """The value that an RFC 6901 pointer points to, of duplicate keys the last; None when there is none."""
        found = self.way(pointer)
        return found[-1] if found else None

    def way(self, pointer: str) -> list[Node]:
        """The values on the way to a pointer, the root first; empty when it points to nothing."""
        way = [self.root]
        for token in pointer.split("/")[1:]:
            child = child_of(way[-1], token.replace("~1", "/").replace("~0", "~"))
            if child is None:
                return []
            way.append(child)
        return way

    def edit(self, start: int, end: int, text: str) -> Edit:
        r"""An edit of the characters from `start` up to `end`; `\n` in `text` becomes the file's line end."""
        return Edit(self._byte(start), self._byte(end), text.replace("\n", self.newline))

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        start = self.lines.starts[self.lines.line_of(offset) - 1]
        return start + self.text.startswith(BOM) if start == 0 else start

    def next_line(self, offset: int) -> int:
        """Where the line after that of an offset begins; the end of the text when there is none."""
        number = self.lines.line_of(offset)
        return self.lines.starts[number] if number < len(self.lines) else len(self.text)

    def indent(self, offset: int) -> str:
        """The white space at the beginning of the line of an offset."""
        found = _INDENT.match(self.text, self.line_start(offset), offset)
        return found.group() if found else ""

    def begins_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before an offset on its line."""
        return not self.text[self.line_start(offset) : offset].strip(" \t")

    def same_line(self, one: int, other: int) -> bool:
        """Whether two offsets are on one line."""
        return self.lines.line_of(one) == self.lines.line_of(other)

    def code_after(self, offset: int) -> int:
        """Where the next thing that is neither white space nor comment begins."""
        found = _BLANK.match(self.text, offset)
        return found.end() if found else offset

    def comma_after(self, node: Node) -> int:
        """Where the comma after a property or element is, -1 when there is none."""
        at = self.code_after(node.end)
        return at if self.text[at : at + 1] == "," else -1

    def tail(self, offset: int) -> int:
        """Where the comments end that finish the line after an offset; the offset itself when code comes there."""
        found = _TAIL.match(self.text, offset)
        return found.end() if found else offset

    def comments_in(self, start: int, end: int) -> list[Comment]:
        """The comments that begin between two offsets."""
        first = bisect_left(self._comments, start, key=lambda one: one.start)
        last = bisect_left(self._comments, end, key=lambda one: one.start)
        return self._comments[first:last]

    def colon(self, container: Node) -> str:
        """What stands between key and value in an object, as most of its properties have it."""
        found = [_COLON.fullmatch(self.text, one.key_end, one.start) for one in container.children[:_MANY]]
        written = Counter(one.group() for one in found if one)
        return written.most_common(1)[0][0] if written else ": "

    @cached_property
    def _comments(self) -> list[Comment]:
        return list(comments(self.text))

    @cached_property
    def _offsets(self) -> list[int] | None:
        """By character: its offset in bytes. None when the two are the same."""
        if self.data.isascii():
            return None
        return list(accumulate((len(char.encode()) for char in self.text), initial=0))

    def _byte(self, offset: int) -> int:
        return offset if self._offsets is None else self._offsets[offset]


def start_of(node: Node) -> int:
    """Where a property begins, with its key, or an element."""
    return node.start if node.key is None else node.key_start


def child_of(node: Node, token: str) -> Node | None:
    """The property or element that an unescaped token of a pointer names."""
    if node.kind == "array":
        number = int(token) if token.isascii() and token.isdigit() and len(token) < 8 else len(node.children)
        return node.children[number] if str(number) == token and number < len(node.children) else None
    return next((one for one in reversed(node.children) if one.key == token), None) if node.kind == "object" else None
