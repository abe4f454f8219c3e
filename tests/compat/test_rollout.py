"""How far a request header is rolled out, RPC by RPC (KIP-1313)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplint.compat.rollout import STATUSES, Row, rollout, summary
from kiplint.compat.tree import Tree, make_tree
from kiplint.model.header_map import header_map
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.report.rollout.json import rollout_document
from kiplint.report.rollout.text import closing
from kiplint.text.comments import blank_comments
from tools import field, message, rpc

V3 = {"0-2": "1", "3-5": "2", "6+": "3"}
"""The headers of a request that `tools.rpc` makes, bumped to 6."""
EXEMPT = "frozen at versions 0-1: it never carries the client instance id"
GONE = "is in the base, but not in the head"


def stored(folder: Path) -> SchemaSet:
    tree = make_tree("", [("", [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))])])
    assert not tree.broken
    return tree.main


def short(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [(row.name, row.api_key, row.status, row.base_versions, row.versions, row.message) for row in rows]


def statuses(rows: list[Row]) -> dict[str, str]:
    return {row.name: row.status for row in rows}


def one(*messages: Message, base: tuple[Message, ...] | None = None, header: int = 3) -> Row:
    """The only row of a set, against a base if there is one."""
    (row,) = rollout(SchemaSet(messages), SchemaSet(base) if base is not None else None, header)
    return row


# The fixtures


def test_the_kip_s_own_definitions_alone(repo: Path) -> None:
    rows = rollout(stored(repo / "fixtures/kip-1313"))
    slip = "the request ends at version 3, the response at 2; bump the two together"
    assert short(rows) == [
        ("DeleteGroups", 42, "wrong", "", "0-3", slip),
        ("GetTelemetrySubscriptions", 71, "done", "", "0-1", "version 1 uses header 3"),
        ("OffsetDelete", 47, "done", "", "0-1", "version 1 uses header 3"),
        ("PushTelemetry", 72, "done", "", "0-1", "version 1 uses header 3"),
        ("SaslHandshake", 17, "exempt", "", "0-1", EXEMPT),
    ]
    assert {row.name: row.header_versions for row in rows} == {
        "DeleteGroups": {"0-1": 1, "2": 2, "3": 3},
        "GetTelemetrySubscriptions": {"0": 2, "1": 3},
        "OffsetDelete": {"0": 1, "1": 3},
        "PushTelemetry": {"0": 2, "1": 3},
        "SaslHandshake": {"0-1": 1},
    }
    wrong = rows[0]
    assert (wrong.rule, wrong.file, wrong.wanted, wrong.message_name) == (
        "rpc/versions-differ",
        "DeleteGroupsResponse.json",
        "validVersions",
        "DeleteGroupsResponse",
    )
    assert closing(rows, 3) == "Request header 3: 3 done, 1 wrong and 1 exempt."


def test_the_kip_s_own_definitions_after_a_broker(repo: Path) -> None:
    rows = rollout(stored(repo / "fixtures/kip-1313"), stored(repo / "fixtures/sets/broker/clients"))
    slip = "the request ends at version 3, the response at 2; bump the two together"
    assert short(rows) == [
        ("ApiVersions", 18, "dead", "0-5", "none", GONE),
        ("ConsumerGroupDescribe", 69, "dead", "0-1", "none", GONE),
        ("DeleteGroups", 42, "wrong", "0-2", "0-3", slip),
        ("DescribeTopicPartitions", 75, "dead", "0", "none", GONE),
        ("FindCoordinator", 10, "dead", "0-6", "none", GONE),
        ("GetTelemetrySubscriptions", 71, "done", "0", "0-1", "version 1 uses header 3"),
        ("LeaderAndIsr", 4, "dead", "none", "none", "no valid version was left, and now the file is gone"),
        ("Metadata", 3, "dead", "0-13", "none", GONE),
        ("OffsetDelete", 47, "done", "0", "0-1", "version 1 uses header 3"),
        ("PushTelemetry", 72, "done", "0", "0-1", "version 1 uses header 3"),
        ("SaslHandshake", 17, "exempt", "0-1", "0-1", EXEMPT),
    ]
    assert summary(rows) == {"done": 3, "missing": 0, "wrong": 1, "new": 0, "exempt": 1, "dead": 6}


def test_a_broker_before_the_kip(repo: Path) -> None:
    rows = rollout(stored(repo / "fixtures/sets/broker/clients"))
    assert Counter(row.status for row in rows) == {"missing": 9, "exempt": 1, "dead": 1}
    (metadata,) = (row for row in rows if row.name == "Metadata")
    assert metadata.message == "the latest version of Metadata (13) uses header 2; bump it to 14 with header 3"
    assert (metadata.rule, metadata.wanted, metadata.header_versions) == (
        "kip-1313/v3-missing",
        "validVersions",
        {"0-8": 1, "9-13": 2},
    )


# Every status


def test_done() -> None:
    base, head = rpc("X", 1, "0-5"), (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1])
    row = one(*head, base=base)
    assert (row.status, row.base_versions, row.versions, row.rule) == ("done", "0-5", "0-6", "")
    assert row.header_versions == {"0-2": 1, "3-5": 2, "6": 3}
    assert one(*head).status == "done"


def test_what_was_done_in_the_base_is_done() -> None:
    head = (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1])
    row = one(*head, base=(rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1]))
    assert (row.status, row.message) == ("done", "version 6 uses header 3")


def test_a_higher_header_is_done_too() -> None:
    head = (rpc("X", 1, "0-6", headerVersions={**V3, "6+": "4"})[0], rpc("X", 1, "0-6")[1])
    assert one(*head, base=rpc("X", 1, "0-5")).status == "done"
    row = one(*head, base=rpc("X", 1, "0-5"), header=5)
    assert (row.status, row.message) == (
        "missing",
        "the latest version of X (6) uses header 4; bump it to 7 with header 5",
    )


def test_missing() -> None:
    row = one(*rpc("X", 1, "0-5"), base=rpc("X", 1, "0-5"))
    assert (row.status, row.rule, row.file, row.wanted) == (
        "missing",
        "kip-1313/v3-missing",
        "XRequest.json",
        "validVersions",
    )
    assert row.message == "the latest version of X (5) uses header 2; bump it to 6 with header 3"
    declared = rpc("X", 1, "0-6", headerVersions={"0-2": "1", "3+": "2"})[0]
    row = one(declared, rpc("X", 1, "0-6")[1], base=rpc("X", 1, "0-5"))
    assert (row.status, row.wanted) == ("missing", "headerVersions")
    assert row.message == "the latest version of X (6) uses header 2; bump it to 7 with header 3"


@pytest.mark.parametrize(
    ("headers", "where"),
    [({"0-2": "1", "3-4": "2", "5+": "3"}, "5"), ({"0+": "3"}, "0-5"), ({"0-1": "1", "2+": "2"}, "2")],
)
def test_a_released_version_with_another_header_is_wrong(headers: dict[str, str], where: str) -> None:
    head = (rpc("X", 1, "0-5", headerVersions=headers)[0], rpc("X", 1, "0-5")[1])
    row = one(*head, base=rpc("X", 1, "0-5"))
    rule = "compat/header-changed" if "3" not in headers.values() else "kip-1313/v3-on-released"
    assert (row.status, row.rule, row.wanted) == ("wrong", rule, "headerVersions")
    assert row.message == (
        f"XRequest {where} is released and was moved to another header; give the header to a new version"
    )


def test_the_header_of_a_released_response_stays_too() -> None:
    head = (rpc("X", 1, "0-5")[0], rpc("X", 1, "0-5", headerVersions={"0+": "1"})[1])
    row = one(*head, base=rpc("X", 1, "0-5"))
    assert (row.status, row.message_name, row.message.partition(" is ")[0]) == ("wrong", "XResponse", "XResponse 0-2")


def test_a_header_that_is_only_declared_changes_nothing() -> None:
    head = rpc("X", 1, "0-5", headerVersions={"0-2": "1", "3+": "2"})[0], rpc("X", 1, "0-5")[1]
    assert one(*head, base=rpc("X", 1, "0-5")).status == "missing"


def test_an_unstable_version_may_take_the_header() -> None:
    unstable = {"latestVersionUnstable": True}
    base = (rpc("X", 1, "0-5", **unstable)[0], rpc("X", 1, "0-5")[1])
    headers = {"0-2": "1", "3-4": "2", "5+": "3"}
    head = (rpc("X", 1, "0-5", headerVersions=headers, **unstable)[0], rpc("X", 1, "0-5")[1])
    assert one(*head, base=base).status == "done"


def test_a_response_that_lags_is_wrong() -> None:
    head = (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-5")[1])
    for row in (one(*head), one(*head, base=rpc("X", 1, "0-5"))):
        assert (row.status, row.rule, row.message_name) == ("wrong", "rpc/versions-differ", "XResponse")
        assert row.message == "the request ends at version 6, the response at 5; bump the two together"


@pytest.mark.parametrize(("half", "what"), [(0, "response"), (1, "request")])
def test_half_an_rpc_is_wrong(half: int, what: str) -> None:
    row = one(rpc("X", 1, "0-5")[half])
    assert (row.status, row.rule, row.message) == ("wrong", f"rpc/{what}-missing", f"there is no {what}")


def test_new() -> None:
    head = (rpc("X", 1, "0-1", headerVersions={"0+": "3"}, flexibleVersions="0+")[0], rpc("X", 1, "0-1")[1])
    row = one(*head, base=())
    assert (row.status, row.base_versions, row.message) == ("new", "", "new, with header 3 from version 0")
    row = one(*rpc("X", 1, "0-1", flexibleVersions="0+"), base=())
    assert (row.status, row.rule) == ("missing", "kip-1313/v3-missing")
    assert row.message == "X is new, but version 0 uses header 2; start with header 3"


def test_exempt() -> None:
    sasl: dict[str, Any] = {"name": "SaslHandshake", "key": 17, "valid": "0-1", "flexibleVersions": "none"}
    assert one(*rpc(**sasl)).status == "exempt"
    assert one(*rpc(**sasl), base=rpc(**sasl)).message == EXEMPT


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"valid": "0-2"},
            "SaslHandshakeRequest is frozen at versions 0-1 and must never be bumped; it has 0-2",
        ),
        ({"headerVersions": {"0+": "2"}}, "SaslHandshakeRequest is frozen with header 1"),
        ({"flexibleVersions": "1+"}, "SaslHandshakeRequest is frozen with header 1"),
    ],
)
def test_the_frozen_rpc_changed_is_wrong(changed: dict[str, Any], said: str) -> None:
    sasl: dict[str, Any] = {"name": "SaslHandshake", "key": 17, "valid": "0-1", "flexibleVersions": "none"}
    base = rpc(**sasl)
    for row in (one(*rpc(**{**sasl, **changed})), one(*rpc(**{**sasl, **changed}), base=base)):
        assert (row.status, row.rule, row.message) == ("wrong", "kip-1313/frozen-rpc", said)


def test_dead() -> None:
    dead = rpc("X", 1, "none", flexibleVersions="none")
    for row in (one(*dead), one(*dead, base=rpc("X", 1, "0-5"))):
        assert (row.status, row.versions, row.header_versions, row.message) == (
            "dead",
            "none",
            {},
            "no valid version is left",
        )
    row = one(base=rpc("X", 1, "0-5"))
    assert (row.status, row.base_versions, row.versions, row.message) == ("dead", "0-5", "none", GONE)


def test_coordinator_records_are_no_rpcs() -> None:
    key = message(field(versions="0"), name="XKey", type="coordinator-key", validVersions="0", flexibleVersions="none")
    value = message(field(), name="XValue", type="coordinator-value")
    assert rollout(SchemaSet((key, value))) == []


# A whole set, migrated by hand

LEFT_OUT = {"Fetch", "DescribeTopicPartitions"}


def declared(document: dict[str, Any], made: Message) -> dict[str, Any]:
    """The definition with the headers that Kafka derives written down: from version 0 on, the last range open."""
    found = list(header_map(made))
    if not found:
        return document
    lows = [0, *(versions.lowest for versions, _ in found[1:])]
    keys = [f"{low}-{high - 1}" if high - 1 > low else f"{low}" for low, high in pairwise(lows)]
    keys.append(f"{lows[-1]}+")
    return {**document, "headerVersions": {key: str(number) for key, (_, number) in zip(keys, found, strict=True)}}


def bumped(document: dict[str, Any], made: Message) -> dict[str, Any]:
    """One version more, flexible and with request header 3 (response header 1)."""
    lowest, latest = made.valid.lowest, made.valid.highest + 1
    headers = dict(document["headerVersions"])
    last, number = headers.popitem()
    low = int(last.removesuffix("+"))
    headers[f"{low}-{latest - 1}" if low < latest - 1 else f"{low}"] = number
    headers[f"{latest}+"] = "3" if made.type == "request" else "0" if made.name == "ApiVersionsResponse" else "1"
    document = {**document, "validVersions": f"{lowest}-{latest}", "headerVersions": headers}
    return document if made.flexible else {**document, "flexibleVersions": f"{latest}+"}


def migrated(base: SchemaSet, skipped: set[str], changes: Mapping[str, Mapping[str, Any]] | None = None) -> Tree:
    """The set with headers declared and all live RPCs bumped but those skipped; then `changes` by message name."""
    files = []
    for made in base.messages:
        document = json.loads(blank_comments(made.data))
        if made.is_rpc and made.valid:
            document = declared(document, made)
            if made.base_name not in skipped | {"SaslHandshake"}:
                document = bumped(document, made)
        document |= (changes or {}).get(made.name, {})
        files.append((made.file, json.dumps(document, indent=2).encode()))
    return make_tree("head", [("", files)])


@pytest.fixture(scope="module")
def clients(corpus: Path) -> SchemaSet:
    return stored(corpus / "kafka-trunk-2026-08/clients")


def test_exactly_the_two_that_were_left_out_are_missing(clients: SchemaSet) -> None:
    head = migrated(clients, LEFT_OUT).main
    rows = rollout(head, clients)
    assert {row.name for row in rows if row.status == "missing"} == LEFT_OUT
    live = [rpc for rpc in clients.rpcs if not rpc.is_dead]
    assert len(live) > 80
    assert summary(rows) == {
        "done": len(live) - 3,
        "missing": 2,
        "wrong": 0,
        "new": 0,
        "exempt": 1,
        "dead": len(clients.rpcs) - len(live),
    }
    assert {name: row for name, row in statuses(rollout(head)).items() if row == "missing"} == dict.fromkeys(
        LEFT_OUT, "missing"
    )


def test_nothing_is_done_before(clients: SchemaSet) -> None:
    found = Counter(statuses(rollout(clients, clients)).values())
    assert found.keys() == {"missing", "exempt", "dead"}
    assert found == Counter(statuses(rollout(clients)).values())
    only_declared = migrated(clients, {rpc.name for rpc in clients.rpcs}).main
    assert Counter(statuses(rollout(only_declared, clients)).values()) == found


@pytest.mark.parametrize(
    ("name", "change", "rule", "culprit"),
    [
        (
            "SaslHandshake",
            {"validVersions": "0-2", "headerVersions": {"0-1": "1", "2+": "3"}},
            "kip-1313/frozen-rpc",
            "SaslHandshakeRequest",
        ),
        ("Fetch", {"headerVersions": {"0-11": "1", "12+": "3"}}, "kip-1313/v3-on-released", "FetchRequest"),
    ],
)
def test_a_request_migrated_wrongly(
    clients: SchemaSet, name: str, change: dict[str, Any], rule: str, culprit: str
) -> None:
    rows = rollout(migrated(clients, LEFT_OUT, {f"{name}Request": change}).main, clients)
    (wrong,) = (row for row in rows if row.status == "wrong")
    assert (wrong.name, wrong.rule, wrong.message_name) == (name, rule, culprit)


def test_a_response_that_was_not_bumped(clients: SchemaSet) -> None:
    old = clients.by_name["ProduceResponse"].spec.valid_versions
    rows = rollout(migrated(clients, LEFT_OUT, {"ProduceResponse": {"validVersions": old}}).main, clients)
    (wrong,) = (row for row in rows if row.status == "wrong")
    assert (wrong.name, wrong.rule, wrong.message_name) == ("Produce", "rpc/versions-differ", "ProduceResponse")
    assert statuses(rows)["Fetch"] == "missing"


# What is written


def test_the_json_document(repo: Path) -> None:
    rows = rollout(stored(repo / "fixtures/kip-1313"), stored(repo / "fixtures/sets/broker/clients"))
    document = json.loads(msgspec.json.encode(rollout_document(rows, 3)))
    assert list(document) == ["version", "header", "rpcs", "summary"]
    assert (document["version"], document["header"]) == (1, 3)
    assert document["summary"] == {"done": 3, "missing": 0, "wrong": 1, "new": 0, "exempt": 1, "dead": 6}
    assert list(document["summary"]) == list(STATUSES)
    assert all(
        list(row) == ["name", "api_key", "status", "base_versions", "versions", "header_versions", "message"]
        for row in document["rpcs"]
    )
    assert document["rpcs"][8] == {
        "name": "OffsetDelete",
        "api_key": 47,
        "status": "done",
        "base_versions": "0",
        "versions": "0-1",
        "header_versions": {"0": 1, "1": 3},
        "message": "version 1 uses header 3",
    }


def test_no_rpcs() -> None:
    assert closing(rollout(SchemaSet(())), 3) == "Request header 3: no RPCs."
