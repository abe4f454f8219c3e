"""What a broker serves, and to whom: modes, RPCs between brokers, versions that brokers keep (issue 11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.served import NOT_SERVED, OF_ZOOKEEPER
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.negotiation.result import BrokerMode, Negotiation, RpcRow
from kiplint.compat.roles import BETWEEN_NODES, OF_CLIENTS, OF_KRAFT, Mode, modes_of
from kiplint.compat.tree import load
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc


def between(history: Path, client: str, broker: str, **options: Any) -> Negotiation:
    sides = [(tag, load(f"{tag}:", str(history)).main) for tag in (client, broker)]
    return negotiate(sides[0], sides[1:], **options)


def outcome(client: tuple[Message, ...], broker: tuple[Message, ...], **options: Any) -> Negotiation:
    return negotiate(("c", SchemaSet(client)), [("b", SchemaSet(broker))], **options)


def row(negotiation: Negotiation, name: str) -> RpcRow:
    (only_row,) = (row for row in negotiation.rpcs if row.name == name)
    return only_row


def listening(name: str, key: int, valid: str, *listeners: str, **others: Any) -> tuple[Message, Message]:
    first = {"name": f"{name}Request", "type": "request", "apiKey": key, "validVersions": valid, **others}
    return message(listeners=[*listeners], **first), rpc(name, key, valid)[1]


# Real brokers


@pytest.mark.parametrize(("release", "mode"), NOT_SERVED)
def test_unavailable_rpcs_are_those_that_the_broker_does_not_serve(history: Path, release: str, mode: Mode) -> None:
    negotiation = between(history, "2.4.0", release, mode=mode)
    lacking = {line.name for line in negotiation.rpcs if line.client is not None and line.brokers[0].versions is None}
    assert lacking == NOT_SERVED[release, mode]
    for_clients = {
        line.name for line in negotiation.rpcs if line.status in ("client-only", "not-offered", "no-common-version")
    }
    assert {name for name in for_clients if not row(negotiation, name).between_nodes} == lacking - OF_ZOOKEEPER
    assert not negotiation.in_trouble


def test_the_mode_decides_something(history: Path) -> None:
    (mode,) = between(history, "2.4.0", "3.5.0").modes
    tokens = ("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken")
    assert mode == BrokerMode("3.5.0", "kraft", assumed=True, not_here=tokens)
    (zookeeper,) = between(history, "2.4.0", "3.5.0", mode="zookeeper").modes
    assert zookeeper == BrokerMode("3.5.0", "zookeeper", only=tokens)
    (single,) = between(history, "2.4.0", "2.7.0").modes
    assert single == BrokerMode("2.7.0", "zookeeper")


def test_kraft_is_the_mode_from_3_3_on(history: Path) -> None:
    """Before, it is not for production (KIP-833); only in ZooKeeper mode do topics lack the ids that Fetch 13 needs."""
    usual = {tag: between(history, "3.4.0", tag) for tag in ("2.8.0", "3.2.0", "3.3.0")}
    modes = {tag: negotiation.modes[0].mode for tag, negotiation in usual.items()}
    assert modes == {"2.8.0": "zookeeper", "3.2.0": "zookeeper", "3.3.0": "kraft"}
    paths = {tag: row(negotiation, "Fetch").paths for tag, negotiation in usual.items()}
    assert paths == {"2.8.0": {}, "3.2.0": {"topics with ids": 13, "topics without ids": 12}, "3.3.0": {}}
    assert row(usual["3.2.0"], "Fetch").message == "on other paths: topics without ids 12"
    kraft = between(history, "3.4.0", "3.2.0", mode="kraft")
    assert (kraft.modes[0].mode, row(kraft, "Fetch").paths) == ("kraft", {})


def test_kraft_rpcs_of_2_7_are_not_enabled(history: Path) -> None:
    negotiation = between(history, "confluent-8.1.0", "2.7.0")
    assert {row(negotiation, name).status for name in OF_KRAFT.values()} == {"not-offered"}


def test_a_mode_that_a_broker_cannot_run_in(history: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^2\.7\.0 cannot run in KRaft mode, only in ZooKeeper mode; leave --mode kraft"
    ):
        between(history, "2.4.0", "2.7.0", mode="kraft")


def test_tables_of_roles_name_real_rpcs(history: Path) -> None:
    rpcs_by_key: dict[int, set[str]] = {}
    for tag in ("2.7.0", "3.9.0-rc3", "confluent-8.3.0"):
        for pair in load(f"{tag}:", str(history)).main.rpcs:
            rpcs_by_key.setdefault(pair.api_key, set()).add(pair.name)
    assert {key: set(names) for key, names in BETWEEN_NODES.items()} == {key: rpcs_by_key[key] for key in BETWEEN_NODES}
    assert all(name in rpcs_by_key[key] for key, name in OF_KRAFT.items())
    assert all(name in rpcs_by_key[key] for key, (name, _) in OF_CLIENTS.items())


# RPCs between brokers


def test_rpcs_between_brokers_stand_apart() -> None:
    result = outcome(
        (*rpc("WriteTxnMarkers", 27, "0"), *rpc("Fetch", 1, "0-3")),
        (*rpc("WriteTxnMarkers", 27, "1"), *rpc("Fetch", 1, "0-3")),
    )
    markers = row(result, "WriteTxnMarkers")
    assert (markers.status, markers.between_nodes) == ("no-common-version", True)
    assert not result.in_trouble
    counts = result.summary
    assert (counts.rpcs, counts.agreed, counts.no_common_version, counts.between_nodes) == (2, 1, 0, 1)


def test_an_rpc_that_only_took_the_key_is_for_clients() -> None:
    result = outcome(rpc("Other", 27, "0"), rpc("Other", 27, "1"))
    assert (row(result, "Other").between_nodes, result.in_trouble) == (False, True)


def test_add_partitions_to_txn_above_3_is_for_brokers() -> None:
    pair = rpc("AddPartitionsToTxn", 24, "0-5")
    new = row(outcome(pair, pair), "AddPartitionsToTxn")
    assert (new.client, new.chosen, new.status) == ("0-3", 3, "agreed")
    assert new.message == "clients leave 4-5 to brokers, which use it among themselves"
    old = row(outcome(pair, rpc("AddPartitionsToTxn", 24, "0-3")), "AddPartitionsToTxn")
    assert (old.chosen, old.message) == (3, "")


# Modes of a made set


def both_modes(*more: tuple[Message, Message]) -> tuple[Message, ...]:
    zookeeper = (listening("A", 900, "0", "zkBroker", "broker"), listening("B", 901, "0", "zkBroker"))
    return tuple(message for pair in (*zookeeper, listening("C", 902, "0", "broker"), *more) for message in pair)


@pytest.mark.parametrize(("mode", "names"), [("zookeeper", {"A", "B"}), ("kraft", {"A", "C"}), (None, {"A", "C"})])
def test_listeners_of_the_mode_decide(mode: Mode | None, names: set[str]) -> None:
    result = outcome(both_modes(), both_modes(), mode=mode)
    assert {line.name for line in result.rpcs if line.status == "agreed"} == names


def test_modes_of_sets() -> None:
    assert modes_of(SchemaSet(both_modes())) == ("zookeeper", "kraft")
    assert modes_of(SchemaSet(rpc("UpdateMetadata", 6, "0"))) == ("zookeeper",)
    assert modes_of(SchemaSet(rpc("Fetch", 1, "0"))) == ("kraft",)
    assert modes_of(SchemaSet(listening("Vote", 52, "0", "controller"))) == ("kraft",)


# SASL


def api_versions(valid: str, *fields: dict[str, Any], **others: Any) -> tuple[Message, Message]:
    same = {"apiKey": 18, "validVersions": valid, "flexibleVersions": "3+", **others}
    software = (field("ClientSoftwareName", "string", "3+"), field("ClientSoftwareVersion", "string", "3+"))
    request = message(*software, *fields, name="ApiVersionsRequest", type="request", **same)
    return request, message(name="ApiVersionsResponse", type="response", **{**same, "headerVersions": None})


WITH_3 = {"headerVersions": {"0-2": "1", "3-5": "2", "6+": "3"}}


def test_the_first_api_versions_over_sasl_is_version_0() -> None:
    side = api_versions("0-6", **WITH_3)
    (plain,), (exchange,) = outcome(side, side).exchanges, outcome(side, side, sasl=True).exchanges
    assert (plain.sasl, plain.used, plain.checked) == (None, 6, True)
    assert (exchange.sasl, exchange.used, exchange.checked) == (0, 6, False)
    assert exchange.notes == ("it is not checked: the first request has header 1, without an instance id (KIP-1313)",)


def test_over_sasl_nothing_is_refused_for_its_header() -> None:
    side = (*api_versions("0-6", **WITH_3), *rpc("Fetch", 1, "0-3"))
    assert row(outcome(side, side), "Fetch").status == "refused"
    assert row(outcome(side, side, sasl=True), "Fetch").status == "agreed"


def test_sasl_without_version_0_is_reported() -> None:
    (exchange,) = outcome(api_versions("0-3"), api_versions("3-4"), sasl=True).exchanges
    assert exchange.notes[-1].startswith("ApiVersions 0, with which a client begins over SASL")


# KIP-1242


CLUSTER = field("ClusterId", "string", "5+", nullableVersions="5+", default="null")
NODE = field("NodeId", "int32", "5+", default="-1")


@pytest.mark.parametrize("alone", [CLUSTER, NODE])
def test_exactly_one_of_cluster_id_and_node_id_is_an_invalid_request(alone: dict[str, Any]) -> None:
    (exchange,) = outcome(api_versions("0-5", alone), api_versions("0-5", CLUSTER, NODE)).exchanges
    assert exchange.notes == (
        f"ApiVersions 5 of the client has {alone['name']} alone: once it is sent, the broker answers with "
        "42 (INVALID_REQUEST, not retriable); KIP-1242 requires both or neither",
    )
    (other,) = outcome(api_versions("0-5", CLUSTER, NODE), api_versions("0-5", alone)).exchanges
    assert other.notes == (
        f"ApiVersions 5 of the broker has {alone['name']} alone, and answers it with "
        "42 (INVALID_REQUEST, not retriable)",
    )


def test_an_old_broker_without_cluster_id_is_reported() -> None:
    new = api_versions("0-5", CLUSTER, NODE)
    (exchange,) = outcome(new, api_versions("0-4")).exchanges
    assert "older than KIP-1242: it learns no ClusterId" in exchange.notes[-1]
    metadata = tuple(
        message(field("ClusterId", "string", "2+"), name=f"Metadata{kind}", type=kind.lower(), apiKey=3)
        for kind in ("Request", "Response")
    )
    old = tuple(
        message(name=f"Metadata{kind}", type=kind.lower(), apiKey=3, validVersions="0-1")
        for kind in ("Request", "Response")
    )
    (untold,) = outcome((*new, *metadata), (*new, *old)).exchanges
    assert untold.notes == (
        "Metadata tells the client no ClusterId (before KIP-78): it sends neither ClusterId nor NodeId",
    )
    assert outcome((*new, *metadata), (*new, *metadata)).exchanges[0].notes == ()


# Headers


def header(**others: Any) -> Message:
    instance = field("ClientInstanceId", "uuid", "3+", **others)
    return message(instance, name="RequestHeader", type="header", apiKey=None, validVersions="1-3")


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({}, "takes the first bytes of ClientInstanceId for tagged fields: it may close the connection"),
        ({"tag": 0, "taggedVersions": "3+"}, "skips ClientInstanceId, a tagged field that it does not know"),
    ],
)
def test_the_note_on_old_brokers_depends_on_whether_the_id_is_tagged(others: dict[str, Any], says: str) -> None:
    client = (*api_versions("0-6", **WITH_3), header(**others))
    (exchange,) = outcome(client, api_versions("0-4")).exchanges
    assert [says in note for note in exchange.notes] == [True]


# Deprecated versions


def deprecated_rpc(valid: str, deprecated: str | None) -> tuple[Message, Message]:
    first = {"name": "OneRequest", "type": "request", "apiKey": 900}
    return message(validVersions=valid, deprecatedVersions=deprecated, **first), rpc("One", 900, valid)[1]


@pytest.mark.parametrize(
    ("client", "broker", "best", "says"),
    [
        (("0-3", "3+"), ("0-5", None), 2, "the client calls version 3 deprecated; version 2 is not"),
        (("0-3", None), ("0-5", "3"), 2, "b calls version 3 deprecated; version 2 is not"),
        (("0-3", "2+"), ("0-5", "3"), 1, "the client and b call version 3 deprecated; version 1 is not"),
        (("0-1", None), ("0-5", "0-1"), None, "b calls version 1 deprecated; b has 2-5 that are not"),
        (("0-1", None), ("0-1", "0+"), None, "b calls version 1 deprecated, as every version that both have"),
    ],
)
def test_deprecated_ranges_of_both_sides_count(
    client: tuple[str, str | None], broker: tuple[str, str | None], best: int | None, says: str
) -> None:
    line = row(outcome(deprecated_rpc(*client), deprecated_rpc(*broker)), "One")
    assert (line.deprecated, line.brokers[0].best, line.message, line.status) == (True, best, says, "agreed")
