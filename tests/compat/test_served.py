"""What a broker serves, and to whom: modes, RPCs between brokers, versions that brokers keep (issue 11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.served import NOT_SERVED
from kiplint.compat.negotiation.negotiate import broker_side, client_side, negotiate
from kiplint.compat.negotiation.result import BrokerMode, Negotiation, RpcRow
from kiplint.compat.roles import BETWEEN_NODES, OF_CLIENTS, OF_KRAFT, Mode, default_mode, modes_of
from kiplint.compat.tree import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import message, rpc


def load_release(history: Path, tag: str) -> tuple[str, SchemaSet]:
    return tag, load(f"{tag}:", str(history)).main


def between(history: Path, client: str, broker: str) -> Negotiation:
    return negotiate(load_release(history, client), [load_release(history, broker)])


def outcome(client: tuple[Message, ...], broker: tuple[Message, ...]) -> Negotiation:
    return negotiate(("c", SchemaSet(client)), [("b", SchemaSet(broker))])


def row(negotiation: Negotiation, name: str) -> RpcRow:
    (only_row,) = (row for row in negotiation.rpcs if row.name == name)
    return only_row


def listening(name: str, key: int, valid: str, *listeners: str, **others: Any) -> tuple[Message, Message]:
    first = {"name": f"{name}Request", "type": "request", "apiKey": key, "validVersions": valid, **others}
    return message(listeners=[*listeners], **first), rpc(name, key, valid)[1]


# Real brokers


@pytest.mark.parametrize(("release", "mode"), NOT_SERVED)
def test_unavailable_rpcs_are_those_that_the_broker_does_not_serve(history: Path, release: str, mode: Mode) -> None:
    client = client_side(*load_release(history, "2.4.0"))
    broker = broker_side(*load_release(history, release), mode=mode)
    assert {offer.name for key, offer in client.offers.items() if key not in broker.offers} == NOT_SERVED[release, mode]


def test_what_only_the_other_mode_serves_is_named(history: Path) -> None:
    (mode,) = between(history, "2.4.0", "3.5.0").modes
    tokens = ("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken")
    assert mode == BrokerMode("3.5.0", "kraft", assumed=True, not_here=tokens)
    (single,) = between(history, "2.4.0", "2.7.0").modes
    assert single == BrokerMode("2.7.0", "zookeeper")


def test_kraft_is_the_mode_from_3_3_on(history: Path) -> None:
    """Before, it is not for production (KIP-833)."""
    modes = {tag: default_mode(load_release(history, tag)[1]) for tag in ("2.8.0", "3.2.0", "3.3.0")}
    assert modes == {"2.8.0": "zookeeper", "3.2.0": "zookeeper", "3.3.0": "kraft"}


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
    broker = broker_side("b", SchemaSet(both_modes()), mode=mode)
    assert {offer.name for offer in broker.offers.values()} == names


def test_modes_of_sets() -> None:
    assert modes_of(SchemaSet(both_modes())) == ("zookeeper", "kraft")
    assert modes_of(SchemaSet(rpc("UpdateMetadata", 6, "0"))) == ("zookeeper",)
    assert modes_of(SchemaSet(rpc("Fetch", 1, "0"))) == ("kraft",)
    assert modes_of(SchemaSet(listening("Vote", 52, "0", "controller"))) == ("kraft",)


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
