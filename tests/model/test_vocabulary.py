"""The words of a set."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.model import dictionary
from kiplint.model.schemas import SchemaSet
from kiplint.model.vocabulary import corrections, edit, is_one_edit, nearly
from tools import field, message

words = st.text("abc", min_size=1, max_size=6)


@given(words, words)
def test_one_edit_is_the_same_both_ways(one: str, two: str) -> None:
    assert is_one_edit(one, two) == is_one_edit(two, one)
    assert not is_one_edit(one, one)


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        ("partiton", "partition", "length"),
        ("transactions", "transaction", "ending"),
        ("topci", "topic", "traded"),
        ("requestor", "requester", "vowel"),
        ("chance", "change", "consonant"),
        ("topis", "topic", "ending"),
    ],
)
def test_edits(one: str, two: str, kind: str) -> None:
    assert is_one_edit(one, two)
    assert edit(one, two) == kind


@given(st.sampled_from(["partition", "leader", "transaction"]), st.integers(0, 20), st.sampled_from("xq"))
def test_whatever_letter_is_too_many_is_found(word: str, place: int, letter: str) -> None:
    wrong = word[:place] + letter + word[place:]
    assert nearly({word: 40, wrong: 1})[wrong].word == word


def test_what_is_not_rare_is_no_slip() -> None:
    assert nearly({"leader": 40, "header": 11}) == {}
    assert nearly({"leader": 7, "leeader": 1}) == {}


def test_words_of_a_set() -> None:
    first = message(*[field(f"BrokerRack{n}", about="The broker's rack.") for n in range(8)], name="ARequest")
    second = message(field("Rackk", about="The brokre and and its rack"), name="BRequest")
    SchemaSet((first, second))
    assert first.odd_words == ()
    assert [(one.word, one.is_doubled, one.meant_word, one.meant_count) for one in second.odd_words] == [
        ("brokre", False, "broker", 16),
        ("and", True, "", 0),
    ]


def test_the_dictionary_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "codespell_lib/data/dictionary.txt"
    file.parent.mkdir(parents=True)
    file.write_text("abandonned->abandoned\nclas->class, disabled because\nthier->their, there,\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    dictionary.misspellings.cache_clear()
    try:
        assert corrections(["thier", "clas", "right"]) == {"thier": "their, there"}
        monkeypatch.setattr(sys, "path", [])
        dictionary.misspellings.cache_clear()
        assert corrections(["thier"]) == {}
    finally:
        dictionary.misspellings.cache_clear()
