"""The client's side of SASL/PLAIN (RFC 4616) and SCRAM (RFC 5802, 7677)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Generator
from typing import Literal, NamedTuple

from kiplint.runs.probe.connection import ProbeError

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
MOST_ITERATIONS = 1_000_000
"""The most work that a server may ask for; Kafka's default is 4,096."""

Talk = Generator[bytes, bytes, None]
"""Gives what to send, and takes what comes back."""


class Sasl(NamedTuple):
    """Who to be, and how to prove it."""

    mechanism: Mechanism
    user: str
    password: str

    def talk(self) -> Talk:
        """The messages of the mechanism. Raises ProbeError for a server that is not what it says."""
        if self.mechanism == "PLAIN":
            return _plain(self)
        return _scram(self, secrets.token_urlsafe(18))


def _plain(sasl: Sasl) -> Talk:
    yield f"\0{sasl.user}\0{sasl.password}".encode()


def _scram(sasl: Sasl, nonce: str) -> Talk:
    name = sasl.mechanism.removeprefix("SCRAM-").lower().replace("-", "")
    bare = f"n={sasl.user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    first = (yield f"n,,{bare}".encode()).decode("utf-8", "replace")
    said = _attributes(first)
    count = int(said["i"]) if re.fullmatch(r"[0-9]{1,7}", said.get("i", "")) else 0
    if not said.get("r", "").startswith(nonce) or "s" not in said or not 0 < count <= MOST_ITERATIONS:
        raise ProbeError("the server's first SCRAM message is not right")
    salted = hashlib.pbkdf2_hmac(name, sasl.password.encode(), _decoded(said["s"]), count)
    client = hmac.digest(salted, b"Client Key", name)
    without_proof = f"c=biws,r={said['r']}"
    signed = f"{bare},{first},{without_proof}".encode()
    signature = hmac.digest(hashlib.new(name, client).digest(), signed, name)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True))).decode()
    last = _attributes((yield f"{without_proof},p={proof}".encode()).decode("utf-8", "replace"))
    wanted = hmac.digest(hmac.digest(salted, b"Server Key", name), signed, name)
    if "e" in last:
        raise ProbeError(f"the server refuses the password: {last['e']}")
    if not hmac.compare_digest(_decoded(last.get("v", "")), wanted):
        raise ProbeError("the server does not know the password: its SCRAM signature is wrong")


def _attributes(text: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ProbeError("the server's SCRAM message is not base64") from None
