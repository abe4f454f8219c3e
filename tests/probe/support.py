"""Ports to probe: any bytes, or a broker made of a few answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from codec.support import load_catalog
from conftest import ROOT
from kiplint.codec.frames import decode_request
from kiplint.commands.probe.result import ProbedBroker
from kiplint.commands.probe.run import probe

SET = ROOT / "fixtures" / "sets" / "broker" / "clients"
Talk = Callable[[socket.socket], object]
Answer = Mapping[str, Any] | None
Answers = Callable[[str, int, Mapping[str, Any]], Answer]
"""From an RPC's name, its version and the request's values to those of the response; None closes the connection."""


@contextmanager
def server(talk: Talk) -> Iterator[str]:
    """A port that does this with every connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            connections.append(connection)
            try:
                talk(connection)
            except OSError:
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    thread.join(60)
    listening.close()
    for peer in connections:
        peer.close()


def answering(data: bytes, *, close: bool = True) -> Talk:
    """Answer the first bytes with these."""

    def talk(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(data)
        if close:
            connection.shutdown(socket.SHUT_RDWR)

    return talk


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def ask(address: str, **others: object) -> ProbedBroker:
    """The answers of a broker, however slow the machine is; a broker that is to be silent has less time."""
    return probe(address, **{"client": SET, "timeout": 60.0, **others}).brokers[0]  # type: ignore[arg-type]


def speaking(answers: Answers, schemas: str = str(SET)) -> Talk:
    """Answer every request in its own version, by the layouts of a set."""
    catalog = load_catalog(schemas)

    def talk(connection: socket.socket) -> None:
        with connection.makefile("rb") as incoming:
            while head := incoming.read(4):
                request = decode_request(catalog, incoming.read(int.from_bytes(head, "big")))
                assert request.header is not None and not request.problems, request.problems
                key = request.header["requestApiKey"]
                value = answers(
                    request.message.removesuffix("Request"),
                    request.version,
                    {**request.header, **(request.value or {})},
                )
                if value is None:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                (message,) = catalog.with_key("response", key)
                _, codec = catalog.header(message, request.version)
                front, _ = codec.encode({"correlationId": request.header["correlationId"]})
                body, problems = catalog.codec(message, request.version).encode(dict(value))
                assert problems == ()
                connection.sendall(frame(front + body))

    return talk


def offer(*rows: tuple[int, int, int]) -> dict[str, Any]:
    """The values of an ApiVersionsResponse."""
    return {"apiKeys": [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, low, high in rows]}
