"""Escaping of untrusted text for display.

What is not printable (`str.isprintable`) never gets out as it is: control characters and escape sequences, line and
paragraph separators, the marks that turn the direction of writing, invisible signs, lone surrogates, and blanks other
than the plain one. Every output takes its text through `printable`; JSON too, where the escapes are JSON's own, so that
a parser reads the very text and a terminal or a reviewer is shown none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_LIMIT: Final = 40
_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def as_escape(char: str) -> str:
    """One sign as `\\u202e`, or `\\U000e0041` beyond U+FFFF."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def as_json_text(char: str) -> str:
    """One sign as JSON writes it: two escapes, a surrogate pair, beyond U+FFFF."""
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def as_sign(char: str) -> str:
    """One plain sign for another, so that columns stay where they are: a blank for a tab, else U+FFFD."""
    return " " if char == "\t" else "\N{REPLACEMENT CHARACTER}"


def printable(text: str, escape: Callable[[str], str] = as_escape) -> str:
    """The text in which `escape` has replaced each sign that is not printable."""
    return text if text.isprintable() else "".join(char if char.isprintable() else escape(char) for char in text)


def show(text: str) -> str:
    """A name or a string's value in double quotes: at most 40 characters, everything unprintable as an escape."""
    return _quote(text, '"')


def show_raw(text: str) -> str:
    """A part of the file as it stands, in single quotes: at most 40 characters, everything unprintable escaped."""
    return _quote(text, "'")


def encodable(path: str) -> str:
    """A path that can be written as UTF-8: U+FFFD replaces each byte that is not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _quote(text: str, quote: str) -> str:
    body = printable(text[:_LIMIT].replace(quote, "\\" + quote), lambda char: _ESCAPES.get(char) or as_escape(char))
    return f"{quote}{body}{'...' if len(text) > _LIMIT else ''}{quote}"
