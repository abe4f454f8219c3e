"""Actions at the end of the process: stop git processes, remove unpacked bundles."""

from __future__ import annotations

import atexit
from collections.abc import Callable

_actions: list[Callable[[], None]] = []


def at_end(action: Callable[[], None]) -> None:
    """Register an action for `close`, which runs at the latest at the interpreter's regular exit."""
    _actions.append(action)


@atexit.register
def close() -> None:
    """Run all actions, the latest first. Call it before `os._exit`; new actions can be registered afterwards."""
    while _actions:
        action = _actions.pop()
        action()
