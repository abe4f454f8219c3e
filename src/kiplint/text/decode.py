"""The fast path: bytes to a typed value in a few microseconds, or None when anything at all is out of the ordinary."""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from kiplint.text.comments import blank_line_comments
from kiplint.text.limits import MAX_BYTES, MAX_DEPTH

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
    if len(data) > MAX_BYTES:
        return None
    blanked = blank_line_comments(data)
    try:
        if not data.isascii():
            data.decode()  # the decoder never sees the comments
        value = decoder.decode(blanked)
    except (ValueError, RecursionError):
        return None
    encoded = encoder.encode(value)
    return None if _drops_key(blanked, encoded) or _is_too_deep(encoded) else value


def _drops_key(blanked: bytes, encoded: bytes) -> bool:
    """Whether decoding `blanked` and encoding the value as `encoded` lost a key.

    Of duplicate keys the decoder keeps the last, and it loses nothing else. Escapes aside, every quote opens or
    closes a string, and every string that was kept is encoded as one string. So a key was lost if and only if
    there are fewer quotes now.
    """
    if b"\\" in blanked:
        blanked, encoded = re.sub(_ESCAPE, b"", blanked), re.sub(_ESCAPE, b"", encoded)
    return blanked.count(b'"') != encoded.count(b'"')


def _is_too_deep(encoded: bytes) -> bool:
    """Whether valid JSON nests more than `MAX_DEPTH` objects and arrays."""
    if encoded.count(b"{") + encoded.count(b"[") <= MAX_DEPTH:
        return False
    if b"\\" in encoded:
        encoded = re.sub(_ESCAPE, b"", encoded)
    brackets = re.sub(_STRING, b"", encoded.translate(_ONE_BRACKET, _NEITHER_BRACKET_NOR_QUOTE))
    for _ in range(MAX_DEPTH):
        if not brackets:
            return False
        brackets = brackets.replace(b"{}", b"")  # takes away the innermost level, no more
    return bool(brackets)
