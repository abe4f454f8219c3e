"""The fast path: decodes bytes to a typed value in microseconds, or returns None for the slow path (`diagnose`)."""

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

    `kind` is its name in the rules, such as `trailing-comma`, and `detail` says in words what is wrong. `start` and
    `end` are half-open character offsets into the file's decoded text; both are -1 where only `pointer` (an RFC 6901
    JSON pointer) says where the mistake is. `word` is an unknown word, or the JSON to write instead.
    `intended_property` is the property that an unknown one probably misspells. A problem is `harmless` if all readers
    read the same definition in spite of it, and `removable` if the text from `start` to `end` has no effect.
    """

    kind: str
    detail: str
    pointer: str = ""
    start: int = -1
    end: int = -1
    word: str = ""
    harmless: bool = False
    removable: bool = False
    intended_property: str = ""


_STRING_OR_COMMENT: Final = r"""(?xs)
    "(?:[^"\\\r\n]++|\\(?:\r\n|.))*+"?+
  | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+'?+
  | (?P<comment> //[^\r\n]*+ | /\*.*?(?:\*/|\Z))
"""
"""A string is matched so that no comment begins in it."""

_BLANKS: Final = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
"""The translation table that turns every byte but line ends into a space."""


class Comment(msgspec.Struct, frozen=True):
    """One comment, a `block` comment or one that begins with `//`.

    `start` and `end` are half-open character offsets that include the comment marks; `body` is what is between the
    marks, without white space around it.
    """

    start: int
    end: int
    block: bool
    body: str


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a JSON text, in order; takes linear time."""
    for match in re.finditer(_STRING_OR_COMMENT, text):
        comment = match["comment"]
        if comment is not None:
            is_block = comment.startswith("/*")
            body = comment[2:].removesuffix("*/") if is_block else comment[2:]
            yield Comment(*match.span(), is_block, body.strip())


def blank_comments(data: bytes, *, blocks: bool = True) -> bytes:
    """The same bytes with spaces in place of comments; line ends stay, and so do block comments unless `blocks`."""

    def blank(match: re.Match[bytes]) -> bytes:
        is_string = match["comment"] is None
        if is_string or (match[0].startswith(b"/*") and not blocks):
            return match[0]
        return match[0].translate(_BLANKS)

    return re.sub(_STRING_OR_COMMENT.encode(), blank, data)


T = TypeVar("T")

_COMMENT_LINE: Final = rb"\n[ \t]*+//[^\r\n]*+"
"""A line that is a comment, after a line end. It is never in a string, because a JSON string has no line end."""
_ESCAPE: Final = rb"(?s)\\."
_STRING: Final = rb'"[^"]*+"'
_ENCODER: Final = msgspec.json.Encoder()


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """The typed value of a definition, or None if `diagnose` has to read it and report what is wrong.

    That is so when it does not decode, is not UTF-8, begins with a byte order mark, has a block comment or a duplicate
    key, or is beyond the limits on size and depth. Duplicate keys are noticed only if the decoder's structs forbid
    unknown fields and have UNSET defaults, and if nothing of the type is `msgspec.Raw` or has a decoding hook that
    changes the number of strings.
    """
    if len(data) > DEFINITION_BYTES:
        return None
    try:
        if not data.isascii():
            data.decode()  # the decoder sees no comment, and so would not refuse one that is not UTF-8
        json_data = re.sub(_COMMENT_LINE, b"", b"\n" + data)  # most files have no other comments
        try:
            value = decoder.decode(json_data)
        except ValueError:
            json_data = blank_comments(data, blocks=False)  # block comments stay, and so do not decode
            value = decoder.decode(json_data)
    except (ValueError, RecursionError):
        return None
    output = _ENCODER.encode(value)
    return None if _drops_key(json_data, output) or _is_too_deep(output) else value


def _drops_key(json_data: bytes, output: bytes) -> bool:
    """Whether decoding `json_data` and encoding the value as `output` lost a key.

    Of duplicate keys the decoder keeps the last, and it loses nothing else. Escapes aside, every quote opens or
    closes a string, and the output has one string for every string of the value. So a key was lost if and only if
    the output has fewer quotes.
    """
    if b"\\" in json_data:
        json_data, output = re.sub(_ESCAPE, b"", json_data), re.sub(_ESCAPE, b"", output)
    return json_data.count(b'"') != output.count(b'"')


def _is_too_deep(json_data: bytes) -> bool:
    """Whether valid JSON nests more than `DEFINITION_LEVELS` objects and arrays."""
    if json_data.count(b"{") + json_data.count(b"[") <= DEFINITION_LEVELS:
        return False
    without_strings = re.sub(_STRING, b"", re.sub(_ESCAPE, b"", json_data))
    depth = 0
    for bracket in re.findall(rb"[{}\[\]]", without_strings):
        depth += 1 if bracket in b"{[" else -1
        if depth > DEFINITION_LEVELS:
            return True
    return False
