"""Unpacking of the records in a batch, never beyond a bound (cramjam; gzip by the standard library)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MOST_UNPACKED = 32 * 2**20
"""How many bytes the records of one batch may have unpacked; Kafka's default limit of a batch is 1 MiB packed."""
MOST_GROWN = 128 * 2**20
"""By how many bytes all batches that are read together may grow beyond 16 times what they have packed."""
MOST_TRIED_AGAIN = 100
"""How many of them are tried with more room: what is damaged fails there too, and room costs time."""
XERIAL = b"\x82SNAPPY\0"


class Unpackable(Exception):  # noqa: N818
    """The bytes cannot be unpacked; the text says why."""


_LEFT: ContextVar[list[int] | None] = ContextVar("_LEFT", default=None)


@contextmanager
def read_together() -> Iterator[None]:
    """Batches that are unpacked in here have `MOST_GROWN` in common: a thousand small ones can each be a bomb."""
    if _LEFT.get() is not None:
        yield
        return
    token = _LEFT.set([MOST_GROWN, MOST_TRIED_AGAIN])
    try:
        yield
    finally:
        _LEFT.reset(token)


def unpack(codec: str, data: bytes) -> bytes:
    """The records of a batch that was packed by one of `CODECS`. Raises Unpackable."""
    if codec == "none":
        return data
    left = _LEFT.get()
    if left and left[0] < 0:
        raise Unpackable(f"the batches before it have grown by more than {MOST_GROWN} bytes; no more are unpacked")
    found = _unpack(codec, data)
    if left:
        left[0] -= max(0, len(found) - 16 * len(data))
    return found


def _unpack(codec: str, data: bytes) -> bytes:
    if codec == "gzip":
        return _gzip(data)
    try:
        import cramjam
    except ImportError:
        raise Unpackable("snappy, lz4 and zstd are read by cramjam: pip install 'kiplint[bytes]'") from None
    try:
        if codec == "snappy":
            return _snappy(cramjam, data)
        return _bounded(cramjam.lz4 if codec == "lz4" else cramjam.zstd, data)
    except cramjam.DecompressionError as error:
        raise Unpackable(f"the {codec} data is damaged, or more than {MOST_UNPACKED} bytes unpacked: {error}") from None


def _gzip(data: bytes) -> bytes:
    machine = zlib.decompressobj(wbits=31)
    try:
        found = machine.decompress(data, MOST_UNPACKED)
    except zlib.error as error:
        raise Unpackable(f"the gzip data is damaged: {error}") from None
    if not machine.eof:
        raise Unpackable(f"the gzip data was cut off, or has more than {MOST_UNPACKED} bytes unpacked")
    return found


def _bounded(module: Any, data: bytes) -> bytes:
    """Unpack into room that is made larger once: most batches shrink to no less than a sixteenth."""
    left = _LEFT.get() or [0, 1]
    for size in (min(max(16 * len(data), 2**16), MOST_UNPACKED), MOST_UNPACKED):
        room = bytearray(size)
        try:
            return bytes(room[: module.decompress_into(data, room)])
        except Exception:
            if size == MOST_UNPACKED or left[1] < 1:
                raise
            left[1] -= 1
    raise AssertionError


def _snappy(cramjam: Any, data: bytes) -> bytes:
    """Raw blocks, alone or in the frames of the Java library that Kafka uses (a magic, two versions, sized blocks)."""
    if not data.startswith(XERIAL):
        return _raw_snappy(cramjam, data, MOST_UNPACKED)
    pos, found = 16, bytearray()
    while pos < len(data):
        size = int.from_bytes(data[pos : pos + 4], "big")
        if pos + 4 + size > len(data):
            raise Unpackable("the snappy data was cut off inside a block")
        found += _raw_snappy(cramjam, data[pos + 4 : pos + 4 + size], MOST_UNPACKED - len(found))
        pos += 4 + size
    return bytes(found)


def _raw_snappy(cramjam: Any, data: bytes, most: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(data) > most:
        raise Unpackable(f"the snappy data has more than {MOST_UNPACKED} bytes unpacked")
    return bytes(cramjam.snappy.decompress_raw(data))
