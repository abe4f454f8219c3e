"""The definitions in documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.document import read_document

PIECES = [
    *('"', "{", "}", "a", "\n", "“", "”", "//", ":", '"validVersions": "0"', '"name": "X"', "\\", ",", "\u00a0"),
]
DEFINITION = '{ "name": "X", "validVersions": "0" }'


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_every_block_is_in_the_text(text: str) -> None:
    last = 0
    for block in read_document(text).blocks:
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
    assert [block.text for block in read_document(text).blocks] == expected


def test_entities_of_html_stand_for_characters() -> None:
    text = "<pre>{ &quot;name&quot;: &#34;X&#x22;, &quot;validVersions&quot;: &quot;0&quot; }</pre> " + DEFINITION
    escaped, plain = read_document(text).blocks
    assert (escaped.text, plain.text) == (DEFINITION, DEFINITION)
    assert text[escaped.start : escaped.end] == text[5 : text.index("</pre>")]
    assert text[escaped.offset(1, 3) :].startswith("&quot;name")
    assert text[plain.start :] == DEFINITION


def test_a_diff_is_read_as_it_is_afterwards() -> None:
    text = '```diff\n {\n-  "name": "Y",\n+  "name": "X",\n+  "validVersions": "0"\n }\n```\n'
    (block,) = read_document(text).blocks
    assert "".join(block.text.split()) == '{"name":"X","validVersions":"0"}'
    assert text[block.start : block.end].endswith("}")
    assert text[block.offset(3, 4) :].startswith('"name": "X"')


def test_fields_outside_of_a_definition() -> None:
    field = '{ "name": "A", "type": "int8", "versions": "1+" }'
    text = f'Add {field} to {"{"} "name": "X", "validVersions": "0", "fields": [{field}] {"}"} and &#38; {field}'
    assert read_document(text).fields == (4, text.rindex(field))


@pytest.mark.parametrize(
    "piece",
    ["&quot;", "```diff\n", "```diff\n```\n", "{", '{"validVersions":', '"', "“", '{"a":"', '"a\n', '\\"', "\\"],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    read_document(piece * 60_000)
