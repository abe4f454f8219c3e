"""What bytes are given as: hexadecimal or base64 text, files, standard input; one frame, a stream, a capture, lines."""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.text.files import read_file, standard_input

InputFormat = Literal["auto", "hex", "base64", "frame", "stream", "capture", "records", "jsonl"]
MOST_INPUT = 2**30
"""The largest input that is read, in bytes."""
STDIN = "-"
CAPTURES = (
    b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip
"""How pcapng begins, and pcap in both orders of bytes, with times in micro- or nanoseconds."""

_HEX = re.compile(rb"(?:0x|[0-9a-fA-F\s:])+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\s-]+=*\s*")


class Given(NamedTuple):
    """One input: what to call it, the line that it stands on where that is known, what its bytes are, and these."""

    name: str
    line: int
    form: Literal["frame", "text-frame", "stream", "capture", "records", "json"]
    data: bytes


def read_inputs(words: tuple[str | bytes, ...], form: InputFormat) -> Iterator[Given]:
    """The inputs that words stand for; bytes stand for themselves. Raises UsageError."""
    for number, word in enumerate(words, 1):
        if isinstance(word, bytes):
            yield from _given("bytes", word, form)
        elif word == STDIN:
            yield from _given("standard input", _bounded(standard_input().read(MOST_INPUT + 1), "standard input"), form)
        elif form in ("auto", "hex", "base64") and not os.path.lexists(word):
            yield _typed(word, number, form)
        else:
            yield from _given(word, _file(word), form)


def _typed(word: str, number: int, form: InputFormat) -> Given:
    """Text on the command line that is no file."""
    data = word.encode()
    if form != "base64" and _HEX.fullmatch(data):
        return Given(f"argument {number}", 0, "text-frame", _hex(data, f"argument {number}"))
    if form != "hex" and _BASE64.fullmatch(data):
        return Given(f"argument {number}", 0, "text-frame", _base64(data, f"argument {number}"))
    kinds = {"hex": "hexadecimal", "base64": "base64"}
    raise UsageError(f"{word[:60]} is no file, and not {kinds.get(form, 'hexadecimal or base64')}")


def _given(name: str, data: bytes, form: InputFormat) -> Iterator[Given]:
    form = _form(data) if form == "auto" else form
    if form == "frame":
        yield Given(name, 0, "frame", data)
    elif form in ("stream", "capture", "records"):
        yield Given(name, 0, form, data)
    else:
        for line, text in enumerate(data.splitlines(), 1):
            if not text.strip():
                continue
            if form == "jsonl":
                yield Given(name, line, "json", text)
            else:
                decode = _hex if form == "hex" else _base64
                yield Given(name, line, "text-frame", decode(text, f"{name}, line {line}"))


def _form(data: bytes) -> InputFormat:
    """What bytes are by the look of them."""
    if data[:4] in CAPTURES:
        return "capture"
    start = data[:4096]
    if start.lstrip()[:1] == b"{":
        return "jsonl"
    if start.strip() and _HEX.fullmatch(start):
        return "hex"
    if start.strip() and _BASE64.fullmatch(start):
        return "base64"
    size = int.from_bytes(data[:4], "big", signed=True)
    return "stream" if len(data) >= 12 and 8 <= size <= len(data) - 4 and not _is_request(data) else "frame"


def _is_request(data: bytes) -> bool:
    """Whether the bytes are one request without its length: its client id then ends inside them."""
    length = int.from_bytes(data[8:10], "big", signed=True)
    text = data[10 : 10 + max(length, 0)]
    return -1 <= length <= len(data) - 10 and data[0] == 0 and data[2] == 0 and text.isascii() and length > 0


def _hex(text: bytes, where: str) -> bytes:
    digits = re.sub(rb"[\s:]", b"", text.strip().removeprefix(b"0x"))
    try:
        return binascii.a2b_hex(digits)
    except ValueError:
        raise UsageError(f"{where}: not pairs of hexadecimal digits") from None


def _base64(text: bytes, where: str) -> bytes:
    plain = re.sub(rb"\s", b"", text).replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        return binascii.a2b_base64(plain + b"=" * (-len(plain) % 4), strict_mode=True)
    except ValueError:
        raise UsageError(f"{where}: not base64") from None


def _file(path: str) -> bytes:
    if os.path.lexists(path) and not os.path.isfile(path):
        raise UsageError(f"{path} is no file")
    try:
        return read_file(path, MOST_INPUT)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_INPUT:
        raise UsageError(f"{name} has more than {MOST_INPUT} bytes")
    return data
