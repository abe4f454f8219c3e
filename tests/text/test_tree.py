from __future__ import annotations

import pytest
from hypothesis import given

from kiplint.limits import DEFINITION_LEVELS
from kiplint.text.tree import read_tree

from .support import documents, tree_value


def problems_in(text: str) -> list[tuple[str, str, str, str]]:
    """Kind, detail, pointer and the text at the span of each problem."""
    _, problems = read_tree(text)
    return [(p.kind, p.detail, p.pointer, text[p.start : p.end]) for p in problems]


VALUES = "; write a string in double quotes, a number, true, false or null"
ESCAPES = " in a string; write \\\\ for a backslash, \\t for a tab, and both halves of a surrogate pair"
INVALID = [
    ('{"a": 1\n "b": 2}', "expected ',' or '}' after the value of \"a\", found \"b\"", "/a", "1"),
    ("[1 2]", "expected ',' or ']' after the element, found '2'", "/0", "1"),
    ('{"a" = 1}', "expected ':' after \"a\", found '='", "/a", "="),
    ('{"a", "b": 1}', "expected ':' after \"a\", found ','", "/a", ","),
    ('{"a": }', "expected a value, found '}'", "/a", "}"),
    ('{"a": 1,, "b": 2}', "expected a property name in double quotes, found ','", "/a", ","),
    ("[,]", "expected a value, found ','", "/0", ","),
    ('["a": 1]', "expected ',' or ']' after the element, found ':'", "/0", '"a"'),
    ('{"a": [1, 2}', "expected ']' to close the array opened on line 1, found '}'", "/a/1", "}"),
    ('[\n{"a": 1,\n{"b": 2}]', "expected '}' to close the object opened on line 2, found '{'", "/0/a", "{"),
    ('{"a": [1', "expected ']' to close the array opened on line 1, found the end of the file", "/a/0", "1"),
    ('{"a": "b,\n"c": 1}', 'the string "b," has no closing " on its line', "/a", '"b,'),
    ("{} /* x", "the comment has no closing */", "", "/*"),
    ('"a": 1}', "expected '{' before the first property, found ':'", "", ":"),
    ("plain text", f"'plain' is not a JSON value{VALUES}", "", "plain"),
    ('{"a": 0+}', f"'0+' is not a JSON value{VALUES}", "/a", "0+"),
    ('{"a": 01}', f"'01' is not a JSON value{VALUES}", "/a", "01"),
    ('{"a": 1e999}', f"'1e999' is not a JSON value{VALUES}", "/a", "1e999"),
    ('{"a": "\\q"}', f"'\\q'{ESCAPES}", "/a", "\\q"),
    ('{"a": "x\ty"}', f"'\\t'{ESCAPES}", "/a", "\t"),
    ('{"a": "\\u12"}', f"'\\u'{ESCAPES}", "/a", "\\u"),
    ('{"a": "\\ud800"}', f"'\\u'{ESCAPES}", "/a", "\\u"),
]


@pytest.mark.parametrize(("text", "detail", "pointer", "at"), INVALID)
def test_invalid_json(text: str, detail: str, pointer: str, at: str) -> None:
    assert problems_in(text) == [("invalid-json", detail, pointer, at)]


NUMBERS = ("+5.", "-0x1F", "NaN")
STRINGS = ('"\\x41"', '"\\0"', '"it\\\'s"', '"b\\\r\nc"')
IN_SINGLE = "a string in single quotes; use double quotes"
OTHER_STRING = "a string with JSON5 escapes; use JSON escapes"
BLOCK = "a block comment; other readers of these files support only // comments"
HERE = 'the property "a" is already defined on line 1'
OTHERS = [
    ("{'a': 1}", ("json5-only", IN_SINGLE, "/a", "'a'")),
    ("{a: 1}", ("json5-only", "the property name 'a' is not in quotes; write it in double quotes", "/a", "a")),
    *((f"[{number}]", ("json5-only", f"'{number}' is not a JSON value{VALUES}", "/0", number)) for number in NUMBERS),
    *((f"[{text}]", ("json5-only", OTHER_STRING, "/0", text)) for text in STRINGS),
    ("[\u00a0]", ("json5-only", "a whitespace character that JSON does not allow; use a plain space", "", "\u00a0")),
    ("[[1, 2,]]", ("trailing-comma", "a comma after the last element; remove it", "/0/1", ",")),
    ('{"a": 1,}', ("trailing-comma", "a comma after the last property; remove it", "/a", ",")),
    ('{"a": 1, "\\u0061": 3, "b": 4}', ("duplicate-key", HERE, "/a", '"\\u0061"')),
    ("[/**/]", ("block-comment", BLOCK, "", "/**/")),
    (
        "[1] {} ?\n",
        ("trailing-content", "found '{' after the end of the value; a file holds one definition", "", "{} ?"),
    ),
]


@pytest.mark.parametrize(("text", "problem"), OTHERS)
def test_what_a_reader_can_pass_over(text: str, problem: tuple[str, str, str, str]) -> None:
    assert problems_in(text) == [problem]


def test_depth() -> None:
    assert problems_in("[" * DEFINITION_LEVELS + "]" * DEFINITION_LEVELS) == []
    detail = f"objects and arrays nested more than {DEFINITION_LEVELS} levels deep"
    deep = "[" * DEFINITION_LEVELS + "[1, {}], [2]" + "]" * DEFINITION_LEVELS
    assert problems_in(deep) == [("too-deep", detail, "/0" * DEFINITION_LEVELS, "[")]
    assert problems_in("[" * 9999) == [("too-deep", detail, "/0" * DEFINITION_LEVELS, "[")]


def test_what_can_be_passed_over_is_noted_up_to_the_first_mistake_that_can_not() -> None:
    text = '{"a": [1, 2,],\n b: True, "c" 3,\n "d": 4,}'
    root, problems = read_tree(text)
    assert [(p.kind, p.pointer) for p in problems] == [
        ("trailing-comma", "/a/1"),
        ("json5-only", "/b"),
        ("invalid-json", "/b"),
        ("invalid-json", "/c"),
    ]
    assert [(child.key, text[child.start : child.end]) for child in root.children] == [
        ("a", "[1, 2,]"),
        ("b", "True"),
        ("c", ""),
    ]


def test_details_are_printable_and_short() -> None:
    detail = problems_in('{"a": 1 "\\u001b\x1b' + "x" * 99 + '": 2}')[0][1]
    assert detail == (
        "expected ',' or '}' after the value of \"a\", found \"\\u001b\\u001b" + "x" * 33 + '..."'
    )  # fmt: skip


@given(documents())
def test_valid_json_is_read_as_json_reads_it(document: tuple[str, object]) -> None:
    text, value = document
    root, problems = read_tree(text)
    assert problems == ()
    assert tree_value(text, root) == value
