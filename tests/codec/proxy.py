"""A proxy between clients and one broker that keeps every frame."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

HOST = b"127.0.0.1"


class Talk(NamedTuple):
    """The frames of one connection without their lengths: requests, responses."""

    requests: list[bytes]
    responses: list[bytes]


class Proxy:
    """Where it listens, and what it has heard. The broker's own address is replaced by the proxy's in its answers."""

    def __init__(self, broker: tuple[str, int]) -> None:
        self._broker = broker
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.talks: list[Talk] = []
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(self._broker)
            except OSError:
                client.close()  # the broker is ended before its clients are
                continue
            self._sockets += [client, broker]
            talk = Talk([], [])
            self.talks.append(talk)
            for ends, frames in (((client, broker), talk.requests), ((broker, client), talk.responses)):
                threading.Thread(target=self._pass_on, args=(*ends, frames), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, frames: list[bytes]) -> None:
        own, other = (HOST + port.to_bytes(4, "big") for port in (self._broker[1], self.port))
        try:
            with source.makefile("rb") as incoming:
                while len(head := incoming.read(4)) == 4:
                    frame = incoming.read(int.from_bytes(head, "big")).replace(own, other)
                    if len(frame) < int.from_bytes(head, "big"):
                        break  # who sends it is being ended
                    frames.append(frame)
                    target.sendall(head + frame)
        except OSError:
            pass
        finally:
            target.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._sockets:
            connection.close()


@contextmanager
def proxy(host: str | None, port: int | None) -> Iterator[Proxy]:
    """A proxy in front of a broker, for as long as the block takes."""
    assert host and port
    relay = Proxy((host, port))
    threading.Thread(target=relay.serve, daemon=True).start()
    yield relay
    relay.close()
