"""A connection to a broker: frames with their lengths, TLS and SASL, within a deadline."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import socket
import ssl
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Literal, NamedTuple

from kiplint.codec.state import protocol_of
from kiplint.limits import ANSWER_BYTES


class ProbeError(Exception):
    """The broker could not be asked; the message is one line."""


class ClosedError(ProbeError):
    """The broker closed the connection in place of an answer, as old brokers do on unknown versions."""


class NoTlsError(ProbeError):
    """The port does not speak TLS."""


class Tls(NamedTuple):
    """How to use TLS: files of the trusted CA, a client certificate and its key; `insecure` trusts any certificate."""

    ca: str | None = None
    """The file of the trusted CA certificates; None for the certificates of the system."""
    certificate: str | None = None
    """The file of the client's certificate."""
    key: str | None = None
    """The file of the certificate's private key."""
    insecure: bool = False
    """Whether any certificate is trusted."""

    def context(self) -> ssl.SSLContext:
        """The context; raises ProbeError for files that cannot be used. It waits for no pipe and no passphrase."""
        for file in filter(None, (self.ca, self.certificate, self.key)):
            if os.path.exists(file) and not os.path.isfile(file):
                raise ProbeError(f"the certificates cannot be used: {file} is not a file")
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate:
                context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ssl.SSLError) as error:
            raise ProbeError(f"the certificates cannot be used: {error}") from None
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


class Deadline:
    """The end of the time that a broker has, for its connections and for the work on its answers."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The remaining seconds; raises TimeoutError when there are none."""
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining


class BrokerConnection:
    """An open connection; every call raises ProbeError once the deadline has passed."""

    def __init__(self, host: str, port: int, deadline: Deadline, tls: Tls | None) -> None:
        self._deadline = deadline
        self._tls = tls
        self._is_answering = False
        try:
            self._socket: socket.socket = _connect(host, port, deadline)
        except TimeoutError:
            raise ProbeError(f"no connection within {deadline.seconds:g} s") from None
        except OSError as error:
            raise ProbeError(f"no connection: {error.strerror or error}") from None
        if tls:
            self._encrypt(host, tls)

    def _encrypt(self, host: str, tls: Tls) -> None:
        try:
            self._wait()
            self._socket = tls.context().wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
            self._socket.do_handshake()
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise ProbeError(f"the certificate is not trusted: {error.verify_message}") from None
        except TimeoutError:
            self.close()
            raise ProbeError(f"no TLS handshake within {self._deadline.seconds:g} s") from None
        except (ssl.SSLError, OSError) as error:
            refusal = _refusal(error, tls, has_answered=self._is_agreed())
            self.close()
            if refusal:
                raise ProbeError(refusal) from None
            raise NoTlsError(f"no TLS: {_reason(error)}") from None

    def _is_agreed(self) -> bool:
        """Whether a TLS server has answered with its choice of a cipher."""
        return isinstance(self._socket, ssl.SSLSocket) and self._socket.cipher() is not None

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def require_time(self) -> None:
        """Raise ProbeError when the deadline has passed."""
        try:
            self._deadline.left()
        except TimeoutError:
            raise ProbeError(f"reading the answer took longer than {self._deadline.seconds:g} s") from None

    def ask(self, frame: bytes, title: str) -> bytes:
        """Send a frame and receive a frame, both without their lengths; `title` names the request in errors."""
        parts = bytearray()
        try:
            self._send(len(frame).to_bytes(4, "big") + frame)
            self._read(parts, 4)
            size = int.from_bytes(parts, "big", signed=True)
            if not 4 <= size <= ANSWER_BYTES:
                raise ProbeError(no_frame(bytes(parts) + self._peek()))
            self._read(parts, 4 + size)
            self._is_answering = True
            return bytes(parts[4:])
        except TimeoutError:
            within = f"within {self._deadline.seconds:g} s"
            if not parts:
                answer = f"no answer to {title}" if self._is_answering else "connected, but no answer"
                raise ProbeError(f"{answer} {within}") from None
            raise ProbeError(f"the answer to {title} is incomplete {within} ({_measure(parts)})") from None
        except (ssl.SSLError, OSError) as error:
            refusal = _refusal(error, self._tls, has_answered=True) if self._tls else ""
            if refusal:
                raise ProbeError(refusal) from None
            about = "refuse the client's" if self._tls and self._tls.certificate else "require a client"
            hint = f"; the broker may {about} certificate" if self._tls and not self._is_answering else ""
            raise ClosedError(f"the connection broke before an answer to {title}: {_reason(error)}{hint}") from None

    def _send(self, data: bytes) -> None:
        """Send bytes. A server that has refused the connection may have sent an alert of TLS, which says why."""
        self._wait()
        try:
            self._socket.sendall(data)
        except (ConnectionError, ssl.SSLError):
            if self._tls:
                self._socket.recv(1)
            raise

    def _read(self, parts: bytearray, size: int) -> None:
        """Read until there are `size` bytes."""
        while len(parts) < size:
            self._wait()
            chunk = self._socket.recv(min(size - len(parts), 2**16))
            if not chunk and not parts:
                raise ClosedError("the connection was closed without an answer")
            if not chunk:
                raise ClosedError(f"the connection was closed in the middle of an answer ({_measure(parts)})")
            parts += chunk

    def _peek(self) -> bytes:
        """A few more bytes of an answer that is not a frame, to name its protocol."""
        try:
            self._socket.settimeout(0.2)
            return self._socket.recv(64)
        except OSError:
            return b""

    def _wait(self) -> None:
        self._socket.settimeout(self._deadline.left())


def _connect(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A connection to the first address of the host that answers; all of them share the deadline."""
    failure: OSError = OSError("the host has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(deadline.left())
            connection.connect(place)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def _measure(parts: bytearray) -> str:
    """How much of a frame came."""
    if len(parts) < 4:
        return "inside a length"
    return f"{len(parts)} of {4 + int.from_bytes(parts[:4], 'big')} bytes"


def _reason(error: OSError) -> str:
    text = getattr(error, "reason", None) or error.strerror or type(error).__name__
    return str(text).lower().replace("_", " ")


def _refusal(error: OSError, tls: Tls, *, has_answered: bool) -> str:
    """The reason why a TLS server refused the client, by the alert that it sent; empty for any other error.

    A failed handshake is about the certificate of the client only if the server `has_answered` before.

    Without a certificate of the client, OpenSSL sends certificate_required (TLS 1.3) or handshake_failure (before),
    Java bad_certificate (RFC 8446, section 4.4.2.4; RFC 5246, section 7.4.6).
    """
    reason = getattr(error, "reason", None) or ""
    about_certificate = "CERTIFICATE" in reason or "UNKNOWN_CA" in reason
    if "ALERT" not in reason or not (about_certificate or (has_answered and "HANDSHAKE_FAILURE" in reason)):
        return ""
    if tls.certificate is None:
        return "the broker requires a certificate of the client: use --tls-certificate and --tls-key"
    return f"the broker refuses the client's certificate: {_reason(error).partition('alert ')[2]}"


def greeting(host: str, port: int, deadline: Deadline, data: bytes) -> bytes:
    """The first bytes of a port's answer to data, on a connection of its own; empty without an answer."""
    try:
        with _connect(host, port, deadline) as connection:
            connection.settimeout(min(deadline.left(), 2.0))
            connection.sendall(data)
            return connection.recv(64)
    except OSError:
        return b""


def client_hello() -> bytes:
    """How a TLS client begins."""
    outgoing = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def no_frame(data: bytes) -> str:
    """What an answer is that is not a frame of Kafka's protocol."""
    protocol = protocol_of(data)
    if protocol:
        return (
            "the port speaks TLS: use --tls"
            if protocol == "TLS"
            else f"the port speaks {protocol}, not Kafka's protocol"
        )
    size = int.from_bytes(data[:4], "big", signed=True)
    return f"the answer is not a frame of Kafka's protocol: it begins {data[:8].hex(' ')}, a length of {size} bytes"


Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
FEWEST_ITERATIONS, MOST_ITERATIONS = 4_096, 1_000_000
"""The numbers of iterations that a server may request. Kafka's client refuses fewer than 4,096, its default, too: from
few iterations whoever poses as the server learns the password."""

Talk = Generator[bytes, bytes, None]
"""Yields the messages to send, and receives the answers."""


class Sasl(NamedTuple):
    """The SASL mechanism, the user, and the password."""

    mechanism: Mechanism
    """PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""
    user: str
    """The name of the user."""
    password: str
    """The password."""

    def talk(self) -> Talk:
        """The messages of the mechanism. Raises ProbeError for a server that does not prove its identity."""
        if self.mechanism == "PLAIN":
            return _plain(self)
        return _scram(self, secrets.token_urlsafe(18))


def _plain(sasl: Sasl) -> Talk:
    yield f"\0{sasl.user}\0{sasl.password}".encode()


def _scram(sasl: Sasl, nonce: str) -> Talk:
    name = sasl.mechanism.removeprefix("SCRAM-").lower().replace("-", "")
    bare = f"n={sasl.user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    first = (yield f"n,,{bare}".encode()).decode("utf-8", "replace")
    challenge = _attributes(first)
    count = int(challenge["i"]) if re.fullmatch(r"[0-9]{1,7}", challenge.get("i", "")) else 0
    if not challenge.get("r", "").startswith(nonce) or "s" not in challenge or not 0 < count <= MOST_ITERATIONS:
        raise ProbeError("the server's first SCRAM message is invalid")
    if count < FEWEST_ITERATIONS:
        raise ProbeError(
            f"the server requests {count} iterations of SCRAM; fewer than {FEWEST_ITERATIONS} are not safe"
        )
    salted_password = hashlib.pbkdf2_hmac(name, sasl.password.encode(), _decode(challenge["s"]), count)
    client = hmac.digest(salted_password, b"Client Key", name)
    without_proof = f"c=biws,r={challenge['r']}"
    auth_message = f"{bare},{first},{without_proof}".encode()
    signature = hmac.digest(hashlib.new(name, client).digest(), auth_message, name)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True))).decode()
    last = _attributes((yield f"{without_proof},p={proof}".encode()).decode("utf-8", "replace"))
    expected = hmac.digest(hmac.digest(salted_password, b"Server Key", name), auth_message, name)
    if "e" in last:
        raise ProbeError(f"the server refuses the password: {last['e']}")
    if not hmac.compare_digest(_decode(last.get("v", "")), expected):
        raise ProbeError("the server does not know the password: its SCRAM signature is wrong")


def _attributes(text: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ProbeError("the server's SCRAM message is not base64") from None
