"""The words of a set."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.model import words as spelling
from kiplint.model.schemas import SchemaSet
from kiplint.model.words import Near, Vocabulary, edit, is_one_edit, nearly
from tools import field, message

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
    made = message(field("BrokerRack", about="Racks, the rack; BROKER, broker.rack"), name="RackRequest")
    words = Vocabulary([made])
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
    made = message(field("Thier", about="Clas of the right."))
    try:
        assert Vocabulary([made]).corrections == {"thier": "their, there"}
        monkeypatch.setattr(sys, "path", [])
        spelling.misspellings.cache_clear()
        assert Vocabulary([made]).corrections == {}
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
    made = message(field(about=text), name="ARequest")
    SchemaSet((made, message(field("Other", about="is is"), name="BRequest")))
    assert [word.word for word in made.odd_words] == twice
