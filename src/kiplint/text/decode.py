"""The fast path: bytes to a typed value in a few microseconds, or None for the slow path (`diagnose`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from kiplint.limits import DEFINITION_BYTES, DEFINITION_LEVELS

NOT_JSON: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What msgspec raises for bytes or text that it cannot read as JSON."""


class Problem(msgspec.Struct, frozen=True):
    """One mistake in the text or shape of a definition.

    `start` and `end` are half-open character offsets into the file's decoded text, or -1 when
    only `pointer` (an RFC 6901 JSON pointer) gives the place. `word` is the unknown word, if there is one. `harmless`:
    all readers read the same definition in spite of it; `removable`: the text from start to end has no effect.
    """

    kind: str
    detail: str
    pointer: str = ""
    start: int = -1
    end: int = -1
    word: str = ""
    harmless: bool = False
    removable: bool = False

    @property
    def intended_property(self) -> str:
        """The property that an unknown one is probably misspelt for, as its reader noted; else empty."""
        return self.detail.partition("; did you mean ")[2].rstrip("?") if self.kind == "unknown-property" else ""


_QUOTED_STRING: Final = r"""
    "(?:[^"\\\r\n]++|\\(?:\r\n|.))*+"?+
  | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+'?+
"""
_COMMENT: Final = r"""
    //[^\r\n]*+
  | /\*.*?(?:\*/|\Z)
"""
_TOKEN: Final = f"(?xs){_QUOTED_STRING} | (?P<comment>{_COMMENT})"  # compiled when needed: clean definitions never do

_BLANKS: Final = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


class Comment(msgspec.Struct, frozen=True):
    """One comment; `start` and `end` are half-open character offsets and take in the comment marks."""

    start: int
    end: int
    block: bool

    def body(self, text: str) -> str:
        """The text of the comment, without its marks and outer white space; `text` is the whole text."""
        closed = self.block and self.end - self.start >= 4 and text.endswith("*/", self.start, self.end)
        return text[self.start + 2 : self.end - 2 if closed else self.end].strip()


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a text, in order; in linear time."""
    for match in re.finditer(_TOKEN, text):
        if match["comment"] is not None:
            start, end = match.span()
            yield Comment(start, end, block=text[start + 1] == "*")


def blank_comments(data: bytes, *, blocks: bool = True) -> bytes:
    """The same bytes with every comment made of spaces; line ends, strings and the length stay as they are.

    Without `blocks` the block comments stay.
    """

    def blank(match: re.Match[bytes]) -> bytes:
        is_kept = match["comment"] is None or not (blocks or match[0].startswith(b"//"))
        return match[0] if is_kept else match[0].translate(_BLANKS)

    return re.sub(_TOKEN.encode(), blank, data)


T = TypeVar("T")

_ESCAPE: Final = rb"(?s)\\."
_STRING: Final = rb'"[^"]*+"'
_ONE_BRACKET: Final = bytes.maketrans(b"[]", b"{}")
_NEITHER_BRACKET_NOR_QUOTE: Final = bytes(set(range(256)) - set(b'"{}[]'))


def decode(data: bytes, decoder: msgspec.json.Decoder[T], encoder: msgspec.json.Encoder) -> T | None:
    """The typed value of a definition, or None when `diagnose` has to look at it.

    None means: it does not decode, is not UTF-8, begins with a byte order mark, has a block comment or a duplicate
    key, or is beyond the limits on size and depth. For duplicate keys to be seen the decoder's structs must forbid
    unknown fields and have UNSET defaults, and nothing of the type may be `msgspec.Raw` or have a decoding hook
    that changes the number of strings. The encoder is a plain `msgspec.json.Encoder()`.
    """
    if len(data) > DEFINITION_BYTES:
        return None
    json_data = _without_comment_lines(data)
    try:
        if not data.isascii():
            data.decode()  # the decoder never sees the comments
        try:
            value = decoder.decode(json_data)
        except ValueError:
            if b"//" not in json_data:
                return None
            json_data = blank_comments(data, blocks=False)  # a block comment is for `diagnose`
            value = decoder.decode(json_data)
    except (ValueError, RecursionError):
        return None
    output = encoder.encode(value)
    return None if _drops_key(json_data, output) or _is_too_deep(output) else value


def _without_comment_lines(data: bytes) -> bytes:
    """The lines that are more than a comment; of JSON no string spans lines, and a block comment stays invalid."""
    if b"//" not in data:
        return data
    return b"\n".join(line for line in data.splitlines() if not line.lstrip(b" \t").startswith(b"//"))


def _drops_key(json_data: bytes, output: bytes) -> bool:
    """Whether decoding `json_data` and encoding the value as `output` lost a key.

    Of duplicate keys the decoder keeps the last, and it loses nothing else. Escapes aside, every quote opens or
    closes a string, and every string that was kept is encoded as one string. So a key was lost if and only if
    there are fewer quotes now.
    """
    if b"\\" in json_data:
        json_data, output = re.sub(_ESCAPE, b"", json_data), re.sub(_ESCAPE, b"", output)
    return json_data.count(b'"') != output.count(b'"')


def _is_too_deep(data: bytes) -> bool:
    """Whether valid JSON nests more than `DEFINITION_LEVELS` objects and arrays."""
    if data.count(b"{") + data.count(b"[") <= DEFINITION_LEVELS:
        return False
    if b"\\" in data:
        data = re.sub(_ESCAPE, b"", data)
    brackets = re.sub(_STRING, b"", data.translate(_ONE_BRACKET, _NEITHER_BRACKET_NOR_QUOTE))
    for _ in range(DEFINITION_LEVELS):
        if not brackets:
            return False
        brackets = brackets.replace(b"{}", b"")  # takes away the innermost level, no more
    return bool(brackets)
