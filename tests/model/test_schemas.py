"""Schema sets, the RPCs in them, and what advice is made of: what is free, and who was there first."""

from __future__ import annotations

import pytest

from kiplint.model.definition import Definition
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc, schema_set


def key(name: str, number: int) -> Message:
    return message(name=f"{name}Key", type="coordinator-key", apiKey=number, validVersions="0")


def value(name: str, number: int) -> Message:
    return message(name=f"{name}Value", type="coordinator-value", apiKey=number, validVersions="0-1")


def test_rpcs_and_coordinator_records_pair_by_key() -> None:
    a, b = rpc("A", 7, "0-1"), rpc("B", 3, "0")
    result = schema_set(a[1], b[0], b[1], a[0], key("Offset", 3), value("Offset", 3), value("Group", 2))
    pairs = [(x.api_key, x.name, x.is_pair, x.is_coordinator, x.may_be_partial) for x in result.rpcs]
    assert pairs == [
        (2, "Group", False, True, False), (3, "Offset", True, True, False),
        (3, "B", True, False, False), (7, "A", True, False, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "common", "bumped", "dead"),
    [
        ("0-3", "0-2", "0-2", "response", False),
        ("0-2", "0-3", "0-2", "request", False),
        ("2-3", "0-1", "none", "response", False),
        ("none", "none", "none", "response", True),
    ],
)
def test_versions_of_a_pair(first: str, second: str, common: str, bumped: str, dead: bool) -> None:
    (request, _), (_, response) = rpc("A", 1, first), rpc("A", 1, second)
    (pair,) = schema_set(request, response).rpcs
    assert (str(pair.common_versions), pair.bumped_message.type, pair.is_dead) == (common, bumped, dead)


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
    assert (head.base is not None) is is_known


@pytest.mark.parametrize(
    ("tags", "free"),
    [
        ([0, 1], {}),
        ([0, 0], {1: 1}),
        ([0, 2, 2, 0], {2: 1, 3: 3}),
        ([None, 1, None], {0: 0, 2: 2}),
        ([-1, None], {1: 0}),
    ],
)
def test_each_field_that_needs_a_tag_gets_one_that_no_other_has(tags: list[int | None], free: dict[int, int]) -> None:
    fields = [field(f"F{n}", taggedVersions="3+", versions="3+", tag=tag) for n, tag in enumerate(tags)]
    assert message(*fields).free_tags == free


def make_request(name: str, file: str, valid: str) -> Definition:
    request = message(name=name, type="request", apiKey=1, validVersions=valid)
    return Definition(file, spec=request.spec)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("AddRequest", "AddRequest.json", "0"), ("FetchRequest", "FetchRequest.json", "0-9")),
        (("FetchRequest", "Fetch (1).json", "0-9"), ("FetchRequest", "FetchRequest.json", "0-9")),
        (("FetchRequest", "ARequest.json", "0-9"), ("FetchRequest", "FetchRequest.json", "0-9")),
    ],
)
def test_a_taken_key_is_blamed_on_the_newer_of_two(first: tuple[str, str, str], second: tuple[str, str, str]) -> None:
    definitions = make_request(*first), make_request(*second)
    new, old = SchemaSet(definitions).messages
    assert (new.api_key_owner, old.api_key_owner) == ("FetchRequest", "" if new.file_stem != new.name else "AddRequest")
    new, old = SchemaSet(definitions, base=SchemaSet((make_request(*second),))).messages
    assert (new.api_key_owner, old.api_key_owner) == ("FetchRequest", "")


def test_blame_among_fields_and_structs_goes_by_age() -> None:
    def make_message(*names: str) -> Message:
        fields = [field(name, tag=0, taggedVersions="3+", about=f"{name}.") for name in names]
        structs = [field(f"In{name}", "S", fields=fields) for name in names]
        return message(*fields, *structs)

    base, head = make_message("Old"), make_message("New", "Old")
    assert head.duplicate_tags == {1: "New"}
    assert set(head.duplicate_structs) == {"/fields/2", "/fields/3"}
    (head,) = SchemaSet((head,), base=SchemaSet((base,))).messages
    assert head.duplicate_tags == head.structs[0].duplicate_tags == {0: "Old"}
    assert {pointer: other.path for pointer, other in head.duplicate_structs.items()} == {"/fields/2": "InOld"}


@pytest.mark.parametrize(("index", "name"), [(0, "XRequest"), (1, "XResponse")])
def test_a_pair_that_differs_is_blamed_on_the_half_that_changed(index: int, name: str) -> None:
    base, head = rpc("X", 1, "0-3", flexibleVersions="2+"), list(rpc("X", 1, "0-3", flexibleVersions="2+"))
    head[index] = rpc("X", 1, "0-4", flexibleVersions="1+")[index]
    (pair,) = SchemaSet(head, base=SchemaSet(base)).rpcs
    messages = (pair.bumped_message, pair.reencoded_message, pair.renamed_message)
    assert [message.name for message in messages if message] == [name, name, "XRequest"]


def test_a_set_makes_its_own_messages() -> None:
    definitions = [message(name="ARequest"), message(name="BRequest", apiKey=2)]
    first = SchemaSet(definitions)
    messages, fields = first.messages, first.messages[0].fields
    second = SchemaSet(definitions[:1], base=first)
    assert [m.schemas for m in first.messages] == [first, first]
    assert first.messages == messages
    assert first.messages[0].fields is fields
    assert [(m.schemas, m.base) for m in second.messages] == [(second, messages[0])]
    assert [m.base for m in messages] == [None, None]


def test_the_set_decides_how_an_rpc_is_called() -> None:
    fork, api_versions = message(name="DropOffsetsRequest", apiKey=47), message(name="ApiVersionsRequest", apiKey=18)
    (alone_in_set,) = SchemaSet([fork]).messages
    assert alone_in_set.rpc_name == "DropOffsets"
    beside_api_versions, _ = SchemaSet([fork, api_versions]).messages
    assert beside_api_versions.rpc_name == "OffsetDelete"
    assert alone_in_set.rpc_name == "DropOffsets"


@pytest.mark.parametrize(
    ("file", "data", "names"),
    [
        ("a/XRequest.json", b"{", ("XRequest",)),
        ("copy.json", b'{ "name" : "XRequest", ', ("copy", "XRequest")),
    ],
)
def test_what_an_unread_file_is_probably_called(file: str, data: bytes, names: tuple[str, ...]) -> None:
    assert Definition(file, data).likely_names == names


@pytest.mark.parametrize(("unparsable", "partial"), [(["XResponse"], True), (["YResponse"], False), ([], False)])
def test_a_half_in_an_unparsable_file_is_not_missed(unparsable: list[str], partial: bool) -> None:
    (pair,) = SchemaSet((rpc("X", 1, "0")[0], *(Definition(f"{name}.json") for name in unparsable))).rpcs
    assert pair.may_be_partial is partial
