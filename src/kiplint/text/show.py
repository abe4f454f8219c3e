"""Escaping of untrusted text for display.

Every output passes its text through `printable`, which replaces what `str.isprintable` rejects: control characters,
escape sequences, line separators, marks that turn the direction of writing, invisible characters, unpaired surrogates,
and blanks other than the plain one. In JSON the escapes are those of JSON, so that a parser reads the original text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_MAX_QUOTED: Final = 40
_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def as_escape(char: str) -> str:
    """A character as an escape of Python: `\\u202e`, or `\\U000e0041` beyond U+FFFF."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def as_json_escape(char: str) -> str:
    """A character as an escape of JSON: `\\u202e`, or a surrogate pair beyond U+FFFF: `\\udb40\\udc41`."""
    return "".join(f"\\u{unit}" for unit in char.encode("utf-16-be", "surrogatepass").hex(" ", 2).split())


def as_sign(unprintable: str) -> str:
    """One printable character for one that is not, so that columns stay the same: a space for a tab, or U+FFFD."""
    return " " if unprintable == "\t" else "\N{REPLACEMENT CHARACTER}"


def printable(text: str, escape: Callable[[str], str] = as_escape) -> str:
    """The text with the result of `escape` in place of each character that is not printable."""
    return text if text.isprintable() else "".join(char if char.isprintable() else escape(char) for char in text)


def quoted(text: str, *, single: bool = False) -> str:
    """The first 40 characters of a text in double or `single` quotes, with escapes for what is not printable.

    Names and the values of strings have double quotes, parts of a file's text have single ones.
    """
    quote = "'" if single else '"'
    shortened = text[:_MAX_QUOTED].replace(quote, "\\" + quote)
    body = printable(shortened, lambda char: _ESCAPES.get(char) or as_escape(char))
    dots = "..." if len(text) > _MAX_QUOTED else ""
    return f"{quote}{body}{dots}{quote}"


def encodable(path: str) -> str:
    """A path that can be written as UTF-8: U+FFFD replaces each byte that is not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
