"""What client and brokers agree on: the fixtures' exact answers, and the rules one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.negotiation.result import Ids, Negotiation, RpcRow
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
    assert (negotiation.summary.rpcs, negotiation.summary.agreed, negotiation.summary.not_everywhere) == (4, 3, 1)


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
            "the answer does not name the broker's range (before KIP-511)",
        ),
        (
            ("0-5", False),
            ("0-3", True),
            (0, "UNSUPPORTED_VERSION", "0-3", 0, 1, False),
            "the client does not read the range in the answer (before KIP-511)",
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


@pytest.mark.parametrize(
    ("valid", "unstable", "versions"), [("0-3", False, "0-2"), ("0-3", True, "0-3"), ("0", False, None)]
)
def test_unstable_versions_are_offered_on_demand(valid: str, unstable: bool, versions: str | None) -> None:
    request, response = rpc("One", 900, valid)
    draft = message(name="OneRequest", type="request", apiKey=900, validVersions=valid, latestVersionUnstable=True)
    rpc_row = row(between((request, response), (draft, response), unstable=unstable), "One")
    assert rpc_row.brokers[0].versions == versions
    assert rpc_row.status == ("agreed" if versions else "not-offered")


def test_headers_that_differ_are_trouble() -> None:
    request = message(
        name="OneRequest", type="request", apiKey=900, validVersions="0-3", headerVersions={"0-2": "1", "3+": "3"}
    )
    response = rpc("One", 900, "0-3")[1]
    negotiation = between(rpc("One", 900, "0-3"), (request, response))
    assert row(negotiation, "One").status == "header-differs"
    assert row(negotiation, "One").message == "version 3: request header 2 for the client, 3 for b1"
    assert negotiation.in_trouble
