"""How far a request header is rolled out, RPC by RPC (KIP-1313)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplint.commands.rollout import rollout_document
from kiplint.compat.rollout import RolloutRow, closing, rollout, rollout_of_trees, rollout_rules, summary
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc, rules_of

V3 = {"0-2": "1", "3-5": "2", "6+": "3"}
"""The headers of a request that `tools.rpc` makes, bumped to 6."""
EXEMPT = "frozen at versions 0-1: it never carries the client instance id"
NOT_IN_HEAD = "is in the base, but not in the head"
RETIRE = f'{NOT_IN_HEAD}; to retire it, keep its files with "validVersions": "none"'


def request_header(valid: str = "1-3", *fields: dict[str, Any]) -> Message:
    """RequestHeader with the client instance id from version 3 on; or with other fields."""
    fields = fields or (field("ClientInstanceId", "uuid", "3+"),)
    own: dict[str, Any] = {"type": "header", "apiKey": None, "validVersions": valid, "flexibleVersions": "2+"}
    return message(*fields, name="RequestHeader", **own)


HEADER = request_header()


def read_set(folder: Path) -> SchemaSet:
    tree = make_tree("", [("", [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))])])
    assert not tree.broken
    return tree.main


def short(rows: list[RolloutRow]) -> list[tuple[Any, ...]]:
    return [(row.name, row.api_key, row.status, row.base_versions, row.versions, row.message) for row in rows]


def row_of(*messages: Message, base: tuple[Message, ...] | None = None, header: int = 3) -> RolloutRow:
    """The only row of a set, against a base if there is one; the set has a RequestHeader."""
    if all(message.name != "RequestHeader" for message in messages):
        messages = (*messages, HEADER)
    (row,) = rollout(SchemaSet(messages), SchemaSet(base) if base is not None else None, header)
    return row


# The fixtures


def test_the_kip_s_own_definitions_alone(repo: Path) -> None:
    rows = rollout(read_set(repo / "fixtures/kip-1313"))
    slip = "DeleteGroupsRequest has versions 0-3, DeleteGroupsResponse has 0-2; change the two together"
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
    assert (wrong.rule, wrong.path, wrong.pointer, wrong.message_name) == (
        "rpc/versions-differ",
        "DeleteGroupsResponse.json",
        "/validVersions",
        "DeleteGroupsResponse",
    )
    assert closing(rows, 3) == "Request header 3: 3 done, 1 wrong and 1 exempt."


def test_the_kip_s_own_definitions_after_a_broker(repo: Path) -> None:
    rows = rollout(read_set(repo / "fixtures/kip-1313"), read_set(repo / "fixtures/sets/broker/clients"))
    slip = "DeleteGroupsRequest has versions 0-3, DeleteGroupsResponse has 0-2; change the two together"
    assert short(rows) == [
        ("ApiVersions", 18, "wrong", "0-5", "none", RETIRE),
        ("ConsumerGroupDescribe", 69, "wrong", "0-1", "none", RETIRE),
        ("DeleteGroups", 42, "wrong", "0-2", "0-3", slip),
        ("DescribeTopicPartitions", 75, "wrong", "0", "none", RETIRE),
        ("FindCoordinator", 10, "wrong", "0-6", "none", RETIRE),
        ("GetTelemetrySubscriptions", 71, "done", "0", "0-1", "version 1 uses header 3"),
        ("LeaderAndIsr", 4, "dead", "none", "none", "no valid version was left, and now the file is gone"),
        ("Metadata", 3, "wrong", "0-13", "none", RETIRE),
        ("OffsetDelete", 47, "done", "0", "0-1", "version 1 uses header 3"),
        ("PushTelemetry", 72, "done", "0", "0-1", "version 1 uses header 3"),
        ("SaslHandshake", 17, "exempt", "0-1", "0-1", EXEMPT),
    ]
    assert summary(rows) == {"done": 3, "unstable": 0, "missing": 0, "wrong": 6, "new": 0, "exempt": 1, "dead": 1}


def test_a_broker_before_the_kip(repo: Path) -> None:
    rows = rollout(read_set(repo / "fixtures/sets/broker/clients"))
    assert Counter(row.status for row in rows) == {"missing": 9, "exempt": 1, "dead": 1}
    (metadata,) = (row for row in rows if row.name == "Metadata")
    assert metadata.message == "the latest version of Metadata (13) uses header 2; bump it to 14 with header 3"
    assert (metadata.rule, metadata.pointer, metadata.header_versions) == (
        "kip-1313/v3-missing",
        "/validVersions",
        {"0-8": 1, "9-13": 2},
    )


# Every status


def test_done() -> None:
    base, head = rpc("X", 1, "0-5"), (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1])
    row = row_of(*head, base=base)
    assert (row.status, row.base_versions, row.versions, row.rule) == ("done", "0-5", "0-6", "")
    assert row.header_versions == {"0-2": 1, "3-5": 2, "6": 3}
    assert row_of(*head).status == "done"


def test_what_was_done_in_the_base_is_done() -> None:
    head = (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1])
    row = row_of(*head, base=(rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1]))
    assert (row.status, row.message) == ("done", "version 6 uses header 3")


def test_a_higher_header_is_done_too() -> None:
    head = (rpc("X", 1, "0-6", headerVersions={**V3, "6+": "4"})[0], rpc("X", 1, "0-6")[1])
    later = request_header("1-5")
    assert row_of(*head, later, base=rpc("X", 1, "0-5")).status == "done"
    row = row_of(*head, later, base=rpc("X", 1, "0-5"), header=5)
    assert (row.status, row.message) == (
        "missing",
        "the latest version of X (6) uses header 4; bump it to 7 with header 5",
    )


def test_missing() -> None:
    row = row_of(*rpc("X", 1, "0-5"), base=rpc("X", 1, "0-5"))
    assert (row.status, row.rule, row.path, row.pointer) == (
        "missing",
        "kip-1313/v3-missing",
        "XRequest.json",
        "/validVersions",
    )
    assert row.message == "the latest version of X (5) uses header 2; bump it to 6 with header 3"
    request = rpc("X", 1, "0-6", headerVersions={"0-2": "1", "3+": "2"})[0]
    row = row_of(request, rpc("X", 1, "0-6")[1], base=rpc("X", 1, "0-5"))
    assert (row.status, row.pointer) == ("missing", "/headerVersions")
    assert row.message == "the latest version of X (6) uses header 2; bump it to 7 with header 3"


@pytest.mark.parametrize(
    ("headers", "where"),
    [({"0-2": "1", "3-4": "2", "5+": "3"}, "5"), ({"0+": "3"}, "0-5"), ({"0-1": "1", "2+": "2"}, "2")],
)
def test_a_released_version_with_another_header_is_wrong(headers: dict[str, str], where: str) -> None:
    head = (rpc("X", 1, "0-5", headerVersions=headers)[0], rpc("X", 1, "0-5")[1])
    row = row_of(*head, base=rpc("X", 1, "0-5"))
    rule = "compat/header-changed" if "3" not in headers.values() else "kip-1313/v3-on-released"
    assert (row.status, row.rule, row.pointer) == ("wrong", rule, "/headerVersions")
    assert row.message.startswith((f"version {where} had ", f"versions {where} had "))


def test_the_header_of_a_released_response_stays_too() -> None:
    head = (rpc("X", 1, "0-5")[0], rpc("X", 1, "0-5", headerVersions={"0+": "1"})[1])
    row = row_of(*head, base=rpc("X", 1, "0-5"))
    assert (row.status, row.message_name, row.message.partition(" had ")[0]) == ("wrong", "XResponse", "versions 0-2")


def test_a_header_that_is_only_declared_changes_nothing() -> None:
    head = rpc("X", 1, "0-5", headerVersions={"0-2": "1", "3+": "2"})[0], rpc("X", 1, "0-5")[1]
    assert row_of(*head, base=rpc("X", 1, "0-5")).status == "missing"


def test_an_unstable_version_may_take_the_header() -> None:
    unstable = {"latestVersionUnstable": True}
    base = (rpc("X", 1, "0-5", **unstable)[0], rpc("X", 1, "0-5")[1])
    headers = {"0-2": "1", "3-4": "2", "5+": "3"}
    head = (rpc("X", 1, "0-5", headerVersions=headers, **unstable)[0], rpc("X", 1, "0-5")[1])
    for row in (row_of(*head, base=base), row_of(*head)):
        assert (row.status, row.rule, row.pointer) == ("unstable", "kip-1313/v3-missing", "/latestVersionUnstable")
        assert row.message == "version 5 of X uses header 3, but is unstable: no broker offers it yet"


def test_an_unstable_version_above_one_that_has_the_header() -> None:
    head = (rpc("X", 1, "0-7", headerVersions=V3, latestVersionUnstable=True)[0], rpc("X", 1, "0-7")[1])
    assert row_of(*head).status == "done"
    first = (rpc("X", 1, "0", headerVersions={"0+": "3"}, flexibleVersions="0+", latestVersionUnstable=True)[0],)
    assert row_of(*first, rpc("X", 1, "0", flexibleVersions="0+")[1], base=()).status == "unstable"


def test_a_response_that_lags_is_wrong() -> None:
    head = (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-5")[1])
    for row, half in ((row_of(*head), "XResponse"), (row_of(*head, base=rpc("X", 1, "0-5")), "XRequest")):
        assert (row.status, row.rule, row.message_name) == ("wrong", "rpc/versions-differ", half)
        assert row.message == "XRequest has versions 0-6, XResponse has 0-5; change the two together"


@pytest.mark.parametrize(("half", "what"), [(0, "response"), (1, "request")])
def test_half_an_rpc_is_wrong(half: int, what: str) -> None:
    row = row_of(rpc("X", 1, "0-5")[half])
    assert (row.status, row.rule, f" has no {what}: " in row.message) == ("wrong", f"rpc/{what}-missing", True)


def test_new() -> None:
    head = (rpc("X", 1, "0-1", headerVersions={"0+": "3"}, flexibleVersions="0+")[0], rpc("X", 1, "0-1")[1])
    row = row_of(*head, base=())
    assert (row.status, row.base_versions, row.message) == ("new", "", "new, with header 3 from version 0")
    row = row_of(*rpc("X", 1, "0-1", flexibleVersions="0+"), base=())
    assert (row.status, row.rule) == ("missing", "kip-1313/v3-missing")
    assert row.message == "X is new, but version 0 uses header 2; start with header 3"


def test_exempt() -> None:
    sasl: dict[str, Any] = {"name": "SaslHandshake", "key": 17, "valid": "0-1", "flexibleVersions": "none"}
    assert row_of(*rpc(**sasl)).status == "exempt"
    assert row_of(*rpc(**sasl), base=rpc(**sasl)).message == EXEMPT


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"valid": "0-2"},
            "here it has versions 0-2",
        ),
        ({"headerVersions": {"0+": "2"}}, "here it has header 2"),
        ({"flexibleVersions": "1+"}, "here it is flexible in 1"),
    ],
)
def test_the_frozen_rpc_changed_is_wrong(changes: dict[str, Any], expected: str) -> None:
    sasl: dict[str, Any] = {"name": "SaslHandshake", "key": 17, "valid": "0-1", "flexibleVersions": "none"}
    base = rpc(**sasl)
    for row in (row_of(*rpc(**{**sasl, **changes})), row_of(*rpc(**{**sasl, **changes}), base=base)):
        assert (row.status, row.rule) == ("wrong", "kip-1313/frozen-rpc")
        assert row.message.endswith(expected)


def test_dead() -> None:
    dead = rpc("X", 1, "none", flexibleVersions="none")
    for row in (row_of(*dead), row_of(*dead, base=rpc("X", 1, "0-5"))):
        assert (row.status, row.versions, row.header_versions, row.message) == (
            "dead",
            "none",
            {},
            "no valid version is left",
        )
    row = row_of(base=dead)
    assert (row.status, row.rule, row.message) == ("dead", "", "no valid version was left, and now the file is gone")


def test_an_rpc_that_was_deleted_is_wrong() -> None:
    row = row_of(base=rpc("X", 1, "0-5"))
    assert (row.status, row.base_versions, row.versions, row.message) == ("wrong", "0-5", "none", RETIRE)
    assert (row.rule, row.path, row.pointer) == ("compat/message-removed", "XRequest.json", "/name")


@pytest.mark.parametrize("is_gone", [True, False])
def test_the_frozen_rpc_stays(is_gone: bool) -> None:
    base = rpc("SaslHandshake", 17, "0-1", flexibleVersions="none")
    row = row_of(*(() if is_gone else rpc("SaslHandshake", 17, "none", flexibleVersions="none")), base=base)
    assert (row.status, row.rule) == ("wrong", "kip-1313/frozen-rpc")
    assert row.message == (
        f"{NOT_IN_HEAD}; it is frozen at versions 0-1 and must stay"
        if is_gone
        else "SaslHandshake is frozen at versions 0-1 and must stay; it has no valid version"
    )


# Done too early


def done_rpc(name: str = "X", key: int = 1, *fields: dict[str, Any], **others: Any) -> tuple[Message, Message]:
    """An RPC whose version 6 has header 3; the fields are the request's."""
    same: dict[str, Any] = {"apiKey": key, "validVersions": "0-6"}
    request = message(*fields, name=f"{name}Request", **{"headerVersions": V3, **same, **others})
    return request, message(name=f"{name}Response", type="response", **same)


@pytest.mark.parametrize(
    ("header", "status", "rule", "expected"),
    [
        (None, "missing", "v3-missing", "it uses header 3, but the set has no RequestHeader: add one with "),
        (request_header("1-2"), "wrong", "header-unknown", "there is no RequestHeader version 3; its valid versions "),
        (
            request_header("1-3", field("ClientId", "string")),
            "wrong",
            "request-header-v3",
            "it uses header 3, but RequestHeader has to carry ClientInstanceId, a uuid in versions 3+",
        ),
        (
            request_header("1-3", field("ClientInstanceId", "string", "3+")),
            "wrong",
            "request-header-v3",
            "it uses header 3, but ClientInstanceId",
        ),
    ],
)
def test_the_request_header_itself_comes_first(header: Message | None, status: str, rule: str, expected: str) -> None:
    head = (*done_rpc(), *([header] if header else []))
    for base in (None, SchemaSet(rpc("X", 1, "0-5"))):
        (row,) = rollout(SchemaSet(head), base)
        assert (row.status, row.rule) == (status, f"kip-1313/{rule}")
        assert row.message.startswith(expected)
    new = done_rpc(flexibleVersions="0+", headerVersions={"0+": "3"})
    assert rollout(SchemaSet((*new, *([header] if header else []))), SchemaSet(()))[0].status == status


def test_no_header_is_required_of_sets_before_the_kip() -> None:
    (row,) = rollout(SchemaSet(rpc("X", 1, "0-5")), None, 2)
    assert (row.status, row.message) == ("done", "version 5 uses header 2")


def test_a_header_that_does_not_exist_is_wrong() -> None:
    headers = {**V3, "6+": "4"}
    request = rpc("X", 1, "0-6", headerVersions=headers)[0]
    response = rpc("X", 1, "0-6", headerVersions={"0-2": "0", "3+": "2"})[1]
    for head, output in (
        ((request, rpc("X", 1, "0-6")[1]), "there is no RequestHeader version 4; its valid versions are 1-3"),
        ((done_rpc()[0], response), "there is no response header 2; the highest is 1"),
    ):
        row = row_of(*head)
        assert (row.status, row.rule, row.message) == ("wrong", "kip-1313/header-unknown", output)
    alone = rpc("X", 1, "0-6", headerVersions=headers)[0]
    (row,) = rollout(SchemaSet((alone, rpc("X", 1, "0-6")[1])))
    assert (row.status, row.message) == ("wrong", "there is no request header 4; the highest is 3")


def offsets(valid: str = "0-1", **others: Any) -> tuple[Message, Message]:
    same = {name: others[name] for name in ("flexibleVersions",) if name in others}
    request = rpc("OffsetDelete", 47, valid, **{"flexibleVersions": "1+", **others})[0]
    return request, rpc("OffsetDelete", 47, valid, **{"flexibleVersions": "1+", **same})[1]


@pytest.mark.parametrize(
    ("head", "rule", "expected"),
    [
        (
            offsets(headerVersions={"0": "1", "1+": "3"}, flexibleVersions="none"),
            "body-not-flexible",
            "OffsetDeleteRequest is not flexible in 1, but request header 3 is",
        ),
        (
            offsets(headerVersions={"0": "1", "1+": "2"}),
            "offset-delete",
            "OffsetDelete must not use request header 2: ",
        ),
        (offsets(), "offset-delete", "OffsetDelete must not use request header 2: "),
        (
            offsets("0-2", headerVersions={"0": "1", "1": "2", "2+": "3"}),
            "offset-delete",
            "OffsetDelete must not use request header 2: ",
        ),
    ],
)
def test_offset_delete_becomes_flexible_with_header_3(head: tuple[Message, ...], rule: str, expected: str) -> None:
    for base in (None, rpc("OffsetDelete", 47, "0", flexibleVersions="none")):
        row = row_of(*head, base=base)
        assert (row.status, row.rule) == ("wrong", f"kip-1313/{rule}")
        assert row.message.startswith(expected)


def test_offset_delete_of_a_fork_that_has_released_header_2() -> None:
    head = offsets("0-2", headerVersions={"0": "1", "1": "2", "2+": "3"})
    assert row_of(*head, base=offsets()).status == "done"
    assert row_of(*offsets(headerVersions={"0": "1", "1+": "3"})).status == "done"


def telemetry(name: str, headers: dict[str, str], versions: str = "0", response: str = "") -> tuple[Message, Message]:
    key = {"GetTelemetrySubscriptions": 71, "PushTelemetry": 72}[name]
    same: dict[str, Any] = {"apiKey": key, "validVersions": "0-1", "flexibleVersions": "0+"}
    request = message(
        field("ClientInstanceId", "uuid", versions), name=f"{name}Request", headerVersions=headers, **same
    )
    fields = [field("ClientInstanceId", "uuid", response)] if response else []
    return request, message(*fields, name=f"{name}Response", type="response", **same)


@pytest.mark.parametrize("name", ["GetTelemetrySubscriptions", "PushTelemetry"])
def test_a_telemetry_rpc_has_the_id_in_one_place(name: str) -> None:
    good = {"0": "2", "1+": "3"}
    assert row_of(*telemetry(name, good)).status == "done"
    bare = row_of(*telemetry(name, {"0+": "2"}))
    assert (bare.status, bare.rule) == ("wrong", "kip-1313/telemetry-header")
    assert bare.message == (
        f"{name}Request 1 has no client instance id: the body lacks it, and request header 2 has none"
    )
    twice = row_of(*telemetry(name, good, "0+"))
    assert (twice.status, twice.rule) == ("wrong", "kip-1313/telemetry-fields")
    assert twice.message.startswith(f"{name}Request has ClientInstanceId in version 0 only, not in 0+")


def test_the_telemetry_response_drops_the_id_too() -> None:
    row = row_of(*telemetry("GetTelemetrySubscriptions", {"0": "2", "1+": "3"}, response="0+"))
    assert (row.status, row.rule, row.path) == (
        "wrong",
        "kip-1313/telemetry-fields",
        "GetTelemetrySubscriptionsResponse.json",
    )


def test_a_body_field_that_comes_with_the_header_is_noted() -> None:
    row = row_of(*done_rpc("X", 1, field("Old"), field("New", "int32", "6+")), base=rpc("X", 1, "0-5"))
    note = "note: version 6 also brings New in the request, which KIP-1313 does not"
    assert (row.status, row.note, row.message) == ("done", note, f"version 6 uses header 3; {note}")
    assert json.loads(msgspec.json.encode(rollout_document([row], 3)))["rpcs"][0]["note"] == note
    assert row_of(*done_rpc("X", 1, field("Old"), field("Older", "int32", "5+"))).note == ""
    other_row = row_of(*done_rpc("OffsetDelete", 47, field("New", "int32", "6+")), base=offsets("0-5"))
    assert other_row.note == ""


def test_coordinator_records_are_not_rpcs() -> None:
    key = message(field(versions="0"), name="XKey", type="coordinator-key", validVersions="0", flexibleVersions="none")
    value = message(field(), name="XValue", type="coordinator-value")
    assert rollout(SchemaSet((key, value))) == []


UNSTABLE: dict[str, Any] = {"latestVersionUnstable": True}
TWO = {"0-2": "1", "3-5": "2", "6+": "4"}


@pytest.mark.parametrize(
    ("sentence", "head", "status"),
    [
        ("An RPC is not done while its version with the new header is unstable", done_rpc(**UNSTABLE), "unstable"),
        ("nor while RequestHeader has no version 3", (*done_rpc(), request_header("1-2")), "wrong"),
        ("with ClientInstanceId", (*done_rpc(), request_header("1-3", field("ClientId", "string"))), "wrong"),
        ("It is wrong if a header version does not exist", done_rpc(headerVersions=TWO), "wrong"),
        ("however many RPCs use it", (*done_rpc(headerVersions=TWO), *done_rpc("Y", 2, headerVersions=TWO)), "wrong"),
        ("if the body is not flexible with header 3", done_rpc(flexibleVersions="none"), "wrong"),
        ("if OffsetDelete uses header 2", offsets(), "wrong"),
        ("if the files of an RPC were deleted", (), "wrong"),
        ("To retire an RPC, keep the files", rpc("X", 1, "none", flexibleVersions="none"), "dead"),
    ],
)
def test_each_sentence_of_the_guide(sentence: str, head: tuple[Message, ...], status: str) -> None:
    header = () if any(message.name == "RequestHeader" for message in head) else (HEADER,)
    base = offsets() if sentence.startswith("if the files") else ()
    rows = rollout(SchemaSet((*head, *header)), SchemaSet(base) if base else None)
    assert {row.status for row in rows} == {status}


# What is written


def test_no_rpcs() -> None:
    assert closing(rollout(SchemaSet(())), 3) == "Request header 3: no RPCs."


# The whole of a sentence, not a part of it (KIP-1313)


def tree(**sets: tuple[Message, ...]) -> Tree:
    return Tree("", {name: SchemaSet(messages, name) for name, messages in sets.items()}, {})


def rows_of_trees(head: Tree, base: Tree | None = None) -> list[tuple[str, str]]:
    return [(row.name, row.status) for row in rollout_of_trees(head, base, 3, rollout_rules(3), None)]


def test_every_rpc_of_every_set_is_a_row() -> None:
    done = (rpc("X", 1, "0-6", headerVersions=V3)[0], rpc("X", 1, "0-6")[1])
    lags = rpc("Vote", 52, "0-5")
    assert rows_of_trees(tree(clients=(*done, HEADER), raft=lags)) == [("Vote", "missing"), ("X", "done")]
    old = tree(clients=(*rpc("X", 1, "0-5"), HEADER), raft=lags)
    assert rows_of_trees(tree(clients=(*done, HEADER), raft=lags), old) == [("Vote", "missing"), ("X", "done")]


def test_an_rpc_that_moves_to_another_set_is_neither_new_nor_gone() -> None:
    x, y = rpc("X", 1, "0-5"), rpc("Y", 2, "0-5")
    old, new = tree(a=(*x, *y, HEADER), b=(HEADER,)), tree(a=(*y, HEADER), b=(*x, HEADER))
    assert rows_of_trees(new, old) == [("X", "missing"), ("Y", "missing")]


def test_version_0_of_telemetry_does_not_have_the_id_twice() -> None:
    row = row_of(*telemetry("PushTelemetry", {"0+": "3"}))
    assert (row.status, row.rule) == ("wrong", "kip-1313/telemetry-header")
    assert row.message == (
        "PushTelemetryRequest 0 has the client instance id twice: in the body, and in request header 3"
    )


@pytest.mark.parametrize("base", [None, ()])
def test_a_new_rpc_with_an_unstable_version_alone_is_unstable(base: tuple[Message, ...] | None) -> None:
    others: dict[str, Any] = {"headerVersions": {"0+": "3"}, "flexibleVersions": "0+", "latestVersionUnstable": True}
    assert row_of(rpc("X", 1, "0", **others)[0], rpc("X", 1, "0", flexibleVersions="0+")[1], base=base).status == (
        "unstable"
    )


def test_version_1_of_offset_delete_is_its_first_flexible_one() -> None:
    others: dict[str, Any] = {"headerVersions": {"0-1": "1", "2+": "3"}, "flexibleVersions": "2+"}
    head = (rpc("OffsetDelete", 47, "0-2", **others)[0], rpc("OffsetDelete", 47, "0-2", flexibleVersions="2+")[1])
    for base in (None, rpc("OffsetDelete", 47, "0", flexibleVersions="none")):
        row = row_of(*head, base=base)
        assert (row.status, row.rule, row.pointer) == ("wrong", "kip-1313/offset-delete", "/flexibleVersions")


@pytest.mark.parametrize("headers", [(), (request_header("0-3"),)])
def test_request_header_0_is_only_for_version_0_of_controlled_shutdown(headers: tuple[Message, ...]) -> None:
    def errors(name: str, key: int, ranges: dict[str, str]) -> list[str]:
        request = rpc(name, key, "0-6", headerVersions=ranges)[0]
        entries = SchemaSet((request, *headers)).messages[0].header_ranges
        found = rules_of(Config(select=["kip-1313"])).violations("header_range", entries)
        return [item.message for item in found if item.rule.id == "kip-1313/header-unknown"]

    zero = ["version 0 of the request header is no longer used; only version 0 of ControlledShutdown had it"]
    ranges = {"0": "0", "1-2": "1", "3-5": "2", "6+": "3"}
    assert errors("X", 1, ranges) == zero
    assert errors("ControlledShutdown", 7, ranges) == []
    assert errors("ControlledShutdown", 7, {"0-1": "0", **dict([*ranges.items()][2:])}) == zero
