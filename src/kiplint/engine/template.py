"""Texts of rules that have holes: `version {gap} has`, `{gap:version|versions} {gap}`; and places, `request.apiKey`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kiplint.engine.errors import ExpressionError
from kiplint.engine.parse import short

_OPENING, _CLOSING = "([{", ")]}"


class Piece(NamedTuple):
    """Plain text and the hole behind it: an expression, empty at the end of the text.

    Where there are words, the hole shows one of the two, the first when the expression's value is one.
    """

    plain: str
    expression: str = ""
    words: tuple[str, str] | None = None


def pieces(text: str) -> Iterator[Piece]:
    """Split a text at its holes; `{{` and `}}` are braces. Raises ExpressionError."""
    plain = ""
    rest = text
    while rest:
        before, brace, rest = rest.partition("{")
        plain += before
        if not brace:
            break
        if rest.startswith("{"):
            plain, rest = plain + "{", rest[1:]
            continue
        colon, end = _ends(rest)
        if end < 0:
            raise ExpressionError(f"the hole {{{short(rest)} is never closed")
        words = _words(rest[:end], colon) if colon >= 0 else None
        yield Piece(plain.replace("}}", "}"), rest[: colon if words else end], words)
        plain, rest = "", rest[end + 1 :]
    yield Piece(plain.replace("}}", "}"))


def split_place(text: str) -> tuple[str, str]:
    """A rule's `at` as the expression of an element, empty for the rule's own, and the property of it."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(text[index], 0)
        if text[index] == "." and not depth:
            return text[:index], text[index + 1 :]
    return "", text


def _ends(text: str) -> tuple[int, int]:
    """Where in a text that begins in a hole the hole's colon and its end are, -1 for none."""
    colon, depth, quote = -1, 0, ""
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif colon < 0 and char in "'\"":
            quote = char
        elif char == "}" and not depth:
            return colon, index
        elif colon < 0:
            depth += (char in _OPENING) - (char in _CLOSING)
            colon = index if char == ":" and not depth else colon
    return colon, -1


def _words(hole: str, colon: int) -> tuple[str, str]:
    one, bar, many = hole[colon + 1 :].partition("|")
    if not bar or "|" in many:
        raise ExpressionError(f"the hole {{{short(hole)}}} wants two words, as in {{number:version|versions}}")
    return one, many
