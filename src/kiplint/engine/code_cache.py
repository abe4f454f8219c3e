"""Compiled code kept between runs, in the user's cache directory; where that cannot be written, there is none."""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from collections.abc import Callable
from types import CodeType

from kiplint import __version__


def cached_code(key: tuple[object, ...], make: Callable[[], CodeType]) -> CodeType:
    """The code that belongs to a key, made when it is not there yet.

    The whole key, with the versions of Python and kiplint, is kept beside the code and compared, so that a stale or
    foreign entry is never used.
    """
    full = (__version__, sys.version, key)
    file = _file(repr(full).encode())
    try:
        with open(file, "rb") as stored:
            found, code = marshal.load(stored)
        if found == full and isinstance(code, CodeType):
            return code
    except (OSError, EOFError, ValueError, TypeError):
        pass
    code = make()
    _store(file, marshal.dumps((full, code)))  # type: ignore[arg-type]
    return code


def cache_directory() -> str:
    """Where what is made once is kept for later runs; it need not exist."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "kiplint")


def _file(name: bytes) -> str:
    return os.path.join(cache_directory(), f"{sys.implementation.cache_tag}-{zlib.crc32(name):08x}")


def _store(file: str, content: bytes) -> None:
    temporary = f"{file}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(temporary, "wb") as stored:
            stored.write(content)
        os.replace(temporary, file)
    except OSError:
        pass
