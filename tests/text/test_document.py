"""Documents with definitions in them: what a reader sees, and where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.document import find_blocks, read_document

PIECES = [
    *('"', "{", "}", "<pre>", "</pre>", "<br/>", "&quot;", "&nbsp;", "a", "\n", "“", "”", "//", "/*", "*/", "> ", ":"),
    *('"validVersions": "0"', '"name": "X"', "<!--", "-->", "<![CDATA[", "]]>", "\\", ","),
]
MARKUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)

DEFINITION = '{ "name": "X", "validVersions": "0" }'


def test_plain_text_keeps_its_places() -> None:
    text = "A\u00a0b\u200b\n> {“x”}\n"
    assert read_document(text).plain == "A b \n  {“x”}\n"


def test_html_as_it_is_shown() -> None:
    page = read_document("<p>a&lt;b</p><pre>{<br />&nbsp;&quot;x&quot;&#58; 1}</pre><script>{</script><!-- { -->")
    assert page.plain == '\na<b\n\n{\n "x": 1}\n'
    start = page.plain.index('"x"')
    assert page.span(start, start + 3) == (1, 32, 1, 45)
    assert page.span(start, start) == (1, 32, 1, 32)


@given(MARKUP)
def test_every_place_is_in_the_text(text: str) -> None:
    document = read_document(text)
    assert len(document.offsets) == len(document.plain) + 1
    assert list(document.offsets) == sorted(document.offsets)
    assert document.offsets[-1] == len(text)
    result = find_blocks(document.plain)
    last = 0
    for block in result.blocks:
        assert last <= block.start < block.end <= len(document.plain)
        assert len(block.text) == block.end - block.start
        place = document.span(block.start, block.end)
        assert place[:2] <= place[2:]
        last = block.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Prose with {{braces}} and 5\" of rain.\n{DEFINITION} more", [DEFINITION]),
        (f"```json\n{DEFINITION}\n```\n[{DEFINITION}, {DEFINITION}]", [DEFINITION] * 3),
        ('{ "before": ' + DEFINITION + "}", [DEFINITION]),
        ("{ “name”: “X”, “validVersions”: “0” }", [DEFINITION]),
        ('{ "about": "the “X” of {", "validVersions": "0" }', ['{ "about": "the “X” of {", "validVersions": "0" }']),
        ('{ "about": "one\ntwo", "validVersions": "0" }', ['{ "about": "one two", "validVersions": "0" }']),
        ('{ // a } and a "\n "validVersions": "0" /* } */ }', ['{ // a } and a "\n "validVersions": "0" /* } */ }']),
        ('{ "version": 1, "id": "x" }', []),
        ("path/* and { \"validVersions\": \"0\" }", ['{ "validVersions": "0" }']),
    ],
    ids=["prose", "fence and list", "inside", "curly", "curly in a string", "wrapped", "comments", "other", "glob"],
)  # fmt: skip
def test_definitions_are_found(text: str, expected: list[str]) -> None:
    assert [block.text for block in find_blocks(text).blocks] == expected


def test_one_that_does_not_close_ends_before_what_follows() -> None:
    text = '{ "name": "A", "validVersions": "0", "fields": [\n]'
    first, second = find_blocks(f"{text}\n\nThen comes prose.\n\n{DEFINITION}\n").blocks
    assert (first.text, second.text) == (text, DEFINITION)
    (block,) = find_blocks(f"```\n{text}\n```\n[1]\n").blocks
    assert block.text == text


def test_fields_outside_of_definitions() -> None:
    loose = '{ "name": "F", "type": "int8", "versions": "1+" }'
    text = f'{loose}\n{{ "validVersions": "0-1", "fields": [{loose}] }}\n{loose}'
    assert find_blocks(text).loose == (0, text.rindex("{"))


@pytest.mark.parametrize(
    "piece", ["{", '{"validVersions":', '"', "“", '{"a":"', "/*", "<!--", "<a ", "&quot;", "{/*", '"a\n', '\\"', "\\"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    document = read_document("<p></p>" + piece * 60_000)
    find_blocks(document.plain)
    find_blocks(piece * 60_000)


def test_what_a_quote_behind_backslashes_is() -> None:
    (block,) = find_blocks(f'C:\\\\"a" and \\"b {DEFINITION}').blocks
    assert block.text == DEFINITION
