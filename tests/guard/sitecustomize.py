"""No test reaches the network: Python asks this before it connects or looks up a name, in every process of the tests.

`tests/conftest.py` imports it, and subprocesses find it on their path: Python imports a module of this name by itself.
"""

from __future__ import annotations

import sys
from typing import Any

HOSTS = ("", "localhost", "0.0.0.0", "::", "::1")
ADDRESS_INDEX = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Where in the arguments of an event the address or the name is."""


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise for what is not this machine; paths of Unix sockets are."""
    if event not in ADDRESS_INDEX:
        return
    address = arguments[ADDRESS_INDEX[event]]
    host = address[0] if isinstance(address, tuple) else address if event.startswith("socket.get") else ""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if not (name in HOSTS or name.startswith("127.") or name in _own()):
        raise AssertionError(f"a test reaches for the network: {event} {address!r}")


def _own() -> tuple[str, ...]:
    import os

    return (os.uname().nodename,)


sys.addaudithook(refuse)
