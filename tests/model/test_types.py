"""The notation of types."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kiplint.model.words import Near, Vocabulary, edit, is_one_edit, nearly

from kiplint.model import words as spelling
from kiplint.model.schemas import SchemaSet
from kiplint.model.types import INTEGERS, PRIMITIVES, nearest_primitive, parse_type
from tools import field, message


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_primitives(name: str) -> None:
    single, many = parse_type(name), parse_type(f"[]{name}")
    assert (single.element, single.array, single.primitive, single.struct) == (name, False, True, False)
    assert (many.element, many.array, many.primitive, many.struct) == (name, True, True, False)
    assert single.nullable is (name in ("string", "bytes", "records"))
    assert many.nullable


def test_there_are_twelve_primitives() -> None:
    assert len(PRIMITIVES) == 12


@pytest.mark.parametrize(
    ("text", "element", "array", "primitive", "struct"),
    [
        ("Topic", "Topic", False, False, True),
        ("[]Topic", "Topic", True, False, True),
        ("[] Topic", "Topic", True, False, True),
        (" int32 ", "int32", False, True, False),
        ("Int32", "Int32", False, False, True),
        ("T_1", "T_1", False, False, True),
        ("topic", "topic", False, False, False),
        ("INT 32", "INT 32", False, False, False),
        ("Über", "Über", False, False, False),
        ("", "", False, False, False),
        ("[]", "", True, False, False),
        ("[][]int32", "[]int32", True, False, False),
        ("int32[]", "int32[]", False, False, False),
        ("[int32]", "[int32]", False, False, False),
    ],
)
def test_parse_type(text: str, element: str, array: bool, primitive: bool, struct: bool) -> None:
    result = parse_type(text)
    assert (result.element, result.array, result.primitive, result.struct) == (element, array, primitive, struct)


def test_structs_can_be_null() -> None:
    assert parse_type("Topic").nullable
    assert not parse_type("topic").nullable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Int32", "int32"),
        ("INT64", "int64"),
        ("String", "string"),
        ("strng", "string"),
        ("int", "int32"),
        ("long", "int64"),
        ("Long", "int64"),
        ("short", "int16"),
        ("byte", "int8"),
        ("boolean", "bool"),
        ("double", "float64"),
        ("float32", "float64"),
        ("text", "string"),
        ("record", "records"),
        ("uiid", "uuid"),
        ("uint8", "int8"),
        ("int32", ""),
        ("Topic", ""),
        ("", ""),
    ],
)
def test_nearest_primitive(text: str, expected: str) -> None:
    assert nearest_primitive(text) == expected


def test_integers_have_their_edges() -> None:
    assert INTEGERS == {
        "int8": (-128, 127),
        "int16": (-32768, 32767),
        "uint16": (0, 65535),
        "int32": (-2147483648, 2147483647),
        "uint32": (0, 4294967295),
        "int64": (-9223372036854775808, 9223372036854775807),
    }


# The words of a set


words = st.text("abc", min_size=1, max_size=6)


@given(words, words)
def test_one_edit_is_the_same_both_ways(first: str, second: str) -> None:
    assert is_one_edit(first, second) == is_one_edit(second, first)
    assert not is_one_edit(first, first)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("partiton", "partition", "length"),
        ("transactions", "transaction", "ending"),
        ("topci", "topic", "traded"),
        ("requestor", "requester", "vowel"),
        ("chance", "change", "consonant"),
        ("topis", "topic", "ending"),
        ("leaderr", "leader", "length"),
    ],
)
def test_edits(first: str, second: str, kind: str) -> None:
    assert is_one_edit(first, second)
    assert edit(first, second) == kind


@given(st.sampled_from(["partition", "leader", "transaction"]), st.integers(0, 20), st.sampled_from("xq"))
def test_whatever_letter_is_too_many_is_found(word: str, place: int, letter: str) -> None:
    wrong = word[:place] + letter + word[place:]
    assert near({word: 40, wrong: 1})[wrong].word == word


def near(counts: dict[str, int]) -> dict[str, Near]:
    """By word: what is meant, where words are there so often."""
    return nearly(counts, counts, counts.__getitem__)


def test_frequent_words_are_not_misspellings() -> None:
    assert near({"leader": 40, "header": 11}) == {}
    assert near({"leader": 7, "leeader": 1}) == {}


def test_words_of_names_are_counted_too() -> None:
    request = message(field("BrokerRack", about="Racks, the rack; BROKER, broker.rack"), name="RackRequest")
    words = Vocabulary([request])
    assert [words.count(word) for word in ("rack", "racks", "broker", "roker")] == [4, 1, 2, 0]


def test_only_requested_elements_are_examined() -> None:
    fields = [field(f"BrokerRack{n}", about="The broker's rack.") for n in range(8)]
    first = message(*fields, field("Brokre", about="The the rack is is."), name="ARequest")
    second = message(field("Other"), name="BRequest")
    SchemaSet((first, second), selected=frozenset(["BRequest.json"]))
    assert first.schemas.vocabulary.near == {}
    assert second.odd_words == ()
    SchemaSet((first, second), selected=frozenset(["ARequest.json"]))
    vars(first).pop("odd_words", None)
    assert [word.word for word in first.odd_words] == ["brokre", "the", "is"]


def test_a_real_word_is_not_a_misspelling_of_another() -> None:
    texts = [field(f"F{n}", about="They alter it.") for n in range(40)] + [field("G", about="It comes later.")]
    assert "later" not in Vocabulary([message(*texts)]).near


def test_the_dictionary_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "codespell_lib/data/dictionary.txt"
    file.parent.mkdir(parents=True)
    file.write_text("abandonned->abandoned\nclas->class, disabled because\nthier->their, there,\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    spelling.misspellings.cache_clear()
    request = message(field("Thier", about="Clas of the right."))
    try:
        assert Vocabulary([request]).corrections == {"thier": "their, there"}
        monkeypatch.setattr(sys, "path", [])
        spelling.misspellings.cache_clear()
        assert Vocabulary([request]).corrections == {}
    finally:
        spelling.misspellings.cache_clear()


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("of the the leader", ["the"]),
        ("The the leader", ["the"]),
        ("The leader. Leader epochs", []),
        ("İ the the leader", ["the"]),  # in lower case it is a letter and a dot above
        ("a | bar the the", ["the"]),
    ],
)
def test_words_that_stand_there_twice(text: str, twice: list[str]) -> None:
    request = message(field(about=text), name="ARequest")
    SchemaSet((request, message(field("Other", about="is is"), name="BRequest")))
    assert [word.word for word in request.odd_words] == twice
