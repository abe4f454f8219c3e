"""Actions at the end of the process: stop git processes, remove unpacked bundles."""

from __future__ import annotations

import atexit
from collections.abc import Callable

_waiting: dict[Callable[[], None], None] = {}  # in their order; threads add and take at once


def at_end(action: Callable[[], None]) -> None:
    """Register an action for `close`, which runs at the latest at the interpreter's regular exit."""
    if not _waiting:
        atexit.unregister(close)
        atexit.register(close)
    _waiting[action] = None


def forget(action: Callable[[], None]) -> None:
    """Remove an action that has been done."""
    _waiting.pop(action, None)


def close() -> None:
    """Run all actions, the latest first. To be called before `os._exit`; new actions can be registered afterwards."""
    while True:
        try:
            action, _ = _waiting.popitem()
        except KeyError:
            return
        action()
