"""Schema sets and the RPCs in them."""

from __future__ import annotations

import pytest

from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc, schema_set


def pairs(schemas: SchemaSet) -> list[tuple[int, str | None, str | None]]:
    return [
        (x.api_key, x.request.name if x.request else None, x.response.name if x.response else None)
        for x in schemas.rpcs
    ]


def key(name: str, number: int) -> Message:
    return message(name=f"{name}Key", type="coordinator-key", apiKey=number, validVersions="0")


def value(name: str, number: int) -> Message:
    return message(name=f"{name}Value", type="coordinator-value", apiKey=number, validVersions="0-1")


def test_rpcs_pair_by_key() -> None:
    a, b = rpc("A", 7, "0-1"), rpc("B", 3, "0")
    result = schema_set(a[1], b[0], b[1], a[0])
    assert pairs(result) == [(3, "BRequest", "BResponse"), (7, "ARequest", "AResponse")]
    assert all(x.is_pair and not x.is_coordinator and not x.may_be_partial for x in result.rpcs)


def test_coordinator_records_pair_apart_from_rpcs() -> None:
    request, response = rpc("A", 1, "0")
    result = schema_set(key("Offset", 1), value("Offset", 1), request, response, value("Group", 2))
    assert pairs(result) == [(1, "OffsetKey", "OffsetValue"), (2, None, "GroupValue"), (1, "ARequest", "AResponse")]
    assert [(x.is_coordinator, x.name) for x in result.rpcs] == [(True, "Offset"), (True, "Group"), (False, "A")]


@pytest.mark.parametrize(
    ("first", "second", "common", "lagging", "dead"),
    [
        ("0-3", "0-3", "0-3", "response", False),
        ("0-3", "0-2", "0-2", "response", False),
        ("0-2", "0-3", "0-2", "request", False),
        ("2-3", "0-1", "none", "response", False),
        ("none", "0-1", "none", "request", False),
        ("none", "none", "none", "response", True),
    ],
)
def test_versions_of_a_pair(first: str, second: str, common: str, lagging: str, dead: bool) -> None:
    (request, _), (_, response) = rpc("A", 1, first), rpc("A", 1, second)
    (pair,) = schema_set(request, response).rpcs
    assert (str(pair.common), pair.lagging.type, pair.is_dead) == (common, lagging, dead)


def test_a_partial_set_says_so_of_its_rpcs() -> None:
    (pair,) = SchemaSet((message(),), "clients", single_file=True).rpcs
    assert pair.may_be_partial


@pytest.mark.parametrize(("zk_count", "others", "zookeeper"), [(1, 0, False), (2, 6, True), (2, 7, False)])
def test_a_set_of_zookeeper_names_it_in_a_quarter_of_its_requests(zk_count: int, others: int, zookeeper: bool) -> None:
    listeners = [["zkBroker", "broker"]] * zk_count + [["broker"]] * others
    requests = (rpc(f"A{key}", key, "0", listeners=names)[0] for key, names in enumerate(listeners, 100))
    assert schema_set(*requests).has_zookeeper is zookeeper


@pytest.mark.parametrize(
    ("key", "versions", "zookeeper"), [(4, "0-7", True), (7, "3", True), (6, "none", False), (8, "0", False)]
)
def test_a_set_of_zookeeper_has_the_rpcs_of_its_controller(key: int, versions: str, zookeeper: bool) -> None:
    requests = (rpc("A", key, versions, listeners=["zkBroker"])[0], rpc("B", 99, "0", listeners=["broker"])[0])
    assert schema_set(*requests).has_zookeeper is zookeeper


@pytest.mark.parametrize(
    ("name", "field_name", "is_known"),
    [("AlterPartition", "TopicName", True), ("MendGroup", "TopicName", True), ("MendGroup", "GroupId", False)],
)
def test_a_message_with_the_key_of_another_is_it_only_if_they_are_related(
    name: str, field_name: str, is_known: bool
) -> None:
    base = schema_set(message(field("TopicName"), name="AlterIsrRequest"))
    (head,) = SchemaSet((message(field(field_name), name=f"{name}Request"),), base=base).messages
    assert (head.former is not None) is is_known
