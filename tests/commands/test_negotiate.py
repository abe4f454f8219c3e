"""`kiplint negotiate`, and real releases."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from kiplint.commands.negotiate.clients.result import ClientListDocument, ClientsDocument
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.negotiation.result import Exchange, Negotiation, RpcRow
from kiplint.compat.tree import load
from tools import Ran, kiplint


def between(history: Path, *tags: str, unstable: bool = False) -> Negotiation:
    client, *brokers = ((tag, load(f"{tag}:", str(history)).main) for tag in tags)
    return negotiate(client, brokers, unstable=unstable)


def row(negotiation: Negotiation, name: str) -> RpcRow:
    (only_row,) = (row for row in negotiation.rpcs if row.name == name)
    return only_row


def names(negotiation: Negotiation, status: str) -> set[str]:
    return {row.name for row in negotiation.rpcs if row.status == status}


# Real releases


def test_2_4_with_2_2(history: Path) -> None:
    negotiation = between(history, "2.4.0", "2.2.0")
    (start,) = negotiation.exchanges
    assert (start.tried, start.answer, start.error, start.supported, start.used) == (3, 0, "UNSUPPORTED_VERSION", "", 0)
    assert not start.client_software
    assert names(negotiation, "client-only") == {
        "IncrementalAlterConfigs", "AlterPartitionReassignments", "ListPartitionReassignments", "OffsetDelete",
    }  # fmt: skip
    assert (negotiation.summary.rpcs, negotiation.summary.agreed) == (48, 39)
    fetch = row(negotiation, "Fetch")
    assert (fetch.client, fetch.usable, fetch.chosen, fetch.request_header) == ("0-11", "0-10", 10, 1)
    assert not negotiation.in_trouble


def test_3_9_with_3_8_goes_by_kip_511(history: Path) -> None:
    negotiation = between(history, "3.9.0-rc3", "3.8.0")
    assert negotiation.exchanges == (
        Exchange("3.8.0", 4, 2, 0, "UNSUPPORTED_VERSION", "0-3", 3, 2, 0, client_software=True),
    )
    (ids,) = negotiation.telemetry
    assert (ids.client_side, ids.broker_side, ids.version) == ("old", "old", 0)


def test_2_4_with_8_3(history: Path) -> None:
    negotiation = between(history, "2.4.0", "confluent-8.3.0")
    assert {row.name for row in negotiation.rpcs if row.status == "no-common-version"} == {"WriteTxnMarkers"}
    rpcs = {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}
    assert {row.name for row in negotiation.rpcs if row.status == "client-only"} == rpcs
    assert row(negotiation, "WriteTxnMarkers").message == "the client has 0, confluent-8.3.0 1-2: no version in common"
    assert row(negotiation, "WriteTxnMarkers").between_nodes
    produce = row(negotiation, "Produce")
    assert (produce.usable, produce.chosen, produce.request_header, produce.response_header) == ("3-8", 8, 1, 0)
    assert not negotiation.in_trouble


def test_2_2_needs_no_version_that_3_9_deprecates(history: Path) -> None:
    negotiation = between(history, "2.2.0", "3.9.0-rc3")
    assert {row.name for row in negotiation.rpcs if row.deprecated} == set()  # KIP-896 spares clients from 2.1 on
    assert names(negotiation, "not-offered") == {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}


def test_unstable_rpcs_of_3_9(history: Path) -> None:
    negotiation = between(history, "3.9.0-rc3", "3.9.0-rc3")
    assert row(negotiation, "ShareFetch").status == "not-offered"
    assert row(between(history, "3.9.0-rc3", "3.9.0-rc3", unstable=True), "ShareFetch").chosen == 0


def test_several_brokers(history: Path) -> None:
    negotiation = between(history, "confluent-8.3.0", "3.9.0-rc3", "2.4.0")
    fetch = row(negotiation, "Fetch")
    assert [broker.chosen for broker in fetch.brokers] == [17, 11]
    assert (fetch.usable, fetch.chosen) == ("4-11", 11)
    assert row(negotiation, "DescribeCluster").status == "not-everywhere"


# The command


def run(repo: Path, folder: str, *words: str | Path, **env: str) -> Ran:
    return kiplint("negotiate", *words, cwd=repo / "fixtures/negotiate" / folder, env=env)


def test_text(repo: Path) -> None:
    result = run(repo, "kip-35", "client", "B1", "B2", "--feature", "features.json")
    assert (result.code, result.err) == (1, "")
    _, _, rest = result.out.partition("Not offered by every broker")
    assert rest.splitlines() == [
        " (1)",
        "  ListOffsets 0",
        "",
        "Features",
        "  Feature1  cannot be used",
        "    Produce 3  B2 has 1-2",
        "    Fetch 2-3  version 3",
        "  Feature2  can be used",
        "    Produce 0-1  version 1",
        "    Fetch 2-3  version 3",
        "",
        "All RPCs",
        "  key  RPC          client  B1   B2   usable  version  headers",
        "  0    Produce      0-3     0-3  1-2  1-2     2        1, 0",
        "  1    Fetch        0-3     2-3  0-3  2-3     3        1, 0",
        "  2    ListOffsets  0       -    0    -       -                 not everywhere",
        "  18   ApiVersions  0       0    0    0       0        1, 0",
        "  headers: of request and response; +id where the request carries ClientInstanceId",
        "",
        "4 RPCs: 3 agreed",
    ]


def test_text_of_a_connection(repo: Path) -> None:
    result = run(repo, "telemetry", "new-client", "new-broker")
    assert result.code == 0
    assert result.out.splitlines()[:13] == [
        "new-client clients work with new-broker brokers: 4 of 4 RPCs that both use.",
        "",
        "Connection to new-broker",
        "  mode         KRaft",
        "  ApiVersions  the client tries version 6 (request header 3)",
        "               the broker answers in version 6",
        "               in use: version 6 (request header 3, response header 0)",
        "  sent         ClientSoftwareName and ClientSoftwareVersion (KIP-511), ClusterId and NodeId",
        "               (KIP-1242, once bootstrapped)",
        "  instance id  every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)",
        "  telemetry    new client, new broker (KIP-1313): GetTelemetrySubscriptions 1",
        "               every request: header.ClientInstanceId=UUID-H",
        "",
    ]


def test_refused_is_exit_1(repo: Path) -> None:
    result = run(repo, "refused", "client", "broker")
    assert (result.code, result.err) == (1, "")
    assert "Refused with INVALID_REQUEST (1)\n  DeleteGroups  broker answers version 2" in result.out
    assert result.out.endswith("6 RPCs: 5 agreed, 1 refused\n")


def test_colours(repo: Path) -> None:
    assert "\x1b[1;31m1 refused\x1b[0m" in run(repo, "refused", "client", "broker", "--color", "always").out
    assert "\x1b" not in run(repo, "refused", "client", "broker").out


def test_json_is_as_documented(repo: Path) -> None:
    result = run(repo, "refused", "client", "broker", "--output-format", "json")
    assert result.code == 1
    document = json.loads(result.out)
    assert [*document] == [
        "version", "client", "brokers", "exchanges", "telemetry", "rpcs", "features", "summary", "modes",
        "losses",
    ]  # fmt: skip
    assert msgspec.convert(document, Negotiation).in_trouble


def test_revisions(history: Path, tmp_path: Path) -> None:
    result = kiplint("negotiate", "2.4.0:", "confluent-8.3.0:", "--repo", history, cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert "WriteTxnMarkers 0 (no common version)" in result.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["client", "nowhere"], "no such file or directory: nowhere"),
        (["client", "B1", "--feature", "none.json"], "cannot read none.json"),
        (["client", "B1", "--feature", "client/FetchRequest.json"], "names no RPC"),
    ],
)
def test_usage(repo: Path, words: list[str], says: str) -> None:
    result = run(repo, "kip-35", *words)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert result.err.count("\n") == 1


def test_a_set_without_rpcs(tmp_path: Path) -> None:
    text = '{"name": "XData", "type": "data", "validVersions": "0", "flexibleVersions": "none", "fields": []}'
    (tmp_path / "XData.json").write_text(text)
    result = kiplint("negotiate", ".", ".", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "has no RPC: name the directory with the requests and responses" in result.err


def test_a_definition_that_cannot_be_read_is_reported(repo: Path, tmp_path: Path) -> None:
    for file in (repo / "fixtures/negotiate/kip-35/client").glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "Broken.json").write_text('{"validVersions": ')
    result = kiplint("negotiate", ".", ".", cwd=tmp_path)
    assert result.code == 2
    assert "Broken.json" in result.err
    assert "4 RPCs: 4 agreed" in result.out


# Released clients, captures and probed brokers as the client


def test_a_released_client(history: Path, tmp_path: Path) -> None:
    result = kiplint("negotiate", "librdkafka@1.3.0", "confluent-8.0.0:", "--repo", history, cwd=tmp_path)
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("librdkafka@1.3.0 clients work ")
    assert (
        "Refused on some paths (1)\n"
        "  ListOffsets  it also sends 0 without negotiation, which confluent-8.0.0: refuses\n\n"
        "Not done with these brokers (1)\n"
        "  SASL GSSAPI  the client tests for JoinGroup 0, and confluent-8.0.0: lists 2-9\n"
    ) in result.out


def test_released_clients_in_json(history: Path, tmp_path: Path) -> None:
    words = ("--clients", "librdkafka@1.6.1,librdkafka@1.8.2,rskafka", "--output-format", "json")
    result = kiplint("negotiate", *words, "confluent-8.0.0:", "--repo", history, cwd=tmp_path)
    assert (result.code, result.err) == (1, "")
    document = msgspec.json.decode(result.out, type=ClientsDocument)
    cells = [(row.client, cell.lowest, cell.newest) for row in document.clients for cell in row.brokers]
    assert cells == [("librdkafka", "1.8.2", "1.8.2"), ("rskafka", "0.2.0", "0.6.0")]
    assert msgspec.to_builtins(document.summary) == {"releases": 6, "works": 5, "core": 0, "fails": 1}
    (rpc,) = document.clients[0].brokers[0].releases[0].lost
    assert (rpc.name, rpc.core, rpc.client, rpc.unserved) == ("ListOffsets", True, "0-1", "0")


def test_released_clients_in_text(history: Path, tmp_path: Path) -> None:
    words = ("librdkafka@0.9.5", "librdkafka@2.15.0", "kafka-python@2.3.0")
    brokers = ("2.4.0:", "confluent-8.0.0:", "--repo", history)
    outputs = [
        kiplint("negotiate", "--clients", ",".join(order), *brokers, cwd=tmp_path).out for order in (words, words[::-1])
    ]
    assert outputs[0].splitlines() == [
        "Releases of clients that can produce, fetch and use groups",
        "  client        2.4.0:           confluent-8.0.0:",
        "  kafka-python  2.3.0            2.3.0",
        "  librdkafka    0.9.5 to 2.15.0  2.15.0",
        "",
        "What releases lose",
        "  release             broker            core                                                                 "
        "optional",
        "  kafka-python@2.3.0  confluent-8.0.0:                                                                       "
        "DescribeLogDirs 0",
        "  librdkafka@0.9.5    confluent-8.0.0:  Produce 0-1, Fetch 0-2, ListOffsets 0*, OffsetCommit 1, JoinGroup 0  "
        "SASL GSSAPI",
        "  *: on a path that sends this version without negotiation",
        "",
        "3 releases with 2 brokers: 4 work, 1 lose optional RPCs, 1 lose core RPCs",
    ]
    assert outputs[0] == outputs[1]  # whatever the order of the releases


def test_the_list_of_clients(tmp_path: Path) -> None:
    result = kiplint("negotiate", "--list-clients", cwd=tmp_path)
    assert (result.code, result.err, len(result.out.splitlines())) == (0, "", 49)
    assert "  kafkajs@2.2.4              2023-02  It takes the lower of its highest version" in result.out
    output = kiplint("negotiate", "--list-clients", "--output-format", "json", cwd=tmp_path).out
    assert len(msgspec.json.decode(output, type=ClientListDocument).releases) == 48


def test_a_capture_is_read_to_its_end(repo: Path, tmp_path: Path) -> None:
    data = (repo / "fixtures/bytes/client.pcap").read_bytes()
    noise = b"\0" * 8 + b"\xff\0\0\0" * 2 + b"\0" * 255  # a packet of another protocol, in the byte order of the file
    (tmp_path / "short.pcap").write_bytes(data)
    (tmp_path / "long.pcap").write_bytes(data[:24] + noise * 5_000 + data[24:])
    rows = []
    for name in ("short.pcap", "long.pcap"):
        broker = repo / "fixtures/sets/broker/clients"
        result = kiplint("negotiate", name, broker, "--output-format", "json", cwd=tmp_path)
        rows.append(msgspec.json.decode(result.out, type=Negotiation).rpcs)
    assert rows[0] == rows[1]
    assert any(rpc.client for rpc in rows[0])


def test_a_capture_as_the_client(history: Path, corpus: Path, tmp_path: Path) -> None:
    capture = corpus.parent / "bytes" / "capture.pcapng"
    if not capture.is_file():
        pytest.skip(f"no capture at {capture}")
    result = kiplint(
        "negotiate", capture, "confluent-8.0.0:", "--repo", history, "--output-format", "json", cwd=tmp_path
    )
    document = msgspec.json.decode(result.out, type=Negotiation)
    assert (document.client, document.summary.agreed, result.code) == (str(capture), 24, 0)
    assert (
        document.exchanges[0].notes[-1]
        == "only the versions of the captured requests are known; the client may have more"
    )
    assert row(document, "IncrementalAlterConfigs").client == "1"


ANSWER = {
    "version": 1,
    "brokers": [{
        "address": "b:9092",
        "apis": [
            {"api_key": 1, "name": "Fetch", "lowest": 0, "highest": 11},
            {"api_key": 18, "name": "ApiVersions", "lowest": 0, "highest": 3},
        ],
    }],
}  # fmt: skip


def test_a_probed_broker_as_the_client(history: Path, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(ANSWER))
    words = ("b.json", "confluent-8.0.0:", "--repo", history, "--output-format", "json")
    document = msgspec.json.decode(kiplint("negotiate", *words, cwd=tmp_path).out, type=Negotiation)
    fetch = row(document, "Fetch")
    assert (document.client, fetch.client, fetch.chosen, fetch.request_header) == ("b:9092", "0-11", 11, 1)


def test_a_released_client_with_a_probed_broker(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(ANSWER))
    result = kiplint("negotiate", "librdkafka@2.8.0", "b.json", "--output-format", "json", cwd=tmp_path)
    document = msgspec.json.decode(result.out, type=Negotiation)
    assert (result.code, document.summary.agreed, document.exchanges[0].request_header) == (0, 2, 2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing argument 'CLIENT'."),
        (["B1"], "Missing argument 'BROKER...'."),
        (["librdkafka@1", "B1"], "no release 1 of librdkafka is known: name one such as librdkafka@2.15.0"),
        (["--clients", "all"], "released clients need at least one broker"),
        (["--clients", "all", "B1", "--matrix"], "--clients and --list-clients go with neither --matrix"),
        (["--list-clients", "B1"], "--list-clients takes no arguments"),
    ],
)
def test_usage_of_released_clients(repo: Path, words: list[str], says: str) -> None:
    result = run(repo, "kip-35", *words)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
