"""Ports of loopback: one that somebody may listen on, and one on which nobody does."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHANCE = random.SystemRandom()


def free_port() -> int:
    """A port that nobody has, and that the system gives nobody before it is taken.

    Those that it gives by itself, to whoever listens or connects without asking for one, are above these.
    """
    while True:
        port = CHANCE.randrange(10_000, 32_768)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


@contextmanager
def closed_port() -> Iterator[int]:
    """A port that nobody listens on, nor can begin to within the block."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield listener.getsockname()[1]
