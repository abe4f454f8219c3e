"""From JSON pointers to spans in a file's text."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from kiplint.text.lines import Lines
from kiplint.text.tree import Node, read_tree

_LONGEST_NAME: Final = 256
_BLANK: Final = re.compile(r"\ufeff?(?:[ \t\r\n]++|//[^\r\n]*+)*+")


class Locator:
    """Spans in `text` (as `decode_text` gives it). The text is scanned once, at the first question.

    Pointers are RFC 6901; of duplicate keys the last counts. A pointer to nothing stands for the nearest thing
    above it that exists, so every pointer has a span, and so has a text that is not JSON.
    """

    __slots__ = ("__dict__", "lines", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self._properties: dict[int, dict[str, Node]] = {}

    @cached_property
    def root(self) -> Node | None:
        """The tree of the text, as far as the text allows."""
        return read_tree(self.text).root

    def member(self, pointer: str) -> tuple[int, int]:
        """The half-open character span that stands for what a pointer points to.

        A property: key and value if they share one line, else the key. An element: itself if on one line, else its
        `name` property, else its opening bracket. The whole: its `name` property, else its first character.
        """
        node = self.node(pointer)
        if node is None:
            match = _BLANK.match(self.text)
            start = match.end() if match and match.end() < len(self.text) else 0
            return start, min(start + 1, len(self.text))
        if node.key is not None:
            return self._property(node)
        if node is not self.root and self._on_one_line(node.start, node.end):
            return node.start, node.end
        name = self.child(node, "name") if node.kind == "object" else None
        return (node.start, node.start + 1) if name is None else self._property(name)

    def span(self, pointer: str) -> tuple[int, int, int, int]:
        """`member` as (line, column, end line, end column), 1-based, the end column exclusive."""
        return self.span_of(*self.member(pointer))

    def span_of(self, start: int, end: int) -> tuple[int, int, int, int]:
        """A half-open character span as (line, column, end line, end column), 1-based, the end column exclusive."""
        return *self.lines.position(start), *self.lines.position(max(start, end))

    def names(self, pointer: str) -> str:
        """The pointer with the names of elements for their indexes: `/fields/0/tag` is `/fields[Topics]/tag`.

        An index whose element has no name stays, so does whatever points to nothing. For fingerprints: stable
        when elements move. Names are cut at 256 characters.
        """
        if not pointer:
            return ""
        parts: list[str] = []
        node = self.root
        for token in _raw_tokens(pointer):
            child = self.child(node, unescape(token)) if node else None
            is_element = node and child and (node.kind, child.kind) == ("array", "object")
            name_node = self.child(child, "name") if child and is_element else None
            name = name_node.string(self.text) if name_node else None
            parts.append(f"[{name[:_LONGEST_NAME]}]" if name else f"/{token}")
            node = child
        return "".join(parts)

    def node(self, pointer: str) -> Node | None:
        """The value that a pointer or the longest valid part of it points to; None when the text has no value."""
        node = self.root
        for token in _raw_tokens(pointer):
            child = None if node is None else self.child(node, unescape(token))
            if child is None:
                break
            node = child
        return node

    def child(self, node: Node, token: str) -> Node | None:
        """The property or element that an unescaped token of a pointer names."""
        if node.kind == "array":
            # Indexes have few digits, in ASCII, and no leading zero (RFC 6901).
            is_index = len(token) < 8 and token.isascii() and token.isdigit() and (token == "0" or token[0] != "0")
            return node.children[int(token)] if is_index and int(token) < len(node.children) else None
        if node.kind != "object":
            return None
        properties = self._properties.get(id(node))
        if properties is None:
            properties = {child.key: child for child in node.children if child.key is not None}
            self._properties[id(node)] = properties
        return properties.get(token)

    def _property(self, node: Node) -> tuple[int, int]:
        together = self._on_one_line(node.key_start, node.end)
        return node.key_start, node.end if together else node.key_end

    def _on_one_line(self, start: int, end: int) -> bool:
        return self.lines.line_of(start) == self.lines.line_of(end)


def _raw_tokens(pointer: str) -> list[str]:
    return pointer.split("/")[1:]


def unescape(token: str) -> str:
    """A key out of a token of a JSON pointer."""
    return token.replace("~1", "/").replace("~0", "~")
