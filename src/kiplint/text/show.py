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


def printable(text: str) -> str:
    """The text with an escape for everything that could act on a terminal or break a line."""
    return text if text.isprintable() else "".join(char if char.isprintable() else _escape(char) for char in text)


def encodable(path: str) -> str:
    """A path that can be written as UTF-8: U+FFFD stands for each byte that is none."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _quoted(text: str, quote: str) -> str:
    body = "".join(_safe(char, quote) for char in text[:_LIMIT])
    return f"{quote}{body}{'...' if len(text) > _LIMIT else ''}{quote}"


def _safe(char: str, quote: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == quote:
        return "\\" + char
    return char if char.isprintable() else _escape(char)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
