"""What must be undone before the process ends: git processes to stop, unpacked bundles to remove."""

from __future__ import annotations

import atexit
from collections.abc import Callable

_waiting: list[Callable[[], None]] = []


def at_end(action: Callable[[], None]) -> None:
    """Have something done by `close`, or at the latest at the interpreter's regular exit."""
    if not _waiting:
        atexit.unregister(close)
        atexit.register(close)
    _waiting.append(action)


def close() -> None:
    """Undo all, the latest first. Who leaves by `os._exit` calls this before; opening again afterwards works."""
    while _waiting:
        _waiting.pop()()
