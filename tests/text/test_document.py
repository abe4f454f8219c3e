"""The definitions in documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.document import find_blocks

PIECES = [
    *('"', "{", "}", "a", "\n", "“", "”", "//", ":", '"validVersions": "0"', '"name": "X"', "\\", ",", "\u00a0"),
]
DEFINITION = '{ "name": "X", "validVersions": "0" }'


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_every_block_is_in_the_text(text: str) -> None:
    last = 0
    for block in find_blocks(text):
        assert last <= block.start < block.end <= len(text)
        assert len(block.text) == block.end - block.start
        last = block.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Prose with {{braces}} and 5\" of rain.\n{DEFINITION} more", [DEFINITION]),
        (f"```json\n{DEFINITION}\n```\n[{DEFINITION}, {DEFINITION}]", [DEFINITION] * 3),
        ('{ "before": ' + DEFINITION + "}", [DEFINITION]),
        ("{ “name”:\u00a0“X”, “validVersions”: “0” }", ['{ "name": "X", "validVersions": "0" }']),
        ('{ "about": "the “X” of {", "validVersions": "0" }', ['{ "about": "the “X” of {", "validVersions": "0" }']),
        ('{ "about": "one\ntwo", "validVersions": "0" }', ['{ "about": "one two", "validVersions": "0" }']),
        ('{ // a } and a "\n "validVersions": "0" }', ['{ // a } and a "\n "validVersions": "0" }']),
        ('{ "version": 1, "id": "x" }', []),
        ('{ "name": "X", "type": "data", "fields": [] }', ['{ "name": "X", "type": "data", "fields": [] }']),
        ('{ "validVersions": "0",\n' + DEFINITION, ['{ "validVersions": "0",\n', DEFINITION]),
    ],
    ids=["prose", "fence and list", "inside", "curly", "curly in a string", "wrapped", "comment", "other", "no versions", "unclosed"],
)  # fmt: skip
def test_definitions_are_found(text: str, expected: list[str]) -> None:
    assert [block.text for block in find_blocks(text)] == expected


@pytest.mark.parametrize("piece", ["{", '{"validVersions":', '"', "“", '{"a":"', '"a\n', '\\"', "\\"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    find_blocks(piece * 60_000)
