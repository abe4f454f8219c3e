"""What is made of an offer, and what a broker in order would not have answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.commands.probe.run import probe
from probe.support import SET, Answer, ask, offer, server, speaking
from sources.support import write
from tools import complaint, definition, field, kiplint

CLUSTER = {"clusterId": "abc", "controllerId": 1, "brokers": [{"nodeId": 1, "host": "h", "port": 9092}]}


def one_broker(api_versions: dict[str, Any], **metadata: Any) -> Any:
    def answers(name: str, version: int, request: Mapping[str, Any]) -> Answer:
        return api_versions if name == "ApiVersions" else {**CLUSTER, **metadata}

    return speaking(answers)


def test_what_a_client_uses() -> None:
    with server(one_broker(offer((18, 0, 5), (3, 0, 20), (0, 50, 60), (777, 0, 1)))) as address:
        offers = ask(address)
    rows = [(api.name, api.use, api.unknown, api.request_header, api.refused) for api in offers.apis]
    assert rows[1:] == [
        ("Metadata", 13, "14-20", 2, False),
        ("ApiVersions", 5, "", 2, False),
        ("", None, "0-1", None, False),
    ]
    assert rows[0][1:] == (None, "50-60", None, False)
    assert (offers.cluster_id, offers.controller, offers.nodes) == ("abc", 1, ("1=h:9092",))
    assert (offers.problems, offers.complaints, offers.is_in_order) == ((), (), True)


def test_further_sets_are_known_too(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": definition(field(), name="XRequest", apiKey=777)})
    with server(one_broker(offer((18, 0, 5), (777, 0, 9)))) as address:
        api = ask(address, also=[tmp_path]).apis[-1]
    assert (api.name, api.use, api.unknown) == ("X", None, "6-9")


def test_an_offer_that_cannot_be() -> None:
    rows = ((18, 0, 4), (3, 5, 2), (17, 0, 1), (17, 0, 0), (36, -1, 2))
    with server(one_broker(offer(*rows))) as address:
        offers = ask(address)
    assert [(problem.rule, problem.field) for problem in offers.problems] == [
        ("connection/versions-inverted", "apiKeys[1].minVersion"),
        ("connection/api-key-twice", "apiKeys[3].apiKey"),
        ("connection/versions-inverted", "apiKeys[4].minVersion"),
        ("connection/answered-not-offered", "apiKeys"),
    ]
    # Error code, count, then rows of seven bytes; the correlation id stands in front of all.
    assert [problem.offset for problem in offers.problems] == [4 + 2 + 1 + 7 + 2, 4 + 2 + 1 + 21, 4 + 2 + 1 + 28 + 2, 6]
    assert {api.name: api.use for api in offers.apis}["Metadata"] is None


def test_a_warning_alone_is_not_a_failure() -> None:
    with server(one_broker(offer((18, 0, 4)))) as address:
        assert probe(address, client=SET, timeout=60.0).status == "ok"


@pytest.mark.parametrize(
    ("expected", "ids", "complaints"),
    [
        ({"expect_cluster": "abc"}, (None, -1), ()),
        ({"expect_cluster": "abc", "expect_node": 4}, ("abc", 4), ()),
        ({"expect_cluster": "xyz", "expect_node": 4}, ("xyz", 4), ("the cluster is abc, not xyz",)),
    ],
)
def test_what_is_expected(expected: dict[str, Any], ids: tuple[Any, Any], complaints: tuple[str, ...]) -> None:
    requests: list[tuple[Any, Any]] = []

    def answers(name: str, version: int, request: Mapping[str, Any]) -> Answer:
        if name == "Metadata":
            return CLUSTER
        requests.append((request["clusterId"], request["nodeId"]))
        return offer((18, 0, 5), (3, 0, 13))

    with server(speaking(answers)) as address:
        assert ask(address, **expected).complaints == complaints
    assert requests == [ids]


def test_a_node_without_its_cluster_cannot_be_expected() -> None:
    text = "a node is expected with its cluster: brokers refuse one without the other (KIP-1242)"
    assert complaint(lambda: probe("h:1", client=SET, expect_node=1)) == text


def test_a_misrouted_connection() -> None:
    with server(speaking(lambda *_: {"errorCode": 129})) as address:
        offers = ask(address, expect_cluster="abc", expect_node=1)
    assert offers.error == "ApiVersions 5 is answered with error 129 (REBOOTSTRAP_REQUIRED, not retriable)"


def test_a_broker_that_wants_sasl_first_keeps_its_offer() -> None:
    with server(speaking(lambda name, *_: offer((18, 0, 5), (3, 0, 13)) if name == "ApiVersions" else None)) as address:
        offers = ask(address)
    closed = "the connection was closed without an answer"
    assert offers.complaints == (f"Metadata 13 is not answered: {closed}",)
    assert (len(offers.apis), offers.is_in_order) == (2, False)


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    """A set after KIP-1313, in which Metadata has not been moved to request header 3."""
    for name in ("ApiVersionsRequest", "ApiVersionsResponse", "MetadataRequest", "MetadataResponse", "ResponseHeader"):
        (tmp_path / f"{name}.json").write_bytes((SET / f"{name}.json").read_bytes())
    (tmp_path / "RequestHeader.json").write_bytes((ROOT / "fixtures/kip-1313/RequestHeader.json").read_bytes())
    text = (SET / "ApiVersionsRequest.json").read_text()
    (tmp_path / "ApiVersionsRequest.json").write_text(
        text.replace('"fields":', '"headerVersions": {"0-2": "1", "3-4": "2", "5+": "3"}, "fields":', 1)
    )
    return tmp_path


def test_what_a_broker_after_kip_1313_refuses(newest: Path) -> None:
    ids: list[str] = []

    def answers(name: str, version: int, request: Mapping[str, Any]) -> Answer:
        ids.append(request["clientInstanceId"])
        return offer((18, 0, 5), (3, 0, 13))

    with server(speaking(answers, str(newest))) as address:
        offers = ask(address, client=newest)
        metadata, versions = offers.apis
        text = kiplint("probe", address, "--client", newest, cwd=newest).out
    assert (metadata.use, metadata.request_header, metadata.refused) == (13, 2, True)
    assert (versions.use, versions.request_header, versions.refused) == (5, 3, False)
    assert (offers.cluster_id, offers.complaints) == (None, ())
    assert len(ids) == 2 and ids[0] != ids[1] and "AAAAAAAAAAAAAAAAAAAAAA" not in ids
    assert "(KIP-1313):\n    Metadata 13\n" in text


# negotiate


def test_brokers_that_were_probed_are_negotiated_with(tmp_path: Path) -> None:
    with server(one_broker(offer((18, 0, 5), (3, 0, 9), (777, 0, 1)))) as address:
        result = kiplint("probe", address, "127.0.0.1:1", "--client", SET, "--output-format", "json", cwd=tmp_path)
    (tmp_path / "brokers.json").write_text(result.out)
    for words, stdin in ((("brokers.json",), b""), (("-",), result.out.encode())):
        offers = kiplint("negotiate", SET, *words, "--output-format", "json", cwd=tmp_path, stdin=stdin)
        assert offers.err == "warning: 127.0.0.1:1 is left out: no connection: Connection refused\n"
        document = json.loads(offers.out)
        assert (offers.code, document["brokers"]) == (2, [address])
        rows = {rpc["name"]: rpc for rpc in document["rpcs"]}
        assert (rows["Metadata"]["chosen"], rows["Metadata"]["brokers"][0]["versions"]) == (9, "0-9")
        assert (rows["Api777"]["status"], rows["SaslHandshake"]["status"]) == ("broker-only", "client-only")
        assert document["exchanges"][0]["used"] == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\udcff", "standard input is not the output of `kiplint probe --output-format json`"),
        ("[]", "standard input is not the output of `kiplint probe --output-format json`"),
        (
            '{"brokers": 7}',
            "standard input is not the output of `kiplint probe --output-format json`: Expected `array`",
        ),
        ('{"brokers": []}', "standard input has no broker that answered"),
        (
            '{"brokers": [{"address": "a:1", "error": "no", "apis": []}]}',
            "standard input has no broker that answered (a:1: no)",
        ),
    ],
)
def test_files_that_are_not_answers_of_brokers(tmp_path: Path, text: str, expected: str) -> None:
    result = kiplint("negotiate", SET, "-", cwd=tmp_path, stdin=text.encode(errors="surrogateescape"))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {expected}")
