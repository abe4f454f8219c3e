"""What must be undone before the process ends: git processes to stop, unpacked bundles to remove."""

from __future__ import annotations

import atexit
from collections.abc import Callable

_waiting: dict[Callable[[], None], None] = {}  # in their order; threads add and take at once


def at_end(action: Callable[[], None]) -> None:
    """Have something done by `close`, or at the latest at the interpreter's regular exit."""
    if not _waiting:
        atexit.unregister(close)
        atexit.register(close)
    _waiting[action] = None


def forget(action: Callable[[], None]) -> None:
    """Have something not done any more, as it is done already."""
    _waiting.pop(action, None)


def close() -> None:
    """Undo all, the latest first. Who leaves by `os._exit` calls this before; opening again afterwards works."""
    while True:
        try:
            action, _ = _waiting.popitem()
        except KeyError:
            return
        action()
