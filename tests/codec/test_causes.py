"""Peers that fail, each by a script: the report names who hung up, why, and after what."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import dpkt
import pytest

from codec.test_connection import BREACHES, write_capture
from conftest import ROOT
from kiplint import decode
from kiplint.codec.catalog import Catalog, open_catalog
from kiplint.codec.problems import RULES
from kiplint.codec.secrets import masked_record
from kiplint.codec.tcp import ACK, FIN, RST, SYN, Address, Segment
from kiplint.codec.wire import base64_text
from kiplint.commands.encode.objects import encode_object
from kiplint.engine.errors import UsageError
from tools import definition, field, kiplint

CLIENT, BROKER = ("10.0.0.1", 50_000), ("10.0.0.2", 9092)
API_VERSIONS, METADATA, SASL_HANDSHAKE, SASL_AUTHENTICATE, PRODUCE, GROUPS = 18, 3, 17, 36, 0, 42
HELLO: dict[str, Any] = {"clientSoftwareName": "me", "clientSoftwareVersion": "1"}
OFFER = [{"apiKey": key, "minVersion": 0, "maxVersion": 1 if key == 17 else 12} for key in (0, 3, 17, 18, 36, 42)]
WELCOME: dict[str, Any] = {"apiKeys": OFFER}
NODE = {"nodeId": 1, "host": "10.0.0.2", "port": 9093}
CLIENT_HELLO, ALERT = bytes.fromhex("1603010200010001fc0303"), bytes.fromhex("15030300020228")
VERSIONS = {API_VERSIONS: 3, METADATA: 12, SASL_HANDSHAKE: 1, SASL_AUTHENTICATE: 2, PRODUCE: 9, GROUPS: 2}


@pytest.fixture(scope="session")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures' set with SaslAuthenticate and Produce."""
    folder = tmp_path_factory.mktemp("schemas")
    shutil.copytree(ROOT / "fixtures" / "sets" / "broker" / "clients", folder, dirs_exist_ok=True)
    fields = {
        "SaslAuthenticateRequest": [field("AuthBytes", "bytes")],
        "SaslAuthenticateResponse": [
            field("ErrorCode", "int16"),
            field("ErrorMessage", "string", nullableVersions="0+"),
            field("AuthBytes", "bytes"),
        ],
        "ProduceRequest": [field("Acks", "int16"), field("TimeoutMs")],
        "ProduceResponse": [],
    }
    for name, rows in fields.items():
        key, valid, flexible = (36, "0-2", "2+") if name.startswith("Sasl") else (0, "0-9", "9+")
        kind = "request" if name.endswith("Request") else "response"
        same = {"name": name, "type": kind, "apiKey": key, "validVersions": valid, "flexibleVersions": flexible}
        (folder / f"{name}.json").write_bytes(definition(*rows, **same))
    return folder


@cache
def catalog(folder: Path) -> Catalog:
    return open_catalog([folder], None)


class Talk:
    """A connection whose segments are written one after another, 10 ms apart."""

    def __init__(self, schemas: Path, client: Address = CLIENT, server: Address = BROKER, start: float = 0.0) -> None:
        self.ends = (client, server)
        self.places = [1000, 5000]
        self.time = start
        self.segments: list[Segment] = []
        self._catalog = catalog(schemas)
        self._id = 0

    def add(self, side: int, flags: int = ACK, data: bytes = b"") -> Talk:
        self.time += 0.01
        source, target = self.ends[side], self.ends[1 - side]
        ack = self.places[1 - side] if flags & ACK else 0
        self.segments.append(Segment(self.time, source, target, self.places[side], flags, data, ack))
        self.places[side] += len(data) + bool(flags & (SYN | FIN))
        return self

    def connect(self) -> Talk:
        return self.add(0, SYN).add(1, SYN | ACK).add(0)

    def again(self) -> Talk:
        """The latest segment once more."""
        self.time += 0.01
        self.segments.append(self.segments[-1]._replace(time=self.time))
        return self

    def wait(self, seconds: float) -> Talk:
        self.time += seconds
        return self

    def request(self, key: int, correlation: int | None = None, version: int = -1, **value: Any) -> Talk:
        return self._frame(0, key, correlation, version, value)

    def response(self, key: int, correlation: int | None = None, version: int = -1, **value: Any) -> Talk:
        return self._frame(1, key, correlation, version, value)

    def _frame(self, side: int, key: int, correlation: int | None, version: int, value: dict[str, Any]) -> Talk:
        self._id = correlation if correlation is not None else self._id + 1 - side
        frame = {
            "direction": ("request", "response")[side],
            "api_key": key,
            "api_version": VERSIONS[key] if version < 0 else version,
            "header": {"correlationId": self._id, **({} if side else {"clientId": "me"})},
            "value": value,
        }
        result = encode_object(self._catalog, frame)
        assert result.hex, result.problems
        data = bytes.fromhex(result.hex)
        return self.add(side, data=len(data).to_bytes(4, "big") + data)

    def versions(self) -> Talk:
        return self.connect().request(API_VERSIONS, **HELLO).response(API_VERSIONS, **WELCOME)

    def handshake(self, mechanism: str = "PLAIN", version: int = 1) -> Talk:
        talk = self.versions().request(SASL_HANDSHAKE, version=version, mechanism=mechanism)
        return talk.response(SASL_HANDSHAKE, version=version, mechanisms=["PLAIN", "SCRAM-SHA-256"])

    def token(self, token: bytes, answer: bytes | None = b"", **value: Any) -> Talk:
        self.request(SASL_AUTHENTICATE, authBytes=base64_text(token))
        return self if answer is None else self.response(SASL_AUTHENTICATE, authBytes=base64_text(answer), **value)

    def metadata(self, **value: Any) -> Talk:
        return self.request(METADATA).response(METADATA, brokers=[NODE], controllerId=1, **value)

    def fin(self, side: int) -> Talk:
        """A FIN, its acknowledgement, and the other end's."""
        return self.add(side, FIN | ACK).add(1 - side).add(1 - side, FIN | ACK).add(side)


class Case(NamedTuple):
    script: Callable[[Talk], object]
    rule: str
    cause: str


SERVES = "10.0.0.2:9092"
CLOSED = "the broker closed the connection 10 ms after the request"
CASES = {
    "FIN on ApiVersions": Case(
        lambda talk: talk.connect().request(API_VERSIONS, **HELLO).fin(1), "unanswered", f"ApiVersions 3: {CLOSED}"
    ),
    "FIN on a request": Case(
        lambda talk: talk.versions().metadata().request(GROUPS).fin(1), "unanswered", f"DeleteGroups 2: {CLOSED}"
    ),
    "RST on a request": Case(
        lambda talk: talk.versions().request(GROUPS).add(1, RST | ACK),
        "unanswered",
        "DeleteGroups 2: the broker reset the connection 10 ms after the request",
    ),
    "FIN on a request that it cannot read": Case(
        lambda talk: talk.versions().add(0, data=bytes.fromhex("0000000c0003000c0000000200026d65")).fin(1),
        "unanswered",
        f"Metadata 12: {CLOSED}",
    ),
    "a request on a closed connection": Case(
        lambda talk: talk.versions().metadata().add(1, FIN | ACK).request(GROUPS).add(1, RST),
        "unanswered",
        "DeleteGroups 2: the broker had closed the connection before the request",
    ),
    "a client that gives up": Case(
        lambda talk: talk.versions().request(GROUPS).wait(30).fin(0),
        "unanswered",
        "DeleteGroups 2: the client gave up, and closed the connection 30010 ms after the request",
    ),
    "a broker that skips a request": Case(
        lambda talk: talk.versions().request(GROUPS, 2).request(METADATA, 3).response(METADATA, 3),
        "unanswered",
        "DeleteGroups 2: later requests were answered, this one was not",
    ),
    "a broker that says nothing": Case(
        lambda talk: talk.versions().request(GROUPS).wait(50).add(0),
        "unanswered",
        "DeleteGroups 2: no answer within 50010 ms",
    ),
    "FIN before any request": Case(
        lambda talk: talk.connect().fin(1),
        "closed-early",
        f"{SERVES}: the server closed the connection before any request, after 30 ms",
    ),
    "FIN after ApiVersions": Case(
        lambda talk: talk.versions().fin(1),
        "closed-early",
        "ApiVersions 3: the broker closed the connection 10 ms after the answer, before any request",
    ),
    "FIN after SASL": Case(
        lambda talk: talk.handshake().token(b"\0u\0p").fin(1),
        "closed-early",
        "SaslAuthenticate 2: the broker closed the connection 10 ms after the answer, before any request",
    ),
    "FIN on SaslHandshake": Case(
        lambda talk: talk.versions().request(SASL_HANDSHAKE, mechanism="PLAIN").fin(1),
        "unanswered",
        f"SaslHandshake 1: {CLOSED}",
    ),
    "FIN after SaslHandshake": Case(
        lambda talk: talk.handshake().fin(1),
        "authentication",
        "SaslHandshake 1: the broker closed the connection 10 ms after SaslHandshake was answered",
    ),
    "FIN on SaslAuthenticate": Case(
        lambda talk: talk.handshake().token(b"\0u\0p", None).fin(1), "unanswered", f"SaslAuthenticate 2: {CLOSED}"
    ),
    "FIN on a token without a header": Case(
        lambda talk: talk.handshake(version=0).add(0, data=b"\0\0\0\x04\0u\0p").fin(1),
        "authentication",
        "SaslHandshake 0: the broker closed the connection in answer to a token",
    ),
    "a wrong password": Case(
        lambda talk: talk.handshake().token(b"\0u\0p", errorCode=58, errorMessage="Invalid credentials").fin(1),
        "authentication",
        "SaslAuthenticate 2: the broker refuses the credentials: Invalid credentials",
    ),
    "an unknown user of SCRAM": Case(
        lambda talk: talk.handshake("SCRAM-SHA-256").token(b"n,,n=u,r=1", b"r=12,s=c2FsdA==,i=4096").token(
            b"c=biws,r=12,p=cA==", b"e=unknown-user").fin(0),
        "authentication",
        "SaslAuthenticate 2: the broker refuses the credentials: SCRAM ends with e=unknown-user",
    ),
    "a mechanism that the broker lacks": Case(
        lambda talk: talk.versions().request(SASL_HANDSHAKE, mechanism="GSSAPI").response(
            SASL_HANDSHAKE, errorCode=33, mechanisms=["PLAIN"]).fin(0),
        "authentication",
        "SaslHandshake 1: the broker refuses GSSAPI with 33 (UNSUPPORTED_SASL_MECHANISM, not retriable); "
        "it supports PLAIN",
    ),
    "a request before SASL ends": Case(
        lambda talk: talk.handshake("SCRAM-SHA-256").token(b"n,,n=u,r=1", b"r=12,s=c2FsdA==,i=4096").metadata(),
        "before-authentication",
        "Metadata 12: the request was sent before SASL had ended",
    ),
    "a client that speaks TLS": Case(
        lambda talk: talk.connect().add(0, data=CLIENT_HELLO).fin(1),
        "protocol",
        f"{SERVES}: the client speaks TLS, and the server closed the connection in answer",
    ),
    "a client that speaks TLS, and a server that waits": Case(
        lambda talk: talk.connect().add(0, data=CLIENT_HELLO).add(1).wait(5).fin(0),
        "protocol",
        f"{SERVES}: the client speaks TLS, and the server does not answer",
    ),
    "a server that speaks TLS": Case(
        lambda talk: talk.connect().request(API_VERSIONS, **HELLO).add(1, data=ALERT).fin(1),
        "protocol",
        f"{SERVES}: the client speaks Kafka's protocol, the server TLS, with the alert handshake failure",
    ),
    "a TLS handshake that fails": Case(
        lambda talk: talk.connect().add(0, data=CLIENT_HELLO).add(1, data=ALERT).fin(1),
        "protocol",
        f"{SERVES}: the server refuses the TLS handshake, with the alert handshake failure",
    ),
    "a server that speaks HTTP": Case(
        lambda talk: talk.connect().request(API_VERSIONS, **HELLO).add(1, data=b"HTTP/1.1 400 Bad Request\r\n").fin(1),
        "protocol",
        f"{SERVES}: the client speaks Kafka's protocol, the server HTTP",
    ),
    "a client that speaks HTTP": Case(
        lambda talk: talk.connect().add(0, data=b"GET / HTTP/1.1\r\n\r\n").add(1, RST | ACK),
        "protocol",
        f"{SERVES}: the client speaks HTTP, and the server reset the connection in answer",
    ),
    "a port where nothing listens": Case(
        lambda talk: talk.add(0, SYN).add(1, RST | ACK),
        "refused",
        f"{SERVES}: the server refuses the connection: it answers the SYN with RST",
    ),
    "a port behind a firewall": Case(
        lambda talk: talk.add(0, SYN).wait(3).again(),
        "no-connection",
        f"{SERVES}: the server did not answer the SYN for 3010 ms",
    ),
    "a wrong correlation id": Case(
        lambda talk: talk.versions().request(METADATA).response(METADATA, 77).add(0, RST),
        "correlation-id",
        "unknown frame: no request has correlation id 77",
    ),
    "answers in another order": Case(
        lambda talk: talk.versions().request(METADATA, 2).request(METADATA, 3).response(METADATA, 3).response(
            METADATA, 2),
        "answer-order",
        "Metadata 12: request 3, which was sent later, was answered before",
    ),
    "two answers": Case(
        lambda talk: talk.versions().metadata().response(METADATA, 2),
        "answered-twice",
        "Metadata 12: the request with correlation id 2 was answered before",
    ),
    "a correlation id of two requests in flight": Case(
        lambda talk: talk.versions().request(METADATA, 2).request(METADATA, 2).response(METADATA, 2).response(
            METADATA, 2),
        "id-in-flight",
        "Metadata 12: correlation id 2 is that of an earlier request that is not answered yet",
    ),
    "an answer before its request": Case(
        lambda talk: talk.versions().response(METADATA, 2).request(METADATA, 2),
        "answer-early",
        "Metadata 12: the answer came before the request was sent",
    ),
    "a controller that is nowhere": Case(
        lambda talk: talk.versions().request(METADATA).response(METADATA, brokers=[NODE], controllerId=7),
        "controller",
        "Metadata 12: the controller is node 7; the brokers are 1",
    ),
}  # fmt: skip
"""What a peer does, the rule that it breaks, and the line at the head of the report."""


@pytest.mark.parametrize("name", CASES)
def test_each_failure_has_a_cause(schemas: Path, tmp_path: Path, name: str) -> None:
    script, rule, cause = CASES[name]
    talk = Talk(schemas)
    script(talk)
    result = decode(write_capture(talk.segments, tmp_path / "talk.pcap"), sets=[schemas])
    assert result.capture is not None
    causes = [(cause.rule, f"{cause.subject}: {cause.message}", cause.count) for cause in result.capture.causes]
    assert [row for row in causes if not row[0].startswith("codec/")] == [(f"connection/{rule}", cause, 1)]
    assert result.status == ("ok" if RULES[f"connection/{rule}"].severity == "warning" else "findings")
    assert f"connection/{rule}" in {finding.rule for finding in result.findings}


def test_every_rule_has_a_script() -> None:
    rules = {rule.partition("/")[2] for rule in RULES if rule.startswith("connection/")}
    assert rules == {rule for rule, *_ in BREACHES} | {case.rule for case in CASES.values()} | {"two-clusters"}


def causes(schemas: Path, file: str, **options: Any) -> list[str]:
    result = decode(file, sets=[schemas], **options)
    assert result.capture is not None
    return [f"{cause.subject}: {cause.message}, {cause.count} times" for cause in result.capture.causes]


def hung_up(schemas: Path, tmp_path: Path) -> str:
    """Ninety connections whose last request the broker answers by FIN, some later than others, and ten in order."""
    segments: list[Segment] = []
    for number in range(100):
        talk = Talk(schemas, (CLIENT[0], 50_000 + number), start=float(number)).versions().metadata()
        if number >= 10:
            talk.request(GROUPS).wait(number / 1000).fin(1)
        segments += talk.segments
    return write_capture(segments, tmp_path / "talk.pcap")


def test_a_broker_that_hangs_up_on_every_request(schemas: Path, tmp_path: Path) -> None:
    file = hung_up(schemas, tmp_path)
    expected = "DeleteGroups 2: the broker closed the connection 65 ms after the request"
    assert causes(schemas, file) == [f"{expected}, 90 times"]
    result = decode(file, sets=[schemas], where="not answered")
    assert [len(result.rows), {row.api for row in result.rows}] == [90, {"DeleteGroups"}]
    output = kiplint("decode", "--set", schemas, file, cwd=tmp_path)
    lines = output.out.splitlines()
    assert (output.code, lines[1]) == (1, f"error[connection/unanswered]: {expected}, 90 times")
    place = next(place for place, line in enumerate(lines) if line.split()[:1] == ["connection"])
    assert [line.split()[0] for line in lines[place + 1 : place + 4]] == ["10", "11", "12"]  # failing ones first
    assert lines[place + 1].endswith("me 1      3            broker")


def test_a_condition_filters_the_summary(schemas: Path, tmp_path: Path) -> None:
    file = hung_up(schemas, tmp_path)
    assert causes(schemas, file, where="connection < 12 and api == 'DeleteGroups'") == [
        "DeleteGroups 2: the broker closed the connection 21 ms after the request, 2 times"
    ]
    summary = decode(file, sets=[schemas], where="connection < 2").capture
    assert summary and (summary.frames, summary.tcp_connections, summary.causes) == (8, 2, [])
    assert [(api.name, api.requests) for api in summary.by_api] == [("Metadata", 2), ("ApiVersions", 2)]


def test_honest_connections_have_no_causes(schemas: Path, tmp_path: Path) -> None:
    """A client may leave without its last answer, and need not wait for one to a Produce without acknowledgement."""
    start = Talk(schemas).handshake().token(b"\0u\0p").metadata().request(PRODUCE, acks=0, timeoutMs=9)
    talks = [start.metadata(clusterId="a").request(GROUPS).wait(1).fin(0)]
    talks.append(Talk(schemas, ("10.0.0.1", 2), start=20).versions().metadata().wait(600).fin(1))
    talks.append(Talk(schemas, ("10.0.0.1", 3), start=30).connect().fin(0))
    talks.append(Talk(schemas, ("10.0.0.1", 4), start=640).versions().request(GROUPS))
    file = write_capture([segment for talk in talks for segment in talk.segments], tmp_path / "talk.pcap")
    assert causes(schemas, file) == []
    assert decode(file, sets=[schemas]).status == "ok"


def test_connections_to_servers_of_others_are_not_judged(schemas: Path, tmp_path: Path) -> None:
    """A refused connection counts where Metadata names its address, or a host with a client of Kafka tries it."""
    segments = Talk(schemas).versions().metadata().segments
    for client, address in (
        ("10.0.0.9", ("10.0.0.2", 9093)), ("10.0.0.1", ("10.0.0.3", 9092)), ("10.0.0.1", ("10.0.0.2", 443)),
        ("10.0.0.9", ("10.0.0.2", 9094)),
    ):  # fmt: skip
        segments += Talk(schemas, (client, 1), address, 5.0).add(0, SYN).add(1, RST | ACK).segments
    cause = "the server refuses the connection: it answers the SYN with RST, 1 times"
    assert causes(schemas, write_capture(segments, tmp_path / "talk.pcap")) == [
        f"10.0.0.2:9093: {cause}",
        f"10.0.0.3:9092: {cause}",
    ]


def packet(protocol: int, payload: bytes) -> bytes:
    ip = dpkt.ip.IP(src=bytes((10, 0, 0, 1)), dst=bytes((10, 0, 0, 2)), p=protocol, data=payload)
    ip.len = len(ip)
    return bytes(ip)


@pytest.mark.parametrize(
    ("packets", "says"),
    [
        ([packet(17, bytes.fromhex("c350 12b5 0010 0000") + bytes(8))] * 2, "2 packets with 2 packets of VXLAN"),
        ([packet(47, bytes(20))], "1 packet with 1 packet of GRE; capture inside of the tunnel"),
        ([packet(1, bytes(8)), bytes(40)], "2 packets with 1 packet of ICMP, 1 packet of other protocols than IP"),
        ([], "0 packets"),
    ],
)
def test_a_capture_without_kafka_is_an_error(schemas: Path, tmp_path: Path, packets: list[bytes], says: str) -> None:
    with (tmp_path / "talk.pcap").open("wb") as out:
        writer = dpkt.pcap.Writer(out, linktype=dpkt.pcap.DLT_RAW)
        for data in packets:
            writer.writepkt(data, ts=1.0)
    result = kiplint("decode", "--set", schemas, "talk.pcap", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: talk.pcap: the capture has no request of Kafka: {says}")


def test_encrypted_connections_alone_are_an_error(schemas: Path, tmp_path: Path) -> None:
    server_hello = bytes.fromhex("160303007a0200007603")
    talk = Talk(schemas).connect().add(0, data=CLIENT_HELLO).add(1, data=server_hello).fin(0)
    with pytest.raises(UsageError, match="with 1 connection of TLS; what TLS encrypts cannot be read"):
        decode(write_capture(talk.segments, tmp_path / "talk.pcap"), sets=[schemas])


SECRET = b"\0alice\0hunter2-secret"


@pytest.mark.parametrize("output", ["text", "json", "jsonl", "list"])
def test_secrets_are_in_no_output(schemas: Path, tmp_path: Path, output: str) -> None:
    talk = Talk(schemas).handshake().token(SECRET).metadata()
    file = write_capture(talk.segments, tmp_path / "talk.pcap")
    words = ["--list"] if output == "list" else ["--frame", "5"] if output == "text" else ["--output-format", output]
    for words_of_secrets, is_there in (((), False), (("--secrets",), output != "list")):
        out = kiplint("decode", "--set", schemas, file, *words, *words_of_secrets, cwd=tmp_path).out
        forms = (SECRET.hex(), base64_text(SECRET), "hunter2", SECRET.hex(" ")[:40])
        assert any(form in out for form in forms) is is_there
        assert ("redacted" in out) is (not is_there and output != "list")


def test_secrets_of_frames_that_do_not_read(schemas: Path) -> None:
    """What is left of a frame of SaslAuthenticate may be a token too, also in a version that no set has."""
    whole = bytes.fromhex("00240002000000010002" + "6d65" + "00" + "16") + SECRET + b"\0"
    for data in (whole + b"hunter2", whole[:2] + b"\0\x09" + whole[4:], whole[:-9]):
        (entry,) = decode(data, sets=[schemas]).entries
        assert entry.frame.problems and b"hunter" not in entry.data
        assert decode(data, sets=[schemas], secrets=True).entries[0].data == data


@pytest.mark.parametrize(("name", "is_secret"), [("ssl.keystore.password", True), ("cleanup.policy", False)])
def test_passwords_in_configurations(tmp_path: Path, name: str, is_secret: bool) -> None:
    entries = [field("Name", "string"), field("Value", "string")]
    request = definition(field("Configs", "[]Entry", fields=entries), name="XRequest", flexibleVersions="none")
    (tmp_path / "XRequest.json").write_bytes(request)
    body = b"\0\0\0\1" + len(name).to_bytes(2, "big") + name.encode() + b"\0\3abc"
    (entry,) = decode(body, sets=[tmp_path], body="XRequest@0").entries
    assert entry.frame.value == {"configs": [{"name": name, "value": "***" if is_secret else "abc"}]}
    assert entry.frame.redacted == (("configs[0].value",) if is_secret else ())


def test_keys_in_records_of_the_metadata_log() -> None:
    keys = {"name": "u", "salt": "c2FsdA==", "storedKey": "a2V5", "iterations": 4096}
    record = masked_record({"valueMessage": {"message": "UserScramCredentialRecord", "value": keys}})
    stars = base64_text(b"********")
    assert record["valueMessage"]["value"] == {**keys, "salt": stars, "storedKey": stars}
    assert record["value"] == stars
