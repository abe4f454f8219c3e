"""What `decode` reads: text, files and standard input, as pieces whose form is known or recognised."""

from __future__ import annotations

import binascii
import os
import re
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from kiplint.codec.capture import is_capture
from kiplint.engine.errors import UsageError
from kiplint.limits import INPUT_BYTES, RECORDS, Limit
from kiplint.sources.disk import STDIN
from kiplint.text.files import read_file, standard_input

if TYPE_CHECKING:
    from kiplint.commands.decode.options import DecodeCommand

InputFormat = Literal["auto", "hex", "base64", "frame", "stream", "capture", "records", "jsonl"]
MOST_TEXT = 2**24
"""The largest text whose form is recognised."""
GZIP = b"\x1f\x8b\x08"
ONE_FRAME_NOTE = "the lines are read as one frame"
LEAST_FRAME = 8
"""The bytes of the shortest request."""

_HEX = re.compile(rb"\s*(?:0x)?[0-9a-fA-F\s:]+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\s-]+=*\s*")
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n?|\n|\Z)")
_TEXT = re.compile(rb"[\t\n\r\f\x1b -~\x80-\xff]+")


class DecodeInput(NamedTuple):
    """A piece of an input: its source, its line or 0, the form of its bytes, the bytes, and how they were read."""

    source: str
    line: int
    form: Literal["frame", "text-frame", "stream", "capture", "records", "json"]
    data: bytes
    note: str = ""


def read_inputs(options: DecodeCommand) -> Iterator[DecodeInput]:
    """Split all inputs into pieces. Raises UsageError.

    The largest allowed input is `INPUT_BYTES`, and proportionally larger for a limit above `RECORDS`.
    """
    form, most = options.input_format, INPUT_BYTES.times(options.limit / RECORDS)
    least = 1 if options.body else 4 if options.response else 8  # the bytes of a text that may be base64
    for number, word in enumerate(options.inputs or (STDIN,), 1):
        if isinstance(word, bytes):
            yield from _pieces("bytes", word, form, least, most)
        elif word == STDIN:
            data = _check_size(standard_input().read(most + 1), "standard input", most)
            yield from _pieces("standard input", data, form, least, most)
        elif form in ("auto", "hex", "base64") and not os.path.lexists(word):
            yield from _read_argument(word, number, form, least)
        else:
            yield from _pieces(word, _file(word, most), form, least, most)


def _read_argument(word: str, number: int, form: InputFormat, least: int) -> Iterator[DecodeInput]:
    """Text that is not the path of a file."""
    name, data = f"argument {number}", word.encode(errors="surrogateescape")
    if form == "auto" and (frame := _unwrap_frame(data)):
        yield DecodeInput(name, 0, "text-frame", frame, f"{name}: {ONE_FRAME_NOTE}")
    elif form != "base64" and _HEX.fullmatch(data):
        yield DecodeInput(name, 0, "text-frame", _hex(data, name))
    elif form != "hex" and _BASE64.fullmatch(data):
        yield DecodeInput(name, 0, "text-frame", _base64(data, name, least if form == "auto" else 0))
    else:
        kinds = {"hex": "hexadecimal", "base64": "base64"}
        raise UsageError(f"{word[:60]} is not a file, and not {kinds.get(form, 'hexadecimal or base64')}")


def _pieces(
    name: str, data: bytes, form: InputFormat, least: int, most: Limit, note: str = ""
) -> Iterator[DecodeInput]:
    if data[:3] == GZIP and form in ("auto", "capture", "stream", "records"):
        yield from _pieces(name, _unpack(name, data, most), form, least, most, f"{name}: unpacked with gzip")
        return
    is_auto = form == "auto"
    form = _form(data) if is_auto else form
    if is_auto and form in ("hex", "base64", "frame") and _TEXT.fullmatch(data[:4096]):
        if frame := _unwrap_frame(data):
            yield DecodeInput(name, 1, "text-frame", frame, f"{name}: {ONE_FRAME_NOTE}")
            return
        if form == "frame":
            raise UsageError(f"{name} is text, but neither hexadecimal nor base64; name its format if it is a frame")
    if form in ("frame", "stream", "capture", "records"):
        yield DecodeInput(name, 0, form, data, note)
        return
    for line, text in enumerate((match[0] for match in _LINE.finditer(data)), 1):
        if text.strip() and form == "jsonl":
            yield DecodeInput(name, line, "json", text, note)
        elif text.strip():
            where = f"{name}, line {line}"
            raw = _hex(text, where) if form == "hex" else _base64(text, where, least if is_auto else 0)
            yield DecodeInput(name, line, "text-frame", raw, note)


def _unwrap_frame(data: bytes) -> bytes | None:
    """One frame that is wrapped after as many bytes a line as od, xxd and base64 do; None for other text."""
    if len(data) > MOST_TEXT:
        return None
    text = data.decode(errors="replace")
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    widths = {len(line) for line in lines[:-1]}
    if len(widths) != 1 or len(lines[-1]) > max(widths):
        return None
    try:
        if widths in ({64}, {76}) and _BASE64.fullmatch(text.encode()) and not _HEX.fullmatch(text.encode()):
            return _base64("".join(lines).encode(), "")
        parts = [bytes.fromhex(line) for line in lines]
    except (ValueError, UsageError):
        return None
    frame = b"".join(parts)
    has_length = int.from_bytes(frame[:4], "big") == len(frame) - 4
    is_alone = has_length or (_is_request(frame) and not any(map(_is_request, parts[1:])))
    return frame if is_alone and len(parts[0]) in (16, 30) else None


def _unpack(name: str, data: bytes, most: Limit) -> bytes:
    unpacking = zlib.decompressobj(31)
    try:
        return _check_size(unpacking.decompress(data, most + 1), f"{name}, unpacked,", most)
    except zlib.error as error:
        raise UsageError(f"{name}: not gzip, though it begins like it: {error}") from None


def _form(data: bytes) -> InputFormat:
    """The form that the bytes appear to have."""
    if is_capture(data):
        return "capture"
    if form := _text_form(data[:4096]):
        return form
    size = int.from_bytes(data[:4], "big", signed=True)
    return "stream" if len(data) >= 12 and 8 <= size <= len(data) - 4 and not _is_request(data) else "frame"


def _text_form(start: bytes) -> InputFormat | None:
    if re.match(rb"\s*\{(?!\s*[-(\d])", start):
        return "jsonl"
    if start.strip() and _HEX.fullmatch(start):
        return "hex"
    return "base64" if start.strip() and _BASE64.fullmatch(start) else None


def _is_request(data: bytes) -> bool:
    """Whether the bytes are a request without its length: its client id then ends inside them."""
    length = int.from_bytes(data[8:10], "big", signed=True)
    text = data[10 : 10 + max(length, 0)]
    return -1 <= length <= len(data) - 10 and data[0] == 0 and data[2] == 0 and text.isascii() and length > 0


def _hex(text: bytes, where: str) -> bytes:
    digits = re.sub(rb"[\s:]", b"", text.strip().removeprefix(b"0x"))
    try:
        return binascii.a2b_hex(digits)
    except ValueError:
        raise UsageError(f"{where}: not pairs of hexadecimal digits") from None


def _base64(text: bytes, where: str, least: int = 0) -> bytes:
    plain = re.sub(rb"\s", b"", text).replace(b"-", b"+").replace(b"_", b"/")
    bare = plain.rstrip(b"=")
    try:
        data = binascii.a2b_base64(bare + b"=" * (-len(bare) % 4), strict_mode=True)
    except ValueError:
        raise UsageError(f"{where}: not base64") from None
    if len(data) < least or (least and len(plain) % 4 and len(data) < LEAST_FRAME):
        raise UsageError(f"{where}: {text.decode().strip()} is neither hexadecimal, nor base64 of a whole frame")
    return data


def _file(path: str, most: Limit) -> bytes:
    if os.path.lexists(path) and not os.path.isfile(path):
        raise UsageError(f"{path} is not a file")
    try:
        return read_file(path, most)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _check_size(data: bytes, name: str, most: Limit) -> bytes:
    if len(data) > most:
        raise UsageError(most.exceeded(name))
    return data
