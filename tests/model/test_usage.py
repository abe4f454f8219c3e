"""What other RPCs make of the name of a field."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.model.fields import Field
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.usage import Vote, Votes, uses_of
from kiplint.model.words import doubled_texts, join_texts, tokens_of
from tools import field, message


def of(name: str, *fields: dict[str, object], half: str = "Request") -> Message:
    return message(*fields, name=f"{name}{half}", type=half.lower())


def only(*others: Message, **properties: Any) -> Field:
    """The field ReaderId of the RPC Own, in a set with the others."""
    mine = message(field("ReaderId", **properties), name="OwnRequest")
    SchemaSet((mine, *others))
    return mine.fields[0]


def test_an_rpc_has_one_vote_for_each_type() -> None:
    twice = [of("A", field("ReaderId", "int64")), of("A", field("ReaderId", "int64"), half="Response")]
    item = only(*twice, of("B", field("ReaderId", "int32")), of("C", field("ReaderId", "int64")), kind="string")
    assert (item.usual_type, item.type_votes, item.type_dissent) == ("int64", 2, 1)


def test_its_own_rpc_has_none() -> None:
    item = only(of("Own", field("ReaderId", "int64"), half="Response"), of("B", field("Other")))
    assert (item.usual_type, item.type_votes, item.type_dissent) == ("", 0, 0)


def test_structs_and_dead_messages_do_not_count() -> None:
    dead = message(field("ReaderId", "int64"), name="DRequest", validVersions="none", flexibleVersions="none")
    item = only(of("A", field("ReaderId", "S", fields=[field("X")])), dead)
    assert (item.usual_type, item.type_votes) == ("", 0)
    assert [peer.message.name for peer in item.peers] == ["ARequest"]


def test_who_makes_two_things_of_a_name_is_of_both_minds() -> None:
    both = of("A", field("S", "S", fields=[field("ReaderId", "int64")]), field("ReaderId", "int32"))
    item = only(both, of("B", field("ReaderId", "int64")))
    assert (item.usual_type, item.type_votes, item.type_dissent) == ("int64", 2, 1)


def test_entity_types_of_fields_of_the_same_type() -> None:
    broker = {"entityType": "brokerId"}
    others = [of(name, field("ReaderId", "[]int32", **broker)) for name in "AB"]
    item = only(*others, of("C", field("ReaderId", "int32")), of("D", field("ReaderId", "string")))
    assert (item.usual_entity, item.entity_votes, item.entity_dissent) == ("brokerId", 2, 1)


def test_spellings() -> None:
    item = only(*[of(name, field("readerId")) for name in "ABC"], of("D", field("ReaderId")))
    assert (item.usual_case, item.case_votes, item.own_case_votes) == ("readerId", 3, 2)
    assert only(of("A", field("ReaderId"))).usual_case == ""


def test_acronyms() -> None:
    names = {"LastKnownELR": "ELR", "ISRChange": "ISR", "S3Object": "", "ClusterId": "", "ABus": "", "TopicIDs": "ID"}
    assert {item.name: item.acronym for item in message(*[field(name) for name in names]).fields} == names


def test_later_and_everywhere() -> None:
    whole = message(
        field("A"),
        field("B", versions="1+"),
        field(
            "C", "[]S", "2+", fields=[field("D", versions="2+"), field("E", versions="3+"), field("F", versions="0+")]
        ),
        field("G", versions="0-1"),
    )
    result = {item.name: (item.is_later, item.is_everywhere) for item in whole.all_fields}
    assert result == {
        "A": (False, True),
        "B": (True, False),
        "C": (True, False),
        "G": (False, False),
        "D": (False, True),
        "E": (True, False),
        "F": (False, True),
    }


def test_only_the_names_of_requested_files_count() -> None:
    messages = [of("A", field("ReaderId"), field("Other")), of("B", field("readerId")), of("C", field("Third"))]
    assert sorted(uses_of(messages, {messages[0].file})) == ["Other", "ReaderId", "readerId"]
    assert sorted(uses_of(messages, {item.file for item in messages})) == sorted(uses_of(messages))


def votes(uses: list[tuple[str, Any]], own: str) -> Vote:
    """What the definition of a vote says: every use is read again."""
    by_rpc: dict[str, set[str]] = {}
    for rpc, value in uses:
        if rpc != own:
            by_rpc.setdefault(rpc, set()).add(value)
    counts = Counter(value for values in by_rpc.values() for value in sorted(values))
    if not counts:
        return Vote()
    value = max(counts, key=counts.__getitem__)
    return Vote(value, counts[value], sum(values != {value} for values in by_rpc.values()))


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("xyz")), max_size=12), st.sampled_from("ABCDE"))
def test_the_own_vote_is_subtracted(uses: list[tuple[str, Any]], own: str) -> None:
    assert Votes(uses, str).without(own) == votes(uses, own)


def test_uses_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each name, and not for each field of that name."""
    calls = []
    monkeypatch.setattr(
        Votes, "__init__", lambda tally, uses, value_of, init=Votes.__init__: calls.append(init(tally, uses, value_of))
    )
    messages = [of(f"R{n}", field("ReaderId"), field("Other")) for n in range(9)]
    SchemaSet(tuple(messages))
    assert {item.fields[0].type_votes for item in messages} == {8}
    assert len(calls) == 1


def test_spellings_are_compared_once() -> None:
    ways = SchemaSet((of("A", field("readerId")), of("B", field("ReaderId")))).spellings
    assert ways["readerId"] is ways["ReaderId"]


class UnslicedWords(list[bytes]):
    """Words that are gone through once, and not from the beginning for each of them."""

    def __getitem__(self, key: Any) -> Any:
        assert not isinstance(key, slice)
        return super().__getitem__(key)


def test_doubled_words_are_placed_in_one_pass() -> None:
    texts = [f"the {'the' if number % 2 else 'a'} {number}" for number in range(6)]
    tokens = tokens_of(join_texts(texts))
    assert doubled_texts(texts, UnslicedWords(tokens)) == {"the the 1", "the the 3", "the the 5"}
