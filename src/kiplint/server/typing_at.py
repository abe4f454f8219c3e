"""Where in a definition something is being typed, whatever is missing or broken behind it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Literal

import msgspec

from kiplint.server.cursor import pointer_of
from kiplint.text.comments import comments
from kiplint.text.tokens import NOISE, PUNCTUATION, STRINGS, UNCLOSED, WORD, Token, tokens

Role = Literal["key", "value"]


class Typing(msgspec.Struct, frozen=True):
    """A key or a value that is being typed, or could be.

    `start` and `end` are the offsets of what stands there already, with its quotes; `tokens` lead to the object or
    list around it, `key` is the property whose value it is; `keys` are the properties that the object has already.
    """

    role: Role
    start: int
    end: int
    tokens: tuple[str, ...]
    key: str
    keys: frozenset[str]

    @property
    def pointer(self) -> str:
        """The pointer of the object or list around it."""
        return pointer_of(self.tokens)


class _Open:
    """An object or list that is open; `name` is its token in the pointer."""

    def __init__(self, name: str, *, is_object: bool) -> None:
        self.name = name
        self.is_object = is_object
        self.keys: set[str] = set()
        self.key = ""
        self.wants_value = not is_object
        self.number = 0


def typing_at(text: str, offset: int) -> Typing | None:
    """What can be typed at an offset; None outside of all objects and in comments."""
    if any(one.start < offset <= one.end - one.block for one in comments(text)):
        return None
    stack: list[_Open] = []
    found = [token for token in tokens(text) if token.kind not in NOISE]
    before = list(takewhile(lambda token: not _is_at(token, offset) and token.start < offset, found))
    for token in before:
        _take(stack, token)
    if not stack:
        return None
    behind = found[len(before) :]
    around = stack[-1]
    start, end = offset, offset
    if behind and _is_at(behind[0], offset):
        start, end = behind[0].start, offset if behind[0].kind == UNCLOSED else behind[0].end
        behind = behind[1:]
    way = tuple(one.name for one in stack[1:])
    role: Role = "value" if around.wants_value else "key"
    key = around.key if around.is_object else around.name
    keys = frozenset(around.keys | _keys(behind)) if around.is_object else frozenset[str]()
    return Typing(role, start, end, way, key if role == "value" else "", keys)


def _is_at(token: Token, offset: int) -> bool:
    """Whether what is typed at an offset becomes part of a token."""
    if token.kind == PUNCTUATION:
        return False
    return token.start < offset < token.end or (offset == token.end and token.kind in (WORD, UNCLOSED))


def _take(stack: list[_Open], token: Token) -> None:
    around = stack[-1] if stack else None
    if token.kind != PUNCTUATION:
        if around and around.is_object and not around.wants_value:
            around.key = _word(token)
            around.keys.add(around.key)
    elif token.text in "{[":
        name = "" if around is None else around.key if around.is_object else str(around.number)
        stack.append(_Open(name, is_object=token.text == "{"))
    elif token.text in "}]":
        del stack[-1:]
    elif around and token.text == ",":
        around.number += 1
        around.wants_value = not around.is_object
    elif around:
        around.wants_value = True


def _keys(behind: Iterable[Token]) -> set[str]:
    """The keys that follow in the same object, up to where it is closed."""
    found: set[str] = set()
    depth, last = 0, ""
    for token in behind:
        if token.kind != PUNCTUATION:
            last = _word(token)
        elif token.text in "{[":
            depth += 1
        elif token.text in "}]":
            depth -= 1
            if depth < 0:
                break
        elif token.text == ":" and depth == 0:
            found.add(last)
    return found


def _word(token: Token) -> str:
    return token.text[1:-1] if token.kind in STRINGS else token.text
