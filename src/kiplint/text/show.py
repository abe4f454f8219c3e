"""Text from a definition made fit to be part of a message."""

from __future__ import annotations

from typing import Final

_LIMIT: Final = 40
_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def show(text: str) -> str:
    """A name or a string's value in double quotes: at most 40 characters, everything unprintable as an escape."""
    return _quoted(text, '"')


def show_raw(text: str) -> str:
    """A piece of the file as it stands, in single quotes: at most 40 characters, everything unprintable escaped."""
    return _quoted(text, "'")


def _quoted(text: str, quote: str) -> str:
    body = "".join(_safe(char, quote) for char in text[:_LIMIT])
    return f"{quote}{body}{'...' if len(text) > _LIMIT else ''}{quote}"


def _safe(char: str, quote: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == quote:
        return "\\" + char
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
