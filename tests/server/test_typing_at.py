"""Where something is being typed, in texts that are never whole."""

import pytest

from kiplint.server.completion import typing_at

CASES = {
    '{ "ty|"': ("key", "", ""),
    '{ "type": "req|"': ("value", "", "type"),
    '{ "type": |': ("value", "", "type"),
    '{ "listeners": ["br|"] }': ("value", "/listeners", "listeners"),
    '{ "fields": [ { "name": "A", | } ] }': ("key", "/fields/0", ""),
    '{ "fields": [ {}, { "type": "|" } ] }': ("value", "/fields/1", "type"),
    '{ "fields": [ { "fields": [ { "ignorable": tr|': ("value", "/fields/0/fields/0", "ignorable"),
    '{ "name": "X" } |': None,
    "| {": None,
    '{ "name": "X" // a note|\n}': None,
    '{ "a": "x // no note|" }': ("value", "", "a"),
    '{ "type": "req|\n "name": 1 }': ("value", "", "type"),
}


@pytest.mark.parametrize("text", CASES)
def test_place(text: str) -> None:
    result = typing_at(text.replace("|", ""), text.index("|"))
    assert (result and (result.role, result.pointer, result.key)) == CASES[text]


def test_the_keys_around_and_what_is_replaced() -> None:
    text = '{ "name": "X", "ty", "fields": [ { "tag": 1 } ], "apiKey": 1 }'
    result = typing_at(text, text.index("ty") + 2)
    assert result.keys == {"name", "fields", "apiKey"}
    assert text[result.start : result.end] == '"ty"'


def test_nothing_falls_over_at_any_place() -> None:
    text = '{ "a": [1, {"b": \'x\'}, "c, // no\n], // yes\n "d": tru }\n]]} {'
    places = [typing_at(text, offset) for offset in range(len(text) + 1)]
    assert {place.pointer for place in places if place} == {"", "/a", "/a/1"}
