"""Facts that advice is made of: what a type means, what is free, who was there first, what is covered (issue 11)."""

from __future__ import annotations

import pytest

from kiplint.model.load import Definition
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc


@pytest.mark.parametrize(("tags", "free"), [([], 0), ([0, 1], 2), ([0, 2], 1), ([1], 0), ([0, 0], 1), ([-1], 0)])
def test_the_next_free_tag(tags: list[int], free: int) -> None:
    fields = [field(f"F{n}", tag=tag, taggedVersions="3+", versions="3+") for n, tag in enumerate(tags)]
    assert message(*fields).next_tag == free


def pairs(*keys: int) -> tuple[Message, ...]:
    return tuple(message for key in keys for message in rpc(f"R{key}", key, "0"))


def test_the_next_free_api_key() -> None:
    assert SchemaSet(pairs(0, 1, 7)).next_api_key == 8
    assert SchemaSet(()).next_api_key == 0


def make_request(name: str, file: str, valid: str) -> Message:
    request = message(name=name, type="request", apiKey=1, validVersions=valid)
    return Message(request.spec, file)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("AddRequest", "AddRequest.json", "0"), ("FetchRequest", "FetchRequest.json", "0-9")),
        (("FetchRequest", "Fetch (1).json", "0-9"), ("FetchRequest", "FetchRequest.json", "0-9")),
        (("FetchRequest", "ARequest.json", "0-9"), ("FetchRequest", "FetchRequest.json", "0-9")),
    ],
)
def test_a_taken_key_is_blamed_on_the_newer_of_two(first: tuple[str, str, str], second: tuple[str, str, str]) -> None:
    new, old = make_request(*first), make_request(*second)
    SchemaSet((new, old))
    assert (new.api_key_owner, old.api_key_owner) == ("FetchRequest", "" if new.file_stem != new.name else "AddRequest")
    new, old = make_request(*first), make_request(*second)
    SchemaSet((new, old), base=SchemaSet((make_request(*second),)))
    assert (new.api_key_owner, old.api_key_owner) == ("FetchRequest", "")


def test_blame_among_fields_and_structs_goes_by_age() -> None:
    def make_message(*names: str) -> Message:
        fields = [field(name, tag=0, taggedVersions="3+", about=f"{name}.") for name in names]
        structs = [field(f"In{name}", "S", fields=fields) for name in names]
        return message(*fields, *structs)

    base, head = make_message("Old"), make_message("New", "Old")
    assert head.duplicate_tags == {1: "New"}
    assert set(head.duplicate_structs) == {"/fields/2", "/fields/3"}
    SchemaSet((head,), base=SchemaSet((base,)))
    head = make_message("New", "Old")
    SchemaSet((head,), base=SchemaSet((base,)))
    assert head.duplicate_tags == head.structs[0].duplicate_tags == {0: "Old"}
    assert {pointer: other.path for pointer, other in head.duplicate_structs.items()} == {"/fields/2": "InOld"}


@pytest.mark.parametrize(("index", "name"), [(0, "XRequest"), (1, "XResponse")])
def test_a_pair_that_differs_is_blamed_on_the_half_that_changed(index: int, name: str) -> None:
    base, head = rpc("X", 1, "0-3", flexibleVersions="2+"), list(rpc("X", 1, "0-3", flexibleVersions="2+"))
    head[index] = rpc("X", 1, "0-4", flexibleVersions="1+")[index]
    (pair,) = SchemaSet(tuple(head), base=SchemaSet(base)).rpcs
    assert [half.name for half in (pair.bumped, pair.flexed, pair.renamed) if half] == [name, name, "XRequest"]
    assert pair.lagging is head[1 - index]


# Files that could not be read


@pytest.mark.parametrize(
    ("file", "data", "names"),
    [
        ("a/XRequest.json", b"{", ("XRequest",)),
        ("copy.json", b'{ "name" : "XRequest", ', ("copy", "XRequest")),
    ],
)
def test_what_an_unread_file_is_probably_called(file: str, data: bytes, names: tuple[str, ...]) -> None:
    assert Definition(file, data, None).likely_names == names


@pytest.mark.parametrize(("unparsable", "partial"), [(["XResponse"], True), (["YResponse"], False), ([], False)])
def test_a_half_in_an_unparsable_file_is_not_missed(unparsable: list[str], partial: bool) -> None:
    (pair,) = SchemaSet((rpc("X", 1, "0")[0],), unparsable_names=frozenset(unparsable)).rpcs
    assert pair.may_be_partial is partial
