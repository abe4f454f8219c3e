"""What is at a place in a text: the value, its JSON pointer, and the element of the model that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kiplint.model.fields import Field, Struct
from kiplint.model.message import Message
from kiplint.server.buffer import Buffer
from kiplint.text.scan import escape
from kiplint.text.tree import Node

Element = Message | Struct | Field


class Place(msgspec.Struct, frozen=True):
    """The innermost value around an offset. `way` leads to it from the whole, `tokens` are the pointer's."""

    way: tuple[Node, ...]
    tokens: tuple[str, ...]

    @property
    def node(self) -> Node:
        """The value itself."""
        return self.way[-1]

    @property
    def key(self) -> str:
        """The property that the value is of, or is inside of as an element of a list of words; else empty."""
        return next((token for token in reversed(self.tokens) if not token.isdigit()), "")

    @property
    def pointer(self) -> str:
        """Its JSON pointer."""
        return pointer_of(self.tokens)

    @property
    def depth(self) -> int:
        """How many tokens of the pointer lead to the message, struct or field that the value belongs to."""
        depth = 0
        while self.tokens[depth : depth + 1] in (("fields",), ("commonStructs",)) and len(self.tokens) > depth + 1:
            depth += 2
        return depth


def at(buffer: Buffer, offset: int) -> Place | None:
    """The innermost value, with its key, that an offset is in or at the end of; None outside of all."""
    node = buffer.root
    if node is None or not node.start <= offset <= node.end:
        return None
    way, tokens = [node], list[str]()
    while child := _child(node, offset):
        number, node = child
        way.append(node)
        tokens.append(str(number) if node.key is None else node.key)
    return Place(tuple(way), tuple(tokens))


def _child(node: Node, offset: int) -> tuple[int, Node] | None:
    for number, inner in enumerate(node.children):
        if (inner.start if inner.key is None else inner.key_start) <= offset <= inner.end:
            return number, inner
    return None


def element_at(message: Message, place: Place) -> Element:
    """The message, struct or field that a place belongs to."""
    pointer = pointer_of(place.tokens[: place.depth])
    known: dict[str, Element] = {struct.pointer: struct for struct in message.structs if struct.is_common}
    known |= {field.pointer: field for field in message.all_fields}
    return known.get(pointer, message)


def pointer_of(tokens: tuple[str, ...]) -> str:
    """The JSON pointer (RFC 6901) of tokens."""
    return "".join(f"/{escape(token)}" for token in tokens)


def child(node: Node, key: str) -> Node | None:
    """A property of an object; of several the last."""
    return next((member for member in reversed(node.children) if member.key == key), None)


def objects(node: Node | None, key: str = "fields") -> Iterator[Node]:
    """Every object under `fields` or `commonStructs`, at every depth, the outer ones first."""
    container = child(node, key) if node else None
    for element in container.children if container and container.kind == "array" else ():
        if element.kind == "object":
            yield element
            yield from objects(element)
