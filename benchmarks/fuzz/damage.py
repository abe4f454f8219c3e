"""Ways to damage an input: bytes cut, flipped, repeated and moved, words put in, pieces of another input spliced in.

Of JSON, values are replaced and properties are added too; half of the time nothing else, so that it stays JSON.
"""

import random
import re
import struct

WORDS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"'", b"//", b"/*", b"*/", b"\n", b"\r", b"\0", b"\\",
    b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"\xff", b"\xe2\x80\xae", b"\x1b[31m", b"0-32767", b"0+",
    b"none", b"-1", b"1e999", b"9" * 30, b"NaN", b"null", b"true", b"kiplint: ignore[*] x", b"fields",
    b"versions", b"[]", b"int32", b"X" * 300, b"S1", b"..", b"/", b"::", b"%0A", b"<script>", b" if x else ",
    b" for x in fields", b"params.", b"lambda", b"__class__", b"**", b"f'{x}'", b"=",
)  # fmt: skip
VALUES = (
    b"true", b"null", b"0", b"-1", b"1.5", b'""', b'"x"', b'"0+"', b'"none"', b"[]", b"{}", b'["x"]', b"[[]]", b"[{}]",
    b'{"name": 1}',
)  # fmt: skip
_SCALAR = rb'("[^"\n]*"|[-+\w.]+|\[\]|\{\})'
_VALUE = re.compile(rb":\s*" + _SCALAR)
_KEY = re.compile(rb'"\w+"\s*:')
_PAIR = re.compile(rb'("\w+"\s*:\s*)' + _SCALAR)
NUMBERS = (2**31 - 1, -1, -2, 2**24, 1000, 0)


def damage(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """The input with one to six things wrong; at times none of it is left."""
    buffer = bytearray(data or b"\0")
    ways = _OF_JSON if b'":' in data and rng.random() < 0.5 else _ONE
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        place = rng.randrange(len(buffer) or 1)
        ways[rng.randrange(len(ways))](buffer, place, rng, other)
        del buffer[1 << 20 :]
    return bytes(buffer)


def _cut(buffer: bytearray, place: int, _rng: random.Random, _other: bytes) -> None:
    del buffer[place:]


def _flip(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    if buffer:
        buffer[place] ^= 1 << rng.randrange(8)


def _number(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    buffer[place : place + 4] = struct.pack(">i", rng.choice(NUMBERS))


def _varint(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    buffer[place : place + 5] = rng.choice((b"\xff\xff\xff\xff\x0f", b"\xff\xff\x7f", b"\x80\x80\x80\x80\x00"))


def _noise(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    buffer[place:place] = rng.randbytes(rng.randint(1, 9))


def _leave_out(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    del buffer[place : place + rng.choice((1, 2, 3, 20, 200))]


def _word(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    buffer[place : place + rng.choice((0, 0, 1, 5))] = rng.choice(WORDS)


def _repeat(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    buffer[place:place] = buffer[place : place + rng.choice((1, 10, 100))] * rng.choice((1, 2, 50))


def _splice(buffer: bytearray, place: int, rng: random.Random, other: bytes) -> None:
    start = rng.randrange(len(other) or 1)
    buffer[place:place] = other[start : start + rng.choice((5, 50, 500))]


def _value(buffer: bytearray, place: int, rng: random.Random, _other: bytes) -> None:
    """Another value for a property of JSON, often of another type."""
    if value := _VALUE.search(buffer, place):
        buffer[value.start(1) : value.end(1)] = rng.choice(VALUES)


def _value_of_key(buffer: bytearray, place: int, rng: random.Random, other: bytes) -> None:
    """The value that a property of JSON has in the other input."""
    if pair := _PAIR.search(other, rng.randrange(len(other) or 1)):
        value = re.compile(re.escape(pair[1]) + _SCALAR).search(buffer, place)
        if value:
            buffer[value.start(1) : value.end(1)] = pair[2]


def _property(buffer: bytearray, place: int, rng: random.Random, other: bytes) -> None:
    """One more property in an object of JSON, with a key of the other input."""
    key, start = _KEY.search(other, rng.randrange(len(other) or 1)), buffer.find(b"{", place)
    if key and start >= 0:
        buffer[start + 1 : start + 1] = key[0] + rng.choice(VALUES) + b", "


def _all_new(buffer: bytearray, _place: int, rng: random.Random, _other: bytes) -> None:
    if rng.random() < 0.1:
        buffer[:] = rng.randbytes(rng.randint(0, 120))


_OF_JSON = (_value, _property, _value_of_key, _value_of_key, _value_of_key)
_ONE = (
    _cut, _flip, _number, _varint, _noise, _leave_out, _word, _word, _repeat, _splice, _splice, _value, _property,
    _value_of_key, _all_new,
)  # fmt: skip
