"""What client and brokers agree on: the fixtures' exact answers, and the rules one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.negotiation.result import Exchange, Ids, Negotiation, RpcRow
from kiplint.compat.tree import make_tree
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc

API_VERSIONS = 18
BY_BROKER = (Ids(request="0", response="UUID-B"), Ids(request="UUID-B", response="0"))


def read_set(folder: Path) -> tuple[str, SchemaSet]:
    files = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    assert files
    return folder.name, make_tree(folder.name, [("", files)]).main


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


def first_exchange(client: tuple[Message, ...], broker: tuple[Message, ...]) -> Exchange:
    (exchange,) = between(client, broker).exchanges
    return exchange


# KIP-35


@pytest.fixture(scope="module")
def kip_35(repo: Path) -> Negotiation:
    folder = repo / "fixtures/negotiate/kip-35"
    return negotiate(read_set(folder / "client"), [read_set(folder / "B1"), read_set(folder / "B2")])


def test_kip_35_answers_of_the_brokers(kip_35: Negotiation) -> None:
    answers = {
        broker: {row.api_key: row.brokers[n].versions for row in kip_35.rpcs if row.api_key != API_VERSIONS}
        for n, broker in enumerate(kip_35.brokers)
    }
    assert answers == {"B1": {0: "0-3", 1: "2-3", 2: None}, "B2": {0: "1-2", 1: "0-3", 2: "0"}}


def test_kip_35_state_of_the_client(kip_35: Negotiation) -> None:
    state = {row.api_key: (row.usable, row.chosen, row.status) for row in kip_35.rpcs if row.api_key != API_VERSIONS}
    assert state == {0: ("1-2", 2, "agreed"), 1: ("2-3", 3, "agreed"), 2: (None, None, "not-everywhere")}


def test_kip_35_is_not_in_trouble(kip_35: Negotiation) -> None:
    assert not kip_35.in_trouble
    assert (kip_35.summary.rpcs, kip_35.summary.agreed, kip_35.summary.not_everywhere) == (4, 3, 1)


# The exchange


def test_a_known_version_is_used_at_once() -> None:
    exchange = first_exchange(api_versions("0-3"), api_versions("0-4"))
    assert exchange == Exchange("b1", 3, 2, 3, "", "", 3, 2, 0, client_software=True)


def test_kip_511_continues_with_the_highest_common_version() -> None:
    exchange = first_exchange(api_versions("0-5"), api_versions("0-3"))
    assert exchange == Exchange("b1", 5, 2, 0, "UNSUPPORTED_VERSION", "0-3", 3, 2, 0, client_software=True)


def test_before_kip_511_the_client_goes_back_to_0() -> None:
    exchange = first_exchange(api_versions("0-3"), api_versions("0-2", software=False))
    assert (exchange.answer, exchange.error, exchange.supported, exchange.used) == (0, "UNSUPPORTED_VERSION", "", 0)
    assert (exchange.request_header, exchange.response_header, exchange.client_software) == (1, 0, False)
    assert exchange.notes[0].startswith("the answer does not name the broker's range")


def test_a_client_from_before_kip_511_does_not_read_the_range() -> None:
    exchange = first_exchange(api_versions("0-5", software=False), api_versions("0-3"))
    assert (exchange.supported, exchange.used) == ("0-3", 0)
    assert exchange.notes[0].startswith("the client does not read the range")


def test_a_retired_version_0_ends_it() -> None:
    exchange = first_exchange(api_versions("0-2", software=False), api_versions("3-4"))
    assert (exchange.used, exchange.request_header, exchange.response_header) == (None, None, None)
    assert "KIP-35" in exchange.notes[-1]
    assert (
        row(between(api_versions("0-2", software=False), api_versions("3-4")), "ApiVersions").status
        == "no-common-version"
    )


def test_the_row_of_api_versions_has_the_version_in_use() -> None:
    result = row(between(api_versions("0-3"), api_versions("0-2", software=False)), "ApiVersions")
    assert (result.usable, result.chosen, result.request_header, result.response_header) == ("0-2", 0, 1, 0)


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


def test_an_old_broker_does_not_check_the_instance_id(repo: Path) -> None:
    folder = repo / "fixtures/negotiate/telemetry"
    exchange = negotiate(read_set(folder / "new-client"), [read_set(folder / "old-broker")]).exchanges[0]
    assert (exchange.tried, exchange.tried_header, exchange.supported, exchange.used, exchange.request_header) == (
        6,
        3,
        "0-4",
        4,
        2,
    )
    assert not exchange.checked


# Telemetry


@pytest.mark.parametrize(
    ("client", "broker", "version", "ids"),
    [
        ("old", "old", 0, BY_BROKER),
        ("old", "new", 0, BY_BROKER),
        ("new", "old", 0, (Ids(request="UUID-R", response="0"),) * 2),
        ("new", "new", 1, (Ids(header="UUID-H"),) * 2),
    ],
)
def test_telemetry_as_in_the_table_of_kip_1313(
    repo: Path, client: str, broker: str, version: int, ids: tuple[Ids, Ids]
) -> None:
    folder = repo / "fixtures/negotiate/telemetry"
    negotiation = negotiate(read_set(folder / f"{client}-client"), [read_set(folder / f"{broker}-broker")])
    (telemetry,) = negotiation.telemetry
    assert (telemetry.client_side, telemetry.broker_side, telemetry.version) == (client, broker, version)
    assert (telemetry.initial, telemetry.later) == ids
    both = client == broker == "new"
    first = negotiation.exchanges[0]
    assert (first.cluster_id, first.node_id, first.client_software, first.checked) == (both, both, True, both)
    assert {row.name for row in negotiation.rpcs if row.instance_id} == (
        {"ApiVersions", "GetTelemetrySubscriptions", "PushTelemetry"} if both else set()
    )
    assert {row.status for row in negotiation.rpcs} == {"agreed"}


# KIP-1313: refused


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
    assert [broker.status for broker in row(negotiation, "GetTelemetrySubscriptions").brokers] == ["agreed", "agreed"]
    assert [broker.chosen for broker in row(negotiation, "GetTelemetrySubscriptions").brokers] == [1, 0]
    assert row(negotiation, "DeleteGroups").status == "refused"
    assert [broker.status for broker in row(negotiation, "DeleteGroups").brokers] == ["refused", "client-only"]


# RPCs


def test_no_common_version_names_both_ranges() -> None:
    negotiation = between(rpc("One", 900, "0-2"), rpc("One", 900, "3-5"))
    rpc_row = row(negotiation, "One")
    assert (rpc_row.status, rpc_row.client, rpc_row.brokers[0].versions, rpc_row.usable, rpc_row.chosen) == (
        "no-common-version", "0-2", "3-5", "none", None,
    )  # fmt: skip
    assert rpc_row.message == "the client has 0-2, b1 3-5: no version in common"
    assert negotiation.in_trouble


def test_brokers_that_share_nothing_with_each_other() -> None:
    rpc_row = row(between(rpc("One", 900, "0-5"), rpc("One", 900, "0-2"), rpc("One", 900, "3-5")), "One")
    assert (rpc_row.status, rpc_row.usable, [broker.chosen for broker in rpc_row.brokers]) == (
        "no-common-version",
        "none",
        [2, 5],
    )


def test_what_only_one_side_has() -> None:
    negotiation = between(
        (*rpc("Both", 900, "0"), *rpc("Ours", 901, "0-1")), (*rpc("Both", 900, "0"), *rpc("Theirs", 902, "2"))
    )
    assert [(row.name, row.status, row.client, row.brokers[0].versions) for row in negotiation.rpcs] == [
        ("Both", "agreed", "0", "0"),
        ("Ours", "client-only", "0-1", None),
        ("Theirs", "broker-only", None, "2"),
    ]
    assert not negotiation.in_trouble


def test_a_dead_rpc_is_not_there() -> None:
    negotiation = between(rpc("One", 900, "0-2"), (*rpc("One", 900, "none"), *rpc("Two", 901, "none")))
    assert [(row.name, row.status) for row in negotiation.rpcs] == [("One", "client-only")]


def test_both_halves_must_have_a_version() -> None:
    request, _ = rpc("One", 900, "0-3")
    _, response = rpc("One", 900, "0-2")
    assert row(between((request, response), rpc("One", 900, "0-5")), "One").chosen == 2


def test_a_broker_offers_what_listens_to_clients() -> None:
    request, response = rpc("Inner", 901, "0")
    inner = message(name="InnerRequest", type="request", apiKey=901, validVersions="0", listeners=["controller"])
    outer = message(name="OuterRequest", type="request", apiKey=900, validVersions="0", listeners=["broker"])
    broker = (inner, response, outer, rpc("Outer", 900, "0")[1])
    negotiation = between((request, response, *rpc("Outer", 900, "0")), broker)
    assert {row.name: row.status for row in negotiation.rpcs} == {"Inner": "not-offered", "Outer": "agreed"}
    plain = between((request, response), (request, response))
    assert row(plain, "Inner").status == "agreed"


@pytest.mark.parametrize(
    ("valid", "unstable", "versions"), [("0-3", False, "0-2"), ("0-3", True, "0-3"), ("0", False, None)]
)
def test_unstable_versions_are_offered_on_demand(valid: str, unstable: bool, versions: str | None) -> None:
    request, response = rpc("One", 900, valid)
    draft = message(name="OneRequest", type="request", apiKey=900, validVersions=valid, latestVersionUnstable=True)
    rpc_row = row(between((request, response), (draft, response), unstable=unstable), "One")
    assert rpc_row.brokers[0].versions == versions
    assert rpc_row.status == ("agreed" if versions else "not-offered")


def test_a_deprecated_version_is_reported() -> None:
    old = message(name="OneRequest", type="request", apiKey=900, validVersions="0-5", deprecatedVersions="0-2")
    response = rpc("One", 900, "0-5")[1]
    rpc_row = row(between(rpc("One", 900, "0-2"), (old, response)), "One")
    assert (rpc_row.deprecated, rpc_row.chosen, rpc_row.status, rpc_row.message) == (
        True, 2, "agreed", "b1 calls version 2 deprecated; b1 has 3-5 that are not",
    )  # fmt: skip
    assert not row(between(rpc("One", 900, "0-3"), (old, response)), "One").deprecated


def test_headers_that_differ_are_trouble() -> None:
    request = message(
        name="OneRequest", type="request", apiKey=900, validVersions="0-3", headerVersions={"0-2": "1", "3+": "3"}
    )
    response = rpc("One", 900, "0-3")[1]
    negotiation = between(rpc("One", 900, "0-3"), (request, response))
    assert row(negotiation, "One").status == "header-differs"
    assert row(negotiation, "One").message == "version 3: request header 2 for the client, 3 for b1"
    assert negotiation.in_trouble


def test_headers_without_a_declaration() -> None:
    same = (*rpc("One", 900, "0-3"), *rpc("ControlledShutdown", 7, "0"), *api_versions("0-3"))
    negotiation = between(same, same)
    headers = {row.name: (row.request_header, row.response_header) for row in negotiation.rpcs}
    assert headers == {"One": (2, 1), "ControlledShutdown": (0, 0), "ApiVersions": (2, 0)}
