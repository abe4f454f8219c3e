"""The first requests of a connection: ApiVersions with its way back, SASL, Metadata."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION, Frame, decode_response
from kiplint.codec.problems import Problem
from kiplint.codec.wire import uuid_text
from kiplint.model.message import Message
from kiplint.runs.probe.connection import Connection, ProbeError
from kiplint.runs.probe.sasl import Sasl

METADATA, SASL_HANDSHAKE, SASL_AUTHENTICATE = 3, 17, 36
SOFTWARE = "kiplint"
INSTANCE = "clientInstanceId"
NO_NODE = -1
MOST_TRIED = 5
"""After how many versions of ApiVersions that the broker names and then refuses it is asked in version 0."""

ERRORS = {
    31: "CLUSTER_AUTHORIZATION_FAILED",
    33: "UNSUPPORTED_SASL_MECHANISM",
    34: "ILLEGAL_SASL_STATE",
    35: "UNSUPPORTED_VERSION",
    42: "INVALID_REQUEST",
    58: "SASL_AUTHENTICATION_FAILED",
    129: "REBOOTSTRAP_REQUIRED",
}
"""The error codes that the first requests of a connection are answered with."""


class Asked(NamedTuple):
    """What the client says of itself, and of the broker that it expects (KIP-1242)."""

    software_version: str
    cluster: str | None = None
    node: int = NO_NODE


class Offer(NamedTuple):
    """The answer to ApiVersions: the versions that were tried in turn, the one that was answered, and the answer.

    `problems` are those of all answers, the ones before the last included.
    """

    tried: tuple[int, ...]
    version: int
    frame: Frame
    problems: tuple[Problem, ...]


class Talker:
    """Requests over one connection, numbered, and with one client instance id where their header has it (KIP-1313)."""

    def __init__(self, catalog: Catalog, connection: Connection) -> None:
        self.catalog = catalog
        self._connection = connection
        self._next = 0
        self._instance = uuid_text(secrets.token_bytes(15) + b"\1")  # never the zero id, nor a reserved one

    def ask(self, api_key: int, version: int, value: dict[str, Any]) -> tuple[Frame, bytes]:
        """Send a request, and give its response, read in that version, with its bytes. Raises ProbeError."""
        message = self.message(api_key)
        self._next += 1
        header = {
            "requestApiKey": api_key,
            "requestApiVersion": version,
            "correlationId": self._next,
            "clientId": SOFTWARE,
        }
        _, head = self.catalog.header(message, version)
        if head is None:
            raise ProbeError(f"the set has no header for {message.name} {version}")
        if INSTANCE in head.defaults:
            header[INSTANCE] = self._instance
        front, wrong = head.encode(header)
        body, more = self.catalog.codec(message, version).encode(value)
        for problem in (*wrong, *more):
            raise ProbeError(f"{message.name} {version} cannot be written: {problem.message}")
        answer = self._connection.ask(front + body)
        if int.from_bytes(answer[:4], "big", signed=True) != self._next:
            number = int.from_bytes(answer[:4], "big", signed=True)
            raise ProbeError(f"the answer has correlation id {number}, the request had {self._next}")
        return decode_response(self.catalog, api_key, version, answer, spans=True), answer

    def message(self, api_key: int) -> Message:
        """The request of that API key. Raises ProbeError."""
        for message in self.catalog.keyed("request", api_key):
            if message.valid:
                return message
        raise ProbeError(f"the set has no request with the API key {api_key}")

    def highest(self, api_key: int) -> int:
        """The highest stable version that the set has."""
        message = self.message(api_key)
        return message.valid.highest - (message.unstable and message.valid.highest > message.valid.lowest)


def api_versions(talker: Talker, version: int, asked: Asked, tried: tuple[int, ...] = ()) -> Offer:
    """Ask for versions, beginning with one; on UNSUPPORTED_VERSION with the one that the broker names, else with 0.

    A broker that goes on naming versions that it then refuses is asked in version 0 at last.
    """
    problems: tuple[Problem, ...] = ()
    while True:
        tried = (*tried, version)
        frame, data = talker.ask(API_VERSIONS, version, _said(talker.message(API_VERSIONS), version, asked))
        problems = (*problems, *frame.problems)
        if data[4:6] != UNSUPPORTED_VERSION.to_bytes(2, "big") or version == 0:
            return Offer(tried, version, frame, problems)
        version = _named(frame, version) if len(tried) < MOST_TRIED else 0


def _named(frame: Frame, refused: int) -> int:
    """The version to ask next, below the one that was refused."""
    # The error code is all that can be relied upon (KIP-511); what follows may name the highest version.
    rows = (frame.value or {}).get("apiKeys") or []
    named = [one.get("maxVersion", 0) for one in rows if one.get("apiKey") == API_VERSIONS]
    return max(min(named[-1], refused - 1), 0) if named else 0


def error_text(code: int) -> str:
    """An error code with its name, where that is known."""
    return f"error {code} ({ERRORS[code]})" if code in ERRORS else f"error {code}"


def _said(message: Message, version: int, asked: Asked) -> dict[str, Any]:
    values = {
        "clientSoftwareName": SOFTWARE,
        "clientSoftwareVersion": asked.software_version,
        "clusterId": asked.cluster,
        "nodeId": asked.node,
    }
    return {field.java_name: values[field.java_name] for field in message.fields if _takes(field, version, values)}


def _takes(field: Any, version: int, values: Mapping[str, Any]) -> bool:
    return field.java_name in values and field.versions.covers(version)


def authenticate(talker: Talker, sasl: Sasl) -> None:
    """Take the broker's SASL exchange (SaslHandshake 1, SaslAuthenticate 0). Raises ProbeError."""
    frame, _ = talker.ask(SASL_HANDSHAKE, 1, {"mechanism": sasl.mechanism})
    value = frame.value or {}
    if value.get("errorCode"):
        known = ", ".join(map(str, value.get("mechanisms") or [])) or "none"
        raise ProbeError(f"the broker does not take {sasl.mechanism}; it has {known}")
    talk = sasl.talk()
    token = next(talk)
    while True:
        frame, _ = talker.ask(SASL_AUTHENTICATE, 0, {"authBytes": token})
        value = frame.value or {}
        if value.get("errorCode"):
            said = value.get("errorMessage") or error_text(value["errorCode"])
            raise ProbeError(f"the broker refuses the credentials: {said}")
        try:
            token = talk.send(_answer(value))
        except StopIteration:
            return


def _answer(value: Mapping[str, Any]) -> bytes:
    from kiplint.codec.problems import Malformed
    from kiplint.codec.wire import as_bytes

    try:
        return as_bytes(value.get("authBytes"))
    except Malformed:
        raise ProbeError("the broker's SaslAuthenticate has no bytes") from None


def metadata(talker: Talker, version: int) -> Frame:
    """Metadata of no topic, for the cluster's id (KIP-78); from version 1 on, as 0 takes no topic for all."""
    frame, _ = talker.ask(METADATA, version, {"topics": []})
    return frame
