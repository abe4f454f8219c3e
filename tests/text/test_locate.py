from __future__ import annotations

import pytest

from kiplint.text.tree import Locator

TEXT = """\
// licence
{
  "type": "data", "é": 1,
  "name": "Ünit", // "fields"
  "fields": [
    { "name": "A", "about": "größe", "tag": 0 },
    {
      "name": "B",
      "a/b": { "~": [ 1,
        2 ] }
    },
    [
      3 ]
  ]
}
"""


def member_text(text: str, pointer: str) -> str:
    start, end = Locator(text).reported_characters(pointer)
    return text[start:end]


@pytest.mark.parametrize(
    ("pointer", "expected", "span"),
    [
        ("", '"name": "Ünit"', (4, 3, 4, 17)),
        ("/type", '"type": "data"', (3, 3, 3, 17)),
        ("/fields", '"fields"', (5, 3, 5, 11)),
        ("/fields/0", '{ "name": "A", "about": "größe", "tag": 0 }', (6, 5, 6, 48)),
        ("/fields/0/tag", '"tag": 0', (6, 38, 6, 46)),
        ("/fields/1", '"name": "B"', (8, 7, 8, 18)),
        ("/fields/1/a~1b", '"a/b"', (9, 7, 9, 12)),
        ("/fields/1/a~1b/~0/1", "2", (10, 9, 10, 10)),
        ("/fields/2", "[", (12, 5, 12, 6)),
        # Nothing there: the nearest thing above.
        ("/absent", '"name": "Ünit"', (4, 3, 4, 17)),
        ("/fields/3/name", '"fields"', (5, 3, 5, 11)),
        ("/fields/1/versions", '"name": "B"', (8, 7, 8, 18)),
        ("/fields/00", '"fields"', (5, 3, 5, 11)),
        ("/fields/²", '"fields"', (5, 3, 5, 11)),
        ("/fields/99999999999999999999", '"fields"', (5, 3, 5, 11)),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_members(pointer: str, expected: str, span: tuple[int, int, int, int], newline: str) -> None:
    text = TEXT.replace("\n", newline)
    assert member_text(text, pointer) == expected
    assert Locator(text).span(pointer) == span


def test_broken_text() -> None:
    text = '{"name": "A",\n "fields": [{"tag": 1, "about": "x", "default"\n'
    assert member_text(text, "/fields/0/about") == '"about": "x"'
    assert member_text(text, "/fields/0/default") == '"default"'
    assert Locator(text).span("/fields/0/default") == (2, 38, 2, 47)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", ""),
        ("/name", "/name"),
        ("/fields/0", "/fields[A]"),
        ("/fields/0/tag", "/fields[A]/tag"),
        ("/fields/1/a~1b/~0/1", "/fields[B]/a~1b/~0/1"),
        ("/fields/2/0", "/fields/2/0"),
        ("/fields/7/name", "/fields/7/name"),
        ("/absent/0/x", "/absent/0/x"),
    ],
)
def test_names(pointer: str, expected: str) -> None:
    assert Locator(TEXT).named_pointer(pointer) == expected
