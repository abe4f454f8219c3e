"""What client and brokers agree on: the fixtures' exact answers, and the rules one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.served import NOT_SERVED
from kiplint.compat.negotiation import TROUBLE, Negotiation, RpcRow, negotiate
from kiplint.compat.roles import (
    ADD_PARTITIONS_TO_TXN,
    BETWEEN_NODES,
    RAFT_QUORUM,
    Mode,
    default_mode,
    versions_for_clients,
)
from kiplint.compat.sides import PRODUCE_NOTE, broker_side, client_side
from kiplint.compat.tree import load
from kiplint.compat.version_tables import TableRow, VersionTable
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.repository import open_repository
from kiplint.versions import VersionRange
from tools import field, message, rpc

Messages = tuple[Message, ...]
API_VERSIONS = 18


def read_set(folder: Path) -> tuple[str, SchemaSet]:
    return folder.name, load(folder).main


def api_versions(valid: str, *, software: bool = True, **others: Any) -> tuple[Message, Message]:
    names = ("ClientSoftwareName", "ClientSoftwareVersion") if software else ()
    same = {"apiKey": API_VERSIONS, "validVersions": valid, "flexibleVersions": "3+" if software else "none", **others}
    fields = [field(name, "string", "3+") for name in names]
    request = message(*fields, name="ApiVersionsRequest", type="request", **same)
    return request, message(name="ApiVersionsResponse", type="response", **same)


def between(client: tuple[Message, ...], *brokers: tuple[Message, ...], unstable: bool = False) -> Negotiation:
    broker_sets = [(f"b{number}", SchemaSet(messages)) for number, messages in enumerate(brokers, 1)]
    return negotiate(("c", SchemaSet(client)), broker_sets, unstable=unstable)


def row(negotiation: Negotiation, name: str) -> RpcRow:
    (only_row,) = (row for row in negotiation.rpcs if row.name == name)
    return only_row


# KIP-35


def test_the_example_of_kip_35(repo: Path) -> None:
    folder = repo / "fixtures/negotiate/kip-35"
    negotiation = negotiate(read_set(folder / "client"), [read_set(folder / "B1"), read_set(folder / "B2")])
    assert {row.api_key: [broker.versions for broker in row.brokers] for row in negotiation.rpcs} == {
        0: ["0-3", "1-2"], 1: ["2-3", "0-3"], 2: [None, "0"], API_VERSIONS: ["0", "0"]
    }  # fmt: skip
    assert [(row.usable, row.chosen, row.status) for row in negotiation.rpcs if row.api_key != API_VERSIONS] == [
        ("1-2", 2, "agreed"), ("2-3", 3, "agreed"), (None, None, "not-everywhere")
    ]  # fmt: skip
    assert not negotiation.in_trouble
    summary = {name: number for name, number in negotiation.summary.items() if number}
    assert summary == {"rpcs": 4, "agreed": 3, "not_everywhere": 1}


# The exchange


@pytest.mark.parametrize(
    ("client", "broker", "expected", "note"),
    [
        (("0-3", True), ("0-4", True), (3, "", "", 3, 2, True), ""),
        (("0-5", True), ("0-3", True), (0, "UNSUPPORTED_VERSION", "0-3", 3, 2, True), ""),
        (
            ("0-3", True),
            ("0-2", False),
            (0, "UNSUPPORTED_VERSION", "", 0, 1, False),
            "the broker is older than KIP-511: ApiVersions falls back to version 0",
        ),
        (
            ("0-5", False),
            ("0-3", True),
            (0, "UNSUPPORTED_VERSION", "0-3", 0, 1, False),
            "the client is older than KIP-511: ApiVersions falls back to version 0",
        ),
        (
            ("0-2", False),
            ("3-4", True),
            (0, "UNSUPPORTED_VERSION", "3-4", None, None, False),
            "there is no version in common: ApiVersions must never lose its version 0 (KIP-35)",
        ),
    ],
)
def test_the_first_exchange(
    client: tuple[str, bool], broker: tuple[str, bool], expected: tuple[object, ...], note: str
) -> None:
    """Each side with the versions of its ApiVersions, and whether these have the fields of KIP-511."""
    sides = [api_versions(valid, software=software) for valid, software in (client, broker)]
    negotiation = between(*sides)
    (exchange,) = negotiation.exchanges
    assert expected == (
        exchange.answer, exchange.error, exchange.supported, exchange.used, exchange.request_header,
        exchange.client_software,
    )  # fmt: skip
    assert note in "".join(exchange.notes)
    assert (row(negotiation, "ApiVersions").chosen, row(negotiation, "ApiVersions").status == "agreed") == (
        exchange.used, exchange.used is not None
    )  # fmt: skip


@pytest.mark.parametrize(
    ("client", "broker", "says"), [(False, True, "the client has no"), (True, False, "the broker has no")]
)
def test_without_api_versions(client: bool, broker: bool, says: str) -> None:
    other = rpc("Other", 900, "0-1")
    sides = [(*other, *api_versions("0-3")) if there else other for there in (client, broker)]
    negotiation = between(*sides)
    assert negotiation.exchanges[0].used is None
    assert negotiation.exchanges[0].notes[0].startswith(says)
    assert row(negotiation, "Other").chosen == 1


# KIP-1313


@pytest.mark.parametrize("client", ["old", "new"])
@pytest.mark.parametrize("broker", ["old", "new"])
def test_the_id_is_in_the_header_where_both_sides_know_it(repo: Path, client: str, broker: str) -> None:
    folder = repo / "fixtures/negotiate/telemetry"
    negotiation = negotiate(read_set(folder / f"{client}-client"), [read_set(folder / f"{broker}-broker")])
    both, is_closed = client == broker == "new", (client, broker) == ("new", "old")
    first = negotiation.exchanges[0]
    assert (first.cluster_id, first.node_id, first.client_software, first.checked) == (both, both, not is_closed, both)
    assert {row.name for row in negotiation.rpcs if row.instance_id} == (
        {"ApiVersions", "GetTelemetrySubscriptions", "PushTelemetry"} if both else set()
    )
    assert {row.status for row in negotiation.rpcs} == {"no-connection" if is_closed else "agreed"}


ONE = (rpc("One", 900, "0-3", headerVersions={"0-2": "1", "3+": "3"})[0], rpc("One", 900, "0-3")[1])
CLIENT_6 = (*api_versions("0-6", headerVersions={"0-2": "1", "3-5": "2", "6+": "3"}), *ONE)


@pytest.mark.parametrize(
    ("broker", "closes"),
    [
        (api_versions("0-5"), True),
        (api_versions("0-2", software=False), True),
        (api_versions("0-5", headerVersions={"0-2": "1", "3+": "2"}), True),
        (api_versions("0-6", headerVersions={"0-2": "1", "3-5": "2", "6+": "3"}), False),
    ],
)
def test_a_broker_that_cannot_read_the_header_of_api_versions_closes_the_connection(
    broker: Messages, closes: bool
) -> None:
    """As brokers 2.8.0 to 4.4.0 did with version 6 and header 3 (../shared/bytes)."""
    negotiation = between(CLIENT_6, (*broker, *ONE, *rpc("Theirs", 902, "2")))
    (exchange,) = negotiation.exchanges
    assert exchange.is_closed is closes
    assert negotiation.in_trouble is closes
    statuses = {row.name: (row.status, row.usable, row.chosen) for row in negotiation.rpcs}
    assert statuses["Theirs"] == ("broker-only", None, None)
    if closes:
        assert (exchange.tried, exchange.tried_header, exchange.answer, exchange.used) == (6, 3, None, None)
        assert exchange.notes[0].startswith("the broker closes the connection: it reads the header of version 6 as ")
        assert statuses["ApiVersions"] == statuses["One"] == ("no-connection", "none", None)
        assert (
            row(negotiation, "One").message
            == "b1 closes the connection, because it cannot read the header of ApiVersions"
        )
    else:
        assert statuses["One"] == ("agreed", "0-3", 3)


def test_a_broker_that_knows_header_3_answers_an_unknown_version_with_it() -> None:
    headers = {"0-2": "1", "3-5": "2", "6+": "3"}
    client, broker = (api_versions(valid, headerVersions=headers) for valid in ("0-7", "0-6"))
    (exchange,) = between(client, broker).exchanges
    assert (exchange.tried, exchange.answer, exchange.used, exchange.request_header) == (7, 0, 6, 3)


def test_one_broker_of_two_closes_the_connection() -> None:
    one_row = row(between(CLIENT_6, CLIENT_6, (*api_versions("0-5"), *ONE)), "One")
    assert (one_row.status, one_row.usable) == ("no-connection", "none")
    assert [(agreement.status, agreement.chosen) for agreement in one_row.brokers] == [
        ("agreed", 3),
        ("no-connection", None),
    ]


def test_what_lacks_header_3_is_refused_and_nothing_else(repo: Path) -> None:
    folder = repo / "fixtures/negotiate/refused"
    negotiation = negotiate(read_set(folder / "client"), [read_set(folder / "broker")])
    assert {row.name: (row.chosen, row.request_header, row.status) for row in negotiation.rpcs} == {
        "SaslHandshake": (1, 1, "agreed"),
        "ApiVersions": (6, 3, "agreed"),
        "DeleteGroups": (2, 2, "refused"),
        "OffsetDelete": (1, 3, "agreed"),
        "GetTelemetrySubscriptions": (1, 3, "agreed"),
        "PushTelemetry": (1, 3, "agreed"),
    }
    assert negotiation.in_trouble
    assert "INVALID_REQUEST" in row(negotiation, "DeleteGroups").message


def test_refusal_is_a_matter_of_each_connection(repo: Path) -> None:
    folder = repo / "fixtures/negotiate"
    brokers = [read_set(folder / "refused/broker"), read_set(folder / "telemetry/old-broker")]
    negotiation = negotiate(read_set(folder / "refused/client"), brokers)
    telemetry = row(negotiation, "GetTelemetrySubscriptions").brokers
    assert [(broker.status, broker.chosen) for broker in telemetry] == [("agreed", 1), ("no-connection", None)]
    assert row(negotiation, "DeleteGroups").status == "refused"
    assert [broker.status for broker in row(negotiation, "DeleteGroups").brokers] == ["refused", "not-offered"]


# RPCs


def one(valid: str, response: str = "", **others: Any) -> Messages:
    """An RPC whose request has properties of its own."""
    return rpc("One", 900, valid, **others)[0], rpc("One", 900, response or valid)[1]


def with_field(versions: str) -> Messages:
    """The same RPC with a field in these versions of its request."""
    same = {"apiKey": 900, "validVersions": "0-3"}
    return message(field("A", versions=versions), name="OneRequest", type="request", **same), one("0-3")[1]


UNSTABLE: dict[str, Any] = {"latestVersionUnstable": True}
TXN = rpc("AddPartitionsToTxn", 24, "0-5")
V3 = {"0-2": "1", "3+": "3"}
AGREED: list[tuple[Messages, list[Messages], dict[str, tuple[str, int | None, str]]]] = [
    (
        one("0-2"),
        [one("3-5")],
        {"One": ("no-common-version", None, "the client has 0-2, b1 3-5: no version in common")},
    ),
    (
        one("0-5"),
        [one("0-2"), one("3-5")],
        {"One": ("no-common-version", None, "the client has 0-5, b1 0-2, b2 3-5: no version in common")},
    ),
    (
        (*one("0"), *rpc("Ours", 901, "0-1")),
        [(*one("0"), *rpc("Theirs", 902, "2"))],
        {"One": ("agreed", 0, ""), "Ours": ("not-offered", None, ""), "Theirs": ("broker-only", None, "")},
    ),
    (one("0-2"), [(*one("none"), *rpc("Two", 901, "none"))], {"One": ("not-offered", None, "")}),
    (one("0-3", "0-2"), [one("0-5")], {"One": ("agreed", 2, "")}),
    (
        one("0-3"),
        [with_field("2+")],
        {"One": ("layout-differs", 1, "versions 2-3 are encoded differently by b1; the last safe version is 1")},
    ),
    (
        one("0-3"),
        [with_field("0+")],
        {"One": ("layout-differs", None, "versions 0-3 are encoded differently by b1, and no version is safe")},
    ),
    (
        with_field("0+"),
        [rpc("Another", 900, "0-3")],
        {"One": ("layout-differs", None, "API key 900 is One for the client and Another for b1")},
    ),
    (one("0-3"), [one("0-3", **UNSTABLE)], {"One": ("agreed", 2, "")}),
    (one("0"), [one("0", **UNSTABLE)], {"One": ("not-offered", None, "b1 has only an unstable version")}),
    (
        one("0-3"),
        [one("0-3", headerVersions=V3)],
        {"One": ("header-differs", 3, "version 3: headers 2, 1 for the client, 3, 1 for b1")},
    ),
    (
        TXN,
        [TXN],
        {"AddPartitionsToTxn": ("agreed", 3, "")},
    ),
    (TXN, [rpc("AddPartitionsToTxn", 24, "0-3")], {"AddPartitionsToTxn": ("agreed", 3, "")}),
    (rpc("AddPartitionsToTxn", 24, "4-5"), [TXN], {"AddPartitionsToTxn": ("broker-only", None, "")}),
    (api_versions("0-4"), [api_versions("0-4"), api_versions("0-3")], {"ApiVersions": ("agreed", 3, "")}),
]


@pytest.mark.parametrize(("client", "brokers", "expected"), AGREED)
def test_agreements(
    client: Messages, brokers: list[Messages], expected: dict[str, tuple[str, int | None, str]]
) -> None:
    negotiation = between(client, *brokers)
    assert {row.name: (row.status, row.chosen, row.message) for row in negotiation.rpcs} == expected
    assert negotiation.in_trouble is any(status in TROUBLE for status, _, _ in expected.values())


def test_unstable_versions_are_used_on_demand() -> None:
    assert row(between(one("0-3"), one("0-3", **UNSTABLE), unstable=True), "One").chosen == 3


@pytest.mark.parametrize(("client", "broker"), [("3+", None), (None, "3"), (None, None)])
def test_deprecated_versions_of_both_sides_count(client: str | None, broker: str | None) -> None:
    line = row(between(*(one("0-3", deprecatedVersions=versions) for versions in (client, broker))), "One")
    assert (line.deprecated, line.status) == (bool(client or broker), "agreed")


# What a broker serves: modes, RPCs between brokers, versions that brokers keep


def load_release(history: Path, tag: str) -> tuple[str, SchemaSet]:
    return tag, load(f"{tag}:", open_repository(history)).main


def listening(name: str, key: int, valid: str, *listeners: str, **others: Any) -> tuple[Message, Message]:
    first = {"name": f"{name}Request", "type": "request", "apiKey": key, "validVersions": valid, **others}
    return message(listeners=[*listeners], **first), rpc(name, key, valid)[1]


@pytest.mark.parametrize(("release", "mode"), NOT_SERVED)
def test_unavailable_rpcs_are_those_that_the_broker_does_not_serve(history: Path, release: str, mode: Mode) -> None:
    client = client_side(*load_release(history, "2.4.0"))
    broker = broker_side(*load_release(history, release), mode=mode)
    assert {offer.name for key, offer in client.offers.items() if key not in broker.offers} == NOT_SERVED[release, mode]


def test_2_4_with_8_3(history: Path) -> None:
    negotiation = negotiate(load_release(history, "2.4.0"), [load_release(history, "confluent-8.3.0")])
    statuses = {row.name: row.status for row in negotiation.rpcs if row.status not in ("agreed", "broker-only")}
    rpcs = ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown")
    assert statuses == {**dict.fromkeys(rpcs, "not-offered"), "WriteTxnMarkers": "no-common-version"}
    produce = row(negotiation, "Produce")
    assert (produce.usable, produce.chosen, produce.request_header, produce.response_header) == ("3-8", 8, 1, 0)
    assert not negotiation.in_trouble


def test_kraft_is_the_mode_from_3_3_on(history: Path) -> None:
    """Before, it is not for production (KIP-833)."""
    modes = {tag: default_mode(load_release(history, tag)[1]) for tag in ("2.8.0", "3.2.0", "3.3.0")}
    assert modes == {"2.8.0": "zookeeper", "3.2.0": "zookeeper", "3.3.0": "kraft"}


def test_tables_of_roles_name_real_rpcs(history: Path) -> None:
    tags = ("2.7.0", "3.9.0-rc3", "confluent-8.3.0")
    rpcs = {(pair.name, pair.api_key) for tag in tags for pair in load(f"{tag}:", open_repository(history)).main.rpcs}
    assert rpcs >= {*BETWEEN_NODES.items(), *RAFT_QUORUM.items(), ("AddPartitionsToTxn", ADD_PARTITIONS_TO_TXN)}


def test_rpcs_between_brokers_stand_apart() -> None:
    result = between(
        (*rpc("WriteTxnMarkers", 27, "0"), *rpc("Fetch", 1, "0-3")),
        (*rpc("WriteTxnMarkers", 27, "1"), *rpc("Fetch", 1, "0-3")),
    )
    markers = row(result, "WriteTxnMarkers")
    assert (markers.status, markers.between_nodes) == ("no-common-version", True)
    assert not result.in_trouble
    assert [result.summary[name] for name in ("rpcs", "agreed", "between_nodes")] == [2, 1, 1]


def both_modes(*more: tuple[Message, Message]) -> tuple[Message, ...]:
    zookeeper = (listening("A", 900, "0", "zkBroker", "broker"), listening("B", 901, "0", "zkBroker"))
    return tuple(message for pair in (*zookeeper, listening("C", 902, "0", "broker"), *more) for message in pair)


def test_the_mode_of_a_set() -> None:
    assert default_mode(SchemaSet(both_modes())) == "kraft"
    assert default_mode(SchemaSet(both_modes(listening("DescribeQuorum", 55, "0", "broker")))) == "zookeeper"
    assert default_mode(SchemaSet(listening("UpdateMetadata", 6, "0", "zkBroker"))) == "zookeeper"
    assert default_mode(SchemaSet(rpc("UpdateMetadata", 6, "0"))) == "zookeeper"
    assert default_mode(SchemaSet(rpc("Fetch", 1, "0"))) == "kraft"
    assert default_mode(SchemaSet(listening("Vote", 52, "0", "controller"))) == "kraft"


# Who writes, and who sends


def nullable(*, nullable: bool) -> Messages:
    """An RPC whose request may have null in a string."""
    text = field("A", "string", **({"nullableVersions": "0+"} if nullable else {}))
    return message(text, name="OneRequest", type="request", apiKey=900, validVersions="0"), one("0")[1]


def test_null_in_a_request_is_for_the_broker_to_read() -> None:
    """Real: AddRaftVoter of AutoMQ and of Confluent 8.1."""
    with_null, without_null = nullable(nullable=True), nullable(nullable=False)
    assert row(between(without_null, with_null), "One").status == "agreed"
    assert row(between(with_null, without_null), "One").status == "layout-differs"


def test_null_in_a_response_is_for_the_client_to_read() -> None:
    responses = [
        message(field("A", "string", **others), name="OneResponse", type="response", apiKey=900, validVersions="0")
        for others in ({"nullableVersions": "0+"}, {})
    ]
    with_null, without_null = ((one("0")[0], response) for response in responses)
    assert row(between(with_null, without_null), "One").status == "agreed"
    assert row(between(without_null, with_null), "One").status == "layout-differs"


def test_fields_that_trade_places_do_not_agree() -> None:
    same = {"name": "OneRequest", "type": "request", "apiKey": 900, "validVersions": "0"}
    sides = [(message(*map(field, names), **same), one("0")[1]) for names in ("AB", "BA")]
    negotiation = between(*sides)
    assert (row(negotiation, "One").status, negotiation.in_trouble) == ("layout-differs", True)


def of_controllers(name: str, kind: str) -> Messages:
    first = {"name": f"{name}Request", "type": "request", "apiKey": 900, "validVersions": "0"}
    return message(field("A", kind), listeners=["controller"], **first), rpc(name, 900, "0")[1]


def test_an_rpc_of_controllers_is_no_rpc_of_clients() -> None:
    """It has a status of its own, but is no trouble of clients, even in other bytes."""
    sides = [
        (*of_controllers("Move", kind), *rpc("Fetch", 1, "0-3", listeners=["broker"])) for kind in ("int32", "int64")
    ]
    negotiation = between(*sides)
    move = row(negotiation, "Move")
    assert (move.between_nodes, move.status, move.client, move.brokers[0].versions) == (
        True,
        "layout-differs",
        "0",
        "0",
    )
    assert not negotiation.in_trouble
    assert row(between(sides[0], sides[0]), "Move").status == "agreed"


@pytest.mark.parametrize(
    ("messages", "versions"),
    [
        (rpc("Fetch", 1, "0-3"), "0-3"),
        (TXN, "0-3"),
        (rpc("WriteTxnMarkers", 27, "0-1"), "none"),
        (rpc("LeaderAndIsr", 4, "none"), "none"),
        (of_controllers("Move", "int32"), "none"),
    ],
)
def test_versions_for_clients(messages: Messages, versions: str) -> None:
    """The decision for `diff --for client` too: of the request, and of the response."""
    request, response = SchemaSet(messages).messages
    assert (str(versions_for_clients(request)), str(versions_for_clients(response))) == (versions, versions)


def test_a_record_is_not_for_clients() -> None:
    assert not versions_for_clients(message(name="AbortedTxn", type="data", apiKey=None))


# What a set cannot know


def test_an_rpc_that_the_client_has_unstable_is_not_only_the_brokers() -> None:
    line = row(between(one("0", **UNSTABLE), one("0")), "One")
    assert (line.status, line.message) == ("unstable", "the client has the RPC in the unstable version 0 only")


def test_telemetry_needs_a_reporter() -> None:
    telemetry = rpc("PushTelemetry", 72, "0")
    line = row(between(telemetry, telemetry), "PushTelemetry")
    note = "b1 offers it only if a metrics reporter of it takes client telemetry (KIP-714)"
    assert (line.status, line.message) == ("agreed", note)


def test_zookeeper_mode_has_no_quorum_of_controllers() -> None:
    """2.7 defines these RPCs, and declares no listeners."""
    schemas = SchemaSet((*rpc("UpdateMetadata", 6, "0"), *rpc("Vote", 52, "0"), *rpc("Quorum", 53, "0")))
    assert [*broker_side("b", schemas, mode="zookeeper").offers] == [6, 53]
    assert [*broker_side("b", schemas, mode="kraft").offers] == [6, 52, 53]


def test_brokers_list_more_of_produce_than_they_take() -> None:
    sides = [(*rpc("Produce", 0, valid), *api_versions("0-3")) for valid in ("0-9", "3-12")]
    negotiation = between(*sides)
    assert negotiation.exchanges[0].notes == (PRODUCE_NOTE,)
    assert row(negotiation, "Produce").message == "b1 lists versions 0-2 too, and rejects them (KAFKA-18659)"
    assert between(sides[1], sides[0]).exchanges[0].notes == ()


def test_the_mode_of_the_brokers() -> None:
    schemas = SchemaSet(both_modes())
    client = ("c", schemas)
    usual, zookeeper = (negotiate(client, [("b1", schemas)], mode=mode) for mode in (None, "zookeeper"))
    assert {line.name: line.status for line in usual.rpcs} == {"A": "agreed", "B": "not-offered", "C": "agreed"}
    assert {line.name: line.status for line in zookeeper.rpcs} == {"A": "agreed", "B": "agreed", "C": "not-offered"}
    assert row(zookeeper, "C").message == "b1 does not serve it in ZooKeeper mode"
    assert (usual.exchanges[0].mode, zookeeper.exchanges[0].mode) == ("kraft", "zookeeper")
    assert usual.exchanges[0].notes[0] == (
        "the broker may also run in ZooKeeper mode, and then offers other RPCs: --mode zookeeper"
    )


# A client that is a table of versions


def table(versions: str, fixed: str = "") -> VersionTable:
    return VersionTable("t", [TableRow(900, "One", VersionRange.of_text(versions), VersionRange.of_text(fixed))])


@pytest.mark.parametrize(
    ("client", "status", "chosen", "note"),
    [
        (table("0-3"), "agreed", 3, ""),
        (table("0-1, 5"), "no-common-version", None, "the client has 0-1, 5, b1 2-4: no version in common"),
        (table("0-3", "3"), "agreed", 3, ""),
        (table("3", "2"), "agreed", 3, ""),
        (table("0-3", "0, 2"), "fixed-version", 3, "the client sends version 0 without asking, b1 offers 2-4"),
    ],
)
def test_a_client_without_definitions(client: VersionTable, status: str, chosen: int | None, note: str) -> None:
    negotiation = negotiate(client, [("b1", SchemaSet(one("2-4")))])
    line = row(negotiation, "One")
    assert (line.status, line.chosen, line.message) == (status, chosen, note)
    assert negotiation.in_trouble is (status != "agreed")


def test_a_client_without_definitions_has_the_layouts_of_each_broker() -> None:
    brokers = [(name, SchemaSet(messages)) for name, messages in (("b1", with_field("0+")), ("b2", one("0-3")))]
    line = row(negotiate(table("0-3"), brokers), "One")
    assert (line.status, line.usable, [agreement.status for agreement in line.brokers]) == (
        "agreed", "0-3", ["agreed", "agreed"]
    )  # fmt: skip
