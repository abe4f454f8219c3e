"""A broker that offers what a schema set has, answers every request as if all were well, and records its segments."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.frames import decode_request
from kiplint.codec.tcp import ACK, FIN, RST, SYN, Segment
from kiplint.codec.values import default_of, key_of
from kiplint.commands.encode.objects import encode_object
from kiplint.compat.negotiation.sides import Side
from kiplint.model.layout import Layout

PRODUCE, FETCH, METADATA, FIND_COORDINATOR, JOIN, SYNC, API_VERSIONS = 0, 1, 3, 10, 11, 14, 18
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAACQ"


class Broker:
    """Listens on `port`; `segments` is what a capture of it would have, `requests` the API keys and versions asked."""

    def __init__(self, catalog: Catalog, side: Side) -> None:
        self._catalog = catalog
        self._offers = {key: offer.versions for key, offer in side.offers.items()}
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._closed = False
        self.port: int = self._listening.getsockname()[1]
        self.segments: list[Segment] = []
        self.requests: list[tuple[int, int, str]] = []

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                client, address = self._listening.accept()
                threading.Thread(target=self._talk, args=(client, address), daemon=True).start()

    def close(self) -> None:
        self._closed = True
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _talk(self, connection: socket.socket, client: tuple[str, int]) -> None:
        ends, places = (client, ("127.0.0.1", self.port)), [1, 1]

        def record(side: int, flags: int, data: bytes = b"") -> None:
            with self._lock:
                if not self._closed:
                    ack = places[1 - side] if flags & ACK else 0
                    moment = time.time()
                    self.segments.append(Segment(moment, ends[side], ends[1 - side], places[side], flags, data, ack))
                    places[side] += len(data) + bool(flags & (SYN | FIN))

        record(0, SYN)
        record(1, SYN | ACK)
        record(0, ACK)
        pending = b""
        with connection:
            while True:
                try:
                    chunk = connection.recv(2**16)
                except OSError:
                    record(0, RST)
                    return
                if not chunk:
                    record(0, FIN | ACK)
                    record(1, FIN | ACK)
                    record(0, ACK)
                    return
                record(0, ACK, chunk)
                pending += chunk
                while len(pending) >= 4 and len(pending) >= (end := 4 + int.from_bytes(pending[:4], "big")):
                    answer, pending = self._answer(pending[4:end]), pending[end:]
                    if answer:
                        record(1, ACK, answer)
                        with suppress(OSError):
                            connection.sendall(answer)

    def _answer(self, data: bytes) -> bytes:
        """The response to a request with its length; empty for a Produce without acknowledgement."""
        key, version = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
        if key == API_VERSIONS and version not in self._offers[key]:
            value: dict[str, Any] = {"errorCode": 35, "apiKeys": [self._offer(key)]}
            version = 0
        else:
            request = decode_request(self._catalog, data)
            assert request.value is not None and request.header is not None, request.problems
            self.requests.append((key, version, request.header.get("clientId") or ""))
            message = having(self._catalog.with_key("response", key), version)
            assert message is not None
            if key == PRODUCE and request.value["acks"] == 0:
                return b""
            body = self._catalog.codec(message, version).body
            value = fitting(body, {**echo(body, request.value), **self._special(key, request.value)})
            if key == FETCH:
                time.sleep(0.1)
        head = {"correlationId": int.from_bytes(data[4:8], "big", signed=True)}
        frame = {"direction": "response", "api_key": key, "api_version": version, "header": head, "value": value}
        result = encode_object(self._catalog, frame)
        assert result.hex is not None, (message.name, version, result.problems)
        answer = bytes.fromhex(result.hex)
        return len(answer).to_bytes(4, "big") + answer

    def _offer(self, key: int) -> dict[str, int]:
        versions = self._offers[key]
        return {"apiKey": key, "minVersion": versions.lowest, "maxVersion": versions.highest}

    def _special(self, key: int, request: Mapping[str, Any]) -> dict[str, Any]:
        """What is not in the request; the fields that the version does not have are left out."""
        node = {"nodeId": 1, "host": "127.0.0.1", "port": self.port}
        if key == API_VERSIONS:
            return {"apiKeys": [self._offer(key) for key in sorted(self._offers)]}
        if key == METADATA:
            names = [topic["name"] for topic in request["topics"] or [{"name": "t"}]]
            return {"brokers": [node], "clusterId": "c", "controllerId": 1, "topics": [
                {"name": name, "topicId": TOPIC_ID, "partitions": [
                    {"partitionIndex": 0, "leaderId": 1, "replicaNodes": [1], "isrNodes": [1]}
                ]} for name in names
            ]}  # fmt: skip
        if key == FIND_COORDINATOR:
            return {**node, "coordinators": [{"key": name, **node} for name in request.get("coordinatorKeys", ())]}
        if key == JOIN:
            member, protocol = request["memberId"] or "m", request["protocols"][0]
            members = [{"memberId": member, "metadata": protocol["metadata"]}]
            same = {"generationId": 1, "protocolName": protocol["name"], "leader": member, "memberId": member}
            return {**same, "members": members}
        if key == SYNC:
            return {"assignment": next((row["assignment"] for row in request["assignments"]), "")}
        nodes = [{**node, "brokerId": 1}]
        return {"producerId": 1, "producerEpoch": 0, "clusterId": "c", "controllerId": 1, "brokers": nodes}


def fitting(body: Layout, value: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the version has."""
    fields = {key_of(slot): slot.body for slot in body.slots}
    return {
        key: [fitting(inner, row) for row in part] if isinstance(part, list) and (inner := fields[key]) else part
        for key, part in value.items()
        if key in fields
    }


def echo(body: Layout, request: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a response: what the request has under the same names, an element for each of its, else defaults."""
    lists = [part for part in request.values() if isinstance(part, list) and part]
    value: dict[str, Any] = {}
    for slot in body.slots:
        key = key_of(slot)
        if slot.array and slot.body:
            rows = request.get(key) or (lists[0] if lists else [])
            kinds = {str: "string", int: "int32"}
            firsts = [(inner.kind, key_of(inner)) for inner in slot.body.slots]
            value[key] = [
                echo(slot.body, row if isinstance(row, dict) else {name: row})
                for row in rows
                for name in [next((name for kind, name in firsts if kind == kinds.get(type(row))), "")]
            ]
        elif slot.body is None and not slot.array and key in request and key != "errorCode":
            value[key] = request[key]
        elif key in ("offset", "committedOffset"):
            value[key] = 0 if key == "offset" else -1
        else:
            value[key] = default_of(slot)
    return value


@contextmanager
def broker(catalog: Catalog, side: Side) -> Iterator[Broker]:
    """A broker for as long as the block takes."""
    running = Broker(catalog, side)
    threading.Thread(target=running.serve, daemon=True).start()
    yield running
    running.close()
