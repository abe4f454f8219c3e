"""The state of a connection: who opened it, what each end said first, and who closed it; and what follows from that."""

from __future__ import annotations

import re
from typing import NamedTuple

from kiplint.codec.tcp import Address

CLIENT, SERVER = 0, 1
"""The ends of a connection."""
UNANSWERED_SYN = 1.0
"""The seconds after which a SYN without an answer is a failure."""
PATIENCE = 5.0
"""How many seconds, beyond what its request allows, a client must wait to have given up; else it just ended."""
SILENCE = 30.0
"""The seconds that a broker may take for an answer, beyond what the request allows."""
IDLE = 60.0
"""The seconds without a request after which a broker may close a connection."""


class ConnectionState(NamedTuple):
    """The state of a connection at its end. Times are in seconds.

    `has_syn` is whether its SYN was captured, `is_established` whether an end acknowledged the other. `first_bytes` are
    those of both ends, `requests` counts requests of Kafka, `tokens` SASL tokens without an answer. `ended_by` is the
    end that closed it first, by a RST if `is_reset`; None if it is open. `until` is when its last segment came.
    `complete` is whether no byte of either end is missing.
    """

    client: Address
    server: Address
    has_syn: bool
    is_established: bool
    first_bytes: tuple[bytes, bytes]
    requests: int
    tokens: int
    start: float
    end: float
    ended_by: int | None
    is_reset: bool
    until: float
    complete: bool

    @property
    def close(self) -> str:
        """What an end does that closes the connection."""
        return "reset" if self.is_reset else "closed"


def milliseconds(seconds: float) -> str:
    """A duration in whole milliseconds."""
    return f"{max(1, round(seconds * 1000))} ms"


def connection_problem(state: ConnectionState) -> tuple[str, str] | None:
    """The rule that a connection breaks before any request is read, and how; None for the others."""
    names = [protocol_of(data) for data in state.first_bytes]
    by_server = state.ended_by == SERVER
    if not state.has_syn:
        return None
    if not state.is_established:
        if by_server:
            return "refused", "the server refuses the connection: it answers the SYN with RST"
        wait_time = min(state.end, state.until) - state.start
        text = f"the server did not answer the SYN for {milliseconds(wait_time)}"
        return ("no-connection", text) if wait_time >= UNANSWERED_SYN else None
    if names[SERVER] == "TLS" and state.first_bytes[SERVER][:1] == ALERT and names[CLIENT] == "TLS":
        return "protocol", f"the server refuses the TLS handshake{_alert(state.first_bytes[SERVER])}"
    if names[SERVER] and not names[CLIENT] and state.requests:
        alert = _alert(state.first_bytes[SERVER]) if names[SERVER] == "TLS" else ""
        return "protocol", f"the client speaks Kafka's protocol, the server {names[SERVER]}{alert}"
    if names[CLIENT] and state.first_bytes[SERVER] and names[CLIENT] != names[SERVER]:
        return "protocol", f"the client speaks {names[CLIENT]}, the server {names[SERVER] or 'another protocol'}"
    if names[CLIENT] and state.complete and state.ended_by is not None and not state.first_bytes[SERVER]:
        answer = f"{state.close} the connection in answer" if by_server else "does not answer"
        return "protocol", f"the client speaks {names[CLIENT]}, and the server {answer}"
    if by_server and state.complete and not state.first_bytes[CLIENT]:
        wait = milliseconds(state.end - state.start)
        return "closed-early", f"the server {state.close} the connection before any request, after {wait}"
    return None


ALERT = b"\x15"
"""The first bytes of a TLS alert."""
ALERTS = {
    10: "unexpected message", 22: "record overflow", 40: "handshake failure", 42: "bad certificate",
    46: "certificate unknown", 48: "unknown CA", 70: "protocol version", 80: "internal error",
    112: "unrecognized name", 116: "certificate required",
}  # fmt: skip
"""The alerts with which TLS handshakes fail (RFC 8446, section 6)."""
PROTOCOLS = {
    "TLS": rb"[\x15\x16]\x03",
    "HTTP": rb"HTTP/|<!DO|<htm|(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|CONNECT|PRI) ",
    "SSH": rb"SSH-",
}
"""The first bytes of other protocols. Read as a length, each is above that of any frame of Kafka."""


def protocol_of(data: bytes) -> str:
    """The protocol that begins with these bytes; empty if it may be Kafka's."""
    return next((name for name, start in PROTOCOLS.items() if re.match(start, data)), "")


def _alert(data: bytes) -> str:
    """The alert of TLS in the first bytes of an end, if there is one."""
    if data[:1] != ALERT or len(data) < 7:
        return ""
    return f", with the alert {ALERTS.get(data[6], data[6])}"
