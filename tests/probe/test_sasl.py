"""SASL from the first request to the last, against a server of somebody else's (scramp)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scramp import ScramException, ScramMechanism

from kiplint.commands.probe.connection import Mechanism, Sasl
from probe.support import SET, Answer, ask, offer, server, speaking
from sources.support import write
from tools import definition, field

USER, PASSWORD = "al=ice,", "pass word é"


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """The usual set, with SaslAuthenticate."""
    same = {"apiKey": 36, "validVersions": "0-2", "flexibleVersions": "2+"}
    token = field("AuthBytes", "bytes")
    answer = (field("ErrorCode", "int16"), field("ErrorMessage", "string", nullableVersions="0+"), token)
    files = {path.name: path.read_bytes() for path in SET.glob("*.json")}
    files["SaslAuthenticateRequest.json"] = definition(token, name="SaslAuthenticateRequest", **same)
    files["SaslAuthenticateResponse.json"] = definition(
        *answer,
        field("SessionLifetimeMs", "int64", "1+"),
        name="SaslAuthenticateResponse",
        **same | {"type": "response"},
    )
    return write(tmp_path, files)


class GuardedBroker:
    """A broker that lets nobody through without the right password."""

    def __init__(self, mechanism: str) -> None:
        self.mechanism = mechanism
        self.names: list[tuple[str, int]] = []
        self.open = False
        if mechanism != "PLAIN":
            self._scram = ScramMechanism(mechanism)
            auth_info = self._scram.make_auth_info(PASSWORD, iteration_count=4096)
            self._server: Any = self._scram.make_server(lambda user: auth_info)
            self._first = True

    def __call__(self, name: str, version: int, request: Mapping[str, Any]) -> Answer:
        self.names.append((name, version))
        if name == "ApiVersions":
            return offer((18, 0, 5), (3, 0, 13), (17, 0, 1), (36, 0, 2))
        if name == "SaslHandshake":
            return {"errorCode": 0 if request["mechanism"] == self.mechanism else 33, "mechanisms": [self.mechanism]}
        if name == "SaslAuthenticate":
            return self.token(base64.b64decode(request["authBytes"]).decode())
        return {"clusterId": "guarded"} if self.open else None

    def token(self, expected: str) -> dict[str, Any]:
        if self.mechanism == "PLAIN":
            self.open = expected == f"\0{USER}\0{PASSWORD}"
            return {"errorCode": 0 if self.open else 58, "errorMessage": None if self.open else "wrong password"}
        try:
            if self._first:
                self._first = False
                self._server.set_client_first(expected)
                answer = self._server.get_server_first()
            else:
                self._server.set_client_final(expected)
                answer = self._server.get_server_final()
                self.open = True
        except ScramException as error:
            return {"errorCode": 58, "errorMessage": str(error).splitlines()[0]}
        return {"authBytes": base64.b64encode(answer.encode()).decode()}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_authentication(schemas: Path, mechanism: Mechanism) -> None:
    broker = GuardedBroker(mechanism)
    with server(speaking(broker, str(schemas))) as address:
        offers = ask(address, client=schemas, sasl=Sasl(mechanism, USER, PASSWORD), timeout=60.0)
    assert (offers.error, offers.complaints, offers.cluster_id) == (None, (), "guarded")
    steps = 1 if mechanism == "PLAIN" else 2
    tokens = [("SaslAuthenticate", 0)] * steps
    assert broker.names == [("ApiVersions", 0), ("SaslHandshake", 1), *tokens, ("ApiVersions", 5), ("Metadata", 13)]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password(schemas: Path, mechanism: Mechanism) -> None:
    with server(speaking(GuardedBroker(mechanism), str(schemas))) as address:
        text = ask(address, client=schemas, sasl=Sasl(mechanism, USER, "guess"), timeout=60.0).error or ""
    reason = "wrong password" if mechanism == "PLAIN" else "The client keys don't match.: invalid-proof"
    assert text == f"the broker refuses the credentials: error 58 (SASL_AUTHENTICATION_FAILED, not retriable): {reason}"


def test_a_wrong_password_on_which_the_broker_closes_the_connection(schemas: Path) -> None:
    broker = GuardedBroker("PLAIN")

    def answers(name: str, version: int, request: Mapping[str, Any]) -> Answer:
        return None if name == "SaslAuthenticate" else broker(name, version, request)

    with server(speaking(answers, str(schemas))) as address:
        text = ask(address, client=schemas, sasl=Sasl("PLAIN", USER, "guess")).error
    assert text == f"the broker closed the connection on the credentials of {USER}: the user or the password is wrong"


def test_sasl_on_a_port_without_it(schemas: Path) -> None:
    def answers(name: str, version: int, request: Mapping[str, Any]) -> Answer:
        return {"errorCode": 34} if name == "SaslHandshake" else offer((18, 0, 5), (17, 0, 1))

    with server(speaking(answers, str(schemas))) as address:
        text = ask(address, client=schemas, sasl=Sasl("PLAIN", USER, PASSWORD)).error
    assert text == "the port does not use SASL: leave --sasl out"


def test_another_mechanism(schemas: Path) -> None:
    with server(speaking(GuardedBroker("PLAIN"), str(schemas))) as address:
        text = ask(address, client=schemas, sasl=Sasl("SCRAM-SHA-512", USER, PASSWORD)).error
    assert text == "the broker does not support SCRAM-SHA-512; it supports PLAIN"


def test_without_a_password(schemas: Path) -> None:
    with server(speaking(GuardedBroker("PLAIN"), str(schemas))) as address:
        offers = ask(address, client=schemas)
    assert offers.apis and not offers.is_in_order
    assert offers.complaints == ("Metadata 13 is not answered: the port requires SASL (PLAIN): use --sasl",)
