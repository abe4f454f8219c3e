"""The open objects and arrays of a scan in progress."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kiplint.text.limits import MAX_POINTER_KEY
from kiplint.text.nodes import Node


class Expect(Enum):
    """What an open object or array can take next."""

    FIRST = auto()
    """A first key or element, or the closing bracket."""
    NEXT = auto()
    """A key or element, after a comma."""
    COLON = auto()
    VALUE = auto()
    COMMA = auto()
    """A comma or the closing bracket."""


CLOSERS: Final = {"object": "}", "array": "]"}
_WHAT: Final = {"object": "property", "array": "element"}


class Frame:
    """An object or array that is still open."""

    __slots__ = ("children", "comma", "expect", "member", "node", "seen")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.children: list[Node] = []
        node.children = self.children
        self.expect = Expect.FIRST
        self.comma = -1
        self.member: Node | None = None
        """The property being read; None in arrays, and for a value without a key, which is dropped."""
        self.seen: dict[str, int] = {}

    @property
    def closer(self) -> str:
        """The bracket that closes it."""
        return CLOSERS[self.node.kind]

    @property
    def content(self) -> str:
        """What it is a list of, in words."""
        return _WHAT[self.node.kind]

    @property
    def is_object(self) -> bool:
        """Whether it is an object."""
        return self.node.kind == "object"

    def token(self) -> str | None:
        """The pointer token of its child being read; None when there is none that a pointer can name."""
        if not self.is_object:
            return str(len(self.children) - 1) if self.children else None
        if self.member is None or self.member.key is None or len(self.member.key) > MAX_POINTER_KEY:
            return None
        return escape(self.member.key)


def escape(token: str) -> str:
    """A key as a token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def pointer(frames: list[Frame]) -> str:
    """The JSON pointer of what the last of the frames is reading, or of the nearest thing a pointer can name."""
    parts: list[str] = []
    for frame in frames:
        token = frame.token()
        if token is None:
            break
        parts.append("/" + token)
    return "".join(parts)
