"""Stamps of texts: they tell a compiled pack that belongs to the texts that are there now from a stale one."""

from __future__ import annotations

import os
import zlib
from functools import cache

_ENGINE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(_ENGINE)


def stamp_of(data: bytes) -> str:
    """What tells one text from another that took its place. It guards against stale files, not against forgers."""
    return f"{len(data)}-{zlib.crc32(data):08x}-{zlib.adler32(data):08x}"


@cache
def translator_stamp() -> str:
    """The stamp of the engine's own text, which decides what rules become."""
    names = sorted(name for name in os.listdir(_ENGINE) if name.endswith(".py"))
    return stamp_of(b"\0".join(_read(os.path.join(_ENGINE, name)) for name in names))


def in_checkout() -> bool:
    """Whether this is a checkout, where packs and the engine may be edited at any time; a wheel carries its packs."""
    return not os.path.isdir(os.path.join(_PACKAGE, "packs"))


def _read(file: str) -> bytes:
    with open(file, "rb") as stored:
        return stored.read()
