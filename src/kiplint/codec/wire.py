"""Decoded values with their problems, and the primitives that are more than a number, as in Kafka's JSON."""

from __future__ import annotations

import binascii
import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta


class ByteProblem(msgspec.Struct, frozen=True):
    """A problem of bytes, or of values to be written."""

    rule: str
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    message: str
    field: Annotated[str | None, Meta(description="The path of the field, null outside of fields.")] = None


class ValueSpan(msgspec.Struct, frozen=True):
    """One row of an explained message: a value, or the length, count or marker in front of others.

    `offset` and `length` count bytes from the start of the input; `depth` is how deep the field lies; `path` has
    the names of the values in JSON with indexes; `type` is the encoding in words.
    """

    offset: int
    length: int
    depth: int
    path: str
    type: str
    value: Any


class DecodedBody(msgspec.Struct, frozen=True):
    """The values of a body, as far as they could be read, where it ends, and what is wrong with it.

    `spans` are the positions of the values, if the caller requested them. The body `is_complete` unless a problem ended
    the reading before its last field.
    """

    value: dict[str, Any]
    end: int
    problems: tuple[ByteProblem, ...]
    spans: tuple[ValueSpan, ...]
    is_complete: bool


SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def varint(value: int) -> bytes:
    """The shortest unsigned varint of a number that is not negative."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PLAIN = bytes.maketrans(b"-_", b"+/")


def uuid_text(data: bytes) -> str:
    """16 bytes as Kafka shows a UUID: URL-safe base64 without padding."""
    return binascii.b2a_base64(data, newline=False)[:22].translate(_URL_SAFE).decode()


def uuid_bytes(text: str) -> bytes:
    """The 16 bytes of a UUID in Kafka's notation; ValueError when it is none."""
    return binascii.a2b_base64(text.encode("ascii").translate(_PLAIN) + b"==", strict_mode=True)


def float_json(value: float) -> float | str:
    """A float64 as JSON can hold it: the three values that are not numbers become text."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def float_of(value: float | str) -> float:
    """The float64 that JSON has as a number, or as one of three words."""
    return SPECIAL[value] if isinstance(value, str) else value


def base64_text(data: bytes) -> str:
    """Bytes as Kafka's JSON converters show them."""
    return binascii.b2a_base64(data, newline=False).decode()


def base64_bytes(text: str) -> bytes:
    """Bytes out of base64; ValueError when the text is none."""
    return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
