"""`kiplint probe` against a mock cluster, and against ports that are not brokers: one clear line each."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kiplint.commands.probe.connection import ProbeError, Sasl, Tls, _scram
from kiplint.commands.probe.run import probe
from kiplint.limits import ANSWER_BYTES
from ports import closed_port
from probe.support import SET, Talk, answering, ask, frame, offer, server, speaking
from tools import complaint, kiplint

HEAD = b"\0\0\0\1"


@pytest.mark.parametrize(
    ("data", "close", "expected"),
    [
        (b"", True, "the connection was closed without an answer"),
        (b"\0\0", True, "the connection was closed in the middle of an answer (inside a length)"),
        (frame(HEAD + b"\0" * 20)[:12], True, "the connection was closed in the middle of an answer (12 of 28 bytes)"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True, "the port speaks HTTP, not Kafka's protocol"),
        (b"\x15\x03\x03\x00\x02\x02\x28", True, "the port speaks TLS: use --tls"),
        (b"SSH-2.0-OpenSSH_9\r\n", True, "the port speaks SSH, not Kafka's protocol"),
        (
            b"\xde\xad\xbe\xef\x01\x02",
            True,
            "the answer is not a frame of Kafka's protocol: it begins de ad be ef 01 02",
        ),
        (b"", False, "connected, but no answer within 1 s"),
        (b"\0\0\1\0\0", False, "the answer to ApiVersions 5 is incomplete within 1 s (5 of 260 bytes)"),
        (b"\0\0", False, "the answer to ApiVersions 5 is incomplete within 1 s (inside a length)"),
        (frame(b"\0\0\0\x63" + b"\0" * 8), False, "the answer has correlation id 99, the request had 1"),
    ],
)
def test_ports_that_are_not_brokers(data: bytes, close: bool, expected: str) -> None:
    with server(answering(data, close=close)) as address:
        timeout = 1.0 if "within" in expected else 60.0
        assert (ask(address, timeout=timeout).error or "").startswith(expected)


def test_a_port_that_is_closed() -> None:
    with closed_port() as port:
        assert ask(f"127.0.0.1:{port}").error == "no connection: Connection refused"


def test_tls_is_missed() -> None:
    with server(answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as address:
        assert (ask(address, tls=Tls()).error or "").startswith("no TLS: ")
    with server(lambda connection: None) as address:
        assert ask(address, tls=Tls(), timeout=1.0).error == "no TLS handshake within 1 s"
    assert complaint_of(Tls(ca="nowhere.pem")).startswith("the certificates cannot be used")


def complaint_of(tls: Tls) -> str:
    with pytest.raises(ProbeError) as caught:
        tls.context()
    return str(caught.value)


def offers(version: int, *apis: tuple[int, int, int], code: int = 0) -> bytes:
    """An ApiVersionsResponse of version 0."""
    rows = b"".join(b"".join(number.to_bytes(2, "big") for number in row) for row in apis)
    return code.to_bytes(2, "big") + len(apis).to_bytes(4, "big") + rows


def broker(connection: socket.socket) -> None:
    """A broker that knows ApiVersions 0 alone, and says so."""
    for _ in range(2):
        request = connection.recv(4096)
        version, correlation = int.from_bytes(request[6:8], "big"), request[8:12]
        code = 35 if version else 0
        apis = ((18, 0, 0), (17, 0, 7), (500, 1, 2)) if not version else ((18, 0, 0),)
        connection.sendall(frame(correlation + offers(0, *apis, code=code)))


def test_the_way_back_to_version_0() -> None:
    with server(broker) as address:
        offers = ask(address)
    assert (offers.error, offers.tried, offers.api_versions) == (None, (5, 0), 0)
    assert [(problem.rule, problem.field) for problem in offers.problems] == [
        ("connection/sasl-handshake-version", "apiKeys[1].maxVersion")
    ]
    assert [(api.name, api.use, api.unknown) for api in offers.apis] == [
        ("SaslHandshake", 1, "2-7"),
        ("ApiVersions", 0, ""),
        ("", None, "1-2"),
    ]


@pytest.mark.parametrize("count", ["9" * 5000, "9999999", "0", "-1", "x", "\u0664"])
def test_a_server_that_asks_for_odd_work(count: str) -> None:
    talk = Sasl("SCRAM-SHA-256", "u", "p").talk()
    nonce = next(talk).decode().partition("r=")[2]
    with pytest.raises(ProbeError, match="first SCRAM message is invalid"):
        talk.send(f"r={nonce}x,s=AAAA,i={count}".encode())


def test_an_answer_that_is_malformed() -> None:
    def talk(connection: socket.socket) -> None:
        correlation = connection.recv(4096)[8:12]
        # Version 5 is flexible: an array of no APIs, throttle time, no tags; and a byte more.
        connection.sendall(frame(correlation + b"\0\0" + b"\x01" + b"\0\0\0\0" + b"\0" + b"\x07"))

    with server(talk) as address:
        problems = ask(address).problems
    assert [(problem.rule, problem.offset) for problem in problems] == [
        ("codec/trailing-bytes", 12),
        ("connection/answered-not-offered", 6),
    ]


def test_a_broker_that_keeps_naming_versions(tmp_path: Path) -> None:
    for file in SET.glob("*.json"):
        text = file.read_text("utf-8")
        if file.name.startswith("ApiVersions"):
            text = re.sub('"validVersions": "[^"]*"', '"validVersions": "0-32767"', text)
        (tmp_path / file.name).write_text(text, "utf-8")

    def answers(_name: str, version: int, _values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"errorCode": 35, **offer((18, 0, version - 1))} if version else offer((18, 0, 0))

    with server(speaking(answers, str(tmp_path))) as address:
        offers = ask(address, client=tmp_path)
    assert (offers.error, offers.tried) == (None, (32767, 32766, 32765, 32764, 32763, 0))


@pytest.mark.parametrize("rows", [1_000, 1_001])
def test_an_answer_of_too_many_rows(rows: int) -> None:
    def talk(connection: socket.socket) -> None:
        for _ in range(2):
            correlation = connection.recv(4096)[8:12]
            connection.sendall(frame(correlation + offers(0, *[(3, 2, 1)] * rows, code=0)))

    def refuse(connection: socket.socket) -> None:
        correlation = connection.recv(4096)[8:12]
        connection.sendall(frame(correlation + offers(0, (18, 0, 0), code=35)))
        talk(connection)

    with server(refuse) as address:
        answer = ask(address)
    if rows > 1_000:
        assert answer.error == "the answer of ApiVersions has more than 1,000 rows in an array"
        return
    counts = Counter(problem.rule for problem in answer.problems)
    expected = {
        "connection/versions-inverted": 1000,
        "connection/api-key-twice": 999,
        "connection/answered-not-offered": 1,
    }
    assert counts == expected
    assert answer.problems[2].offset == 10 + 7 - 1


def test_all_connections_to_a_broker_share_its_time() -> None:
    """A broker that closes the first connection late gets no second deadline."""

    def talk(connection: socket.socket) -> None:
        connection.recv(4096)
        time.sleep(0.6)
        connection.shutdown(socket.SHUT_RDWR)

    with server(talk) as address:
        assert ask(address, timeout=1.0).error == "connected, but no answer within 1 s"


def test_files_of_tls_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = str(tmp_path / "pipe")
    for tls in (Tls(ca=pipe), Tls(certificate=pipe), Tls(certificate=__file__, key=pipe)):
        assert complaint_of(tls) == f"the certificates cannot be used: {pipe} is not a file"


@pytest.mark.parametrize("count", [1, 4095])
def test_a_server_of_few_iterations_is_refused(count: int) -> None:
    talk = _scram(Sasl("SCRAM-SHA-512", "user", "pencil"), "me")
    next(talk)
    text = f"the server requests {count} iterations of SCRAM; fewer than 4096 are not safe"
    with pytest.raises(ProbeError, match=text):
        talk.send(f"r=me,s=AAAA,i={count}".encode())


def test_an_answer_that_is_too_long() -> None:
    with server(answering((ANSWER_BYTES + 1).to_bytes(4, "big") + b"\0" * 64, close=False)) as address:
        assert (ask(address).error or "").endswith("a length of 1048577 bytes")


def test_the_mock_cluster_of_librdkafka(tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"test.mock.num.brokers": 3, "bootstrap.servers": "mock"})
    node = next(iter(client.list_topics(timeout=60).brokers.values()))
    address = f"{node.host}:{node.port}"
    result = kiplint("probe", address, "127.0.0.1:1", "--client", SET, "--output-format", "json", cwd=tmp_path)
    first, second = json.loads(result.out)["brokers"]
    assert result.code == 1 and second["error"] == "no connection: Connection refused"
    assert (first["error"], len(first["nodes"])) == (None, 3)
    assert first["cluster_id"].startswith("mockCluster")
    names = {api["name"]: api for api in first["apis"]}
    assert names["Metadata"]["use"] is not None
    text = kiplint("probe", address, "--client", SET, cwd=tmp_path).out
    assert text.startswith(f"{address}: cluster mockCluster")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a certificate of 127.0.0.1, which signs itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject]
    try:
        files = ["-keyout", "key.pem", "-out", "cert.pem"]
        subprocess.run([*command, *files], cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return folder


def tls_broker(folder: Path, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, *, mutual: bool = False) -> Talk:
    """A broker with TLS, which may require a certificate of the client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.maximum_version = newest
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "cert.pem")

    def talk(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as safe:
            broker(safe)

    return talk


def test_real_tls(certificate: Path) -> None:
    with server(tls_broker(certificate)) as address:
        assert ask(address, tls=Tls(ca=str(certificate / "cert.pem"))).error is None
        assert ask(address, tls=Tls(insecure=True)).error is None
        assert (ask(address, tls=Tls()).error or "").startswith("the certificate is not trusted")
        assert ask(address).error == "the port speaks TLS: use --tls"


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_certificate_of_the_client_is_required(certificate: Path, tmp_path: Path, newest: ssl.TLSVersion) -> None:
    own, key = str(certificate / "cert.pem"), str(certificate / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=other"]
    subprocess.run([*command, "-keyout", "k.pem", "-out", "c.pem"], cwd=tmp_path, check=True, capture_output=True)
    with server(tls_broker(certificate, newest, mutual=True)) as address:
        assert ask(address, tls=Tls(own, own, key)).error is None
        text = "the broker requires a certificate of the client: use --tls-certificate and --tls-key"
        assert ask(address, tls=Tls(own)).error == text
        strange = Tls(own, str(tmp_path / "c.pem"), str(tmp_path / "k.pem"))
        error = ask(address, tls=strange).error or ""
        assert error.startswith("the broker refuses the client's certificate: ")


def closing_on(first: bytes, talk: Talk) -> Talk:
    """A server that closes connections whose first byte is another."""

    def close_or_talk(connection: socket.socket) -> None:
        if connection.recv(1, socket.MSG_PEEK) == first:
            talk(connection)
        else:
            connection.shutdown(socket.SHUT_RDWR)

    return close_or_talk


def test_tls_on_a_port_without_it() -> None:
    with server(closing_on(b"\0", speaking(lambda *_: offer((18, 0, 5))))) as address:
        assert ask(address, tls=Tls()).error == "the port speaks Kafka's protocol without TLS: leave --tls out"


def test_no_tls_on_a_port_that_closes_other_connections_without_a_word(certificate: Path) -> None:
    with server(closing_on(b"\x16", tls_broker(certificate))) as address:
        assert ask(address).error == "the port speaks TLS: use --tls"


def test_a_broker_that_is_slow_on_a_later_request() -> None:
    def answers(name: str, *_: object) -> Mapping[str, Any]:
        if name == "Metadata":
            time.sleep(1.2)
        return offer((18, 0, 5), (3, 0, 13)) if name == "ApiVersions" else {}

    with server(speaking(answers)) as address:
        offers = ask(address, timeout=1.0)
    assert (offers.error, offers.complaints) == (
        None,
        ("Metadata 13 is not answered: no answer to Metadata 13 within 1 s",),
    )


def in_cluster(cluster: str | None) -> Talk:
    def answers(name: str, *_: object) -> Mapping[str, Any]:
        return offer((18, 0, 5), (3, 0, 13)) if name == "ApiVersions" else {"clusterId": cluster}

    return speaking(answers)


def test_brokers_of_two_clusters() -> None:
    with server(in_cluster(None)) as none, server(in_cluster("a-1")) as first, server(in_cluster("b_2")) as second:
        result = probe(none, first, second, first, client=SET, timeout=60.0)
    assert result.status == "findings"
    text = f"the cluster is b_2; {first} is in cluster a-1: name one cluster"
    assert [broker.complaints for broker in result.brokers] == [(), (), (text,), ()]


@pytest.mark.parametrize("cluster", ["", "a b", "a.b", "é", "a\n"])
def test_a_malformed_cluster_id(cluster: str) -> None:
    with server(in_cluster(cluster)) as address:
        result = probe(address, client=SET, timeout=60.0)
    text = f'the cluster id "{cluster}" is malformed: it has letters, digits, _ and - only (KIP-78)'
    assert (result.status, result.brokers[0].complaints) == ("findings", (text,))


def test_api_versions_that_begin_above_0() -> None:
    with server(speaking(lambda *_: offer((18, 3, 5)))) as address:
        result = probe(address, client=SET, timeout=60.0)
    (problem,) = result.brokers[0].problems
    assert (result.status, problem.rule, problem.offset) == ("findings", "connection/api-versions-not-from-0", 9)
    assert problem.message == (
        "the broker offers ApiVersions from version 3 on; a client that falls back sends version 0"
    )


def test_the_example_of_rfc_7677() -> None:
    talk = _scram(Sasl("SCRAM-SHA-256", "user", "pencil"), "rOprNGfwEbeRWgbNEkqO")
    assert next(talk) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    last = talk.send(f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode())
    assert last == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    with pytest.raises(StopIteration):
        talk.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("first", ["", "r=other,s=AAAA,i=4096", "r=me,s=AAAA,i=99999999", "r=me,s=%,i=1"])
def test_servers_that_are_not_right(first: str) -> None:
    talk = _scram(Sasl("SCRAM-SHA-512", "user", "pencil"), "me")
    next(talk)
    with pytest.raises(ProbeError):
        talk.send(first.encode())


@pytest.mark.parametrize(
    "place", ["localhost", "localhost:0", "localhost:99999", ":9092", "a b:1", "..:1", "a" * 300 + ":1"]
)
def test_an_address_that_is_none(place: str) -> None:
    assert complaint(lambda: probe(place, client=SET)) == f"{place} is not HOST:PORT, such as localhost:9092"
