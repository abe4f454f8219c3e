from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given

from kiplint.limits import DEFINITION_LEVELS
from kiplint.text.decode import blank_comments
from kiplint.text.tree import SPACES, read_tree

from .support import definitions, documents, mutations, random_texts, tree_value


def problems_in(text: str) -> list[tuple[str, str, str, str]]:
    """Kind, detail, pointer and the text at the span of each problem."""
    return [(p.kind, p.detail, p.pointer, text[p.start : p.end]) for p in read_tree(text).problems]


VALUES = "; write a string in double quotes, a number, true, false or null"
ESCAPES = " in a string; write \\\\ for a backslash, \\t for a tab, and both halves of a surrogate pair"
INVALID = [
    ('{"a": 1\n "b": 2}', "expected ',' or '}' after the value of \"a\", found \"b\"", "/a", "1"),
    ("[1 2]", "expected ',' or ']' after the element, found '2'", "/0", "2"),
    ('{"a" = 1}', "expected ':' after \"a\", found '='", "/a", "="),
    ('{"a", "b": 1}', "expected ':' after \"a\", found ','", "/a", ","),
    ('{"a": }', "expected a value, found '}'", "/a", "}"),
    ('{"a": 1,, "b": 2}', "expected a property name in double quotes, found ','", "/a", ","),
    ("[,]", "expected a value, found ','", "/0", ","),
    ('["a": 1]', "expected ',' or ']' after the element, found ':'", "/0", ":"),
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


OTHER_STRING = "a string with escapes of JSON5; write those of JSON"
JSON5 = [
    ("{'a': 1}", "a string in single quotes; write it in double quotes", "'a'"),
    ("{a: 1}", "the property name 'a' is not in quotes; write it in double quotes", "a"),
    *((f'{{"a": {number}}}', f"'{number}' is not a JSON value{VALUES}", number) for number in ("+5.", "-0x1F", "NaN")),
    *((f'{{"a": {text}}}', OTHER_STRING, text) for text in ('"\\x41"', '"\\0"', '"it\\\'s"', '"b\\\r\nc"')),
]


@pytest.mark.parametrize(("text", "detail", "at"), JSON5)
def test_json5_only(text: str, detail: str, at: str) -> None:
    assert problems_in(text) == [("json5-only", detail, "/a", at)]


def test_trailing_comma() -> None:
    assert problems_in('{"a": [1, 2,],}') == [
        ("trailing-comma", "a comma after the last element; remove it", "/a/1", ","),
        ("trailing-comma", "a comma after the last property; remove it", "/a", ","),
    ]


def test_trailing_content() -> None:
    detail = "found '{' after the end of the value; a file holds one definition"
    assert problems_in('{"a": 1} {"b": 2} ? \n') == [("trailing-content", detail, "", '{"b": 2} ?')]


def test_duplicate_keys() -> None:
    text = '{"a": 1,\n "b": {"a": 2},\n "\\u0061": 3,\n "a": 4}'
    detail = 'the property "a" is here already, on line 1'
    assert problems_in(text) == [("duplicate-key", detail, "/a", '"\\u0061"'), ("duplicate-key", detail, "/a", '"a"')]


def test_block_comments() -> None:
    detail = "a block comment; other readers of these files know only // comments"
    assert problems_in('/* x */ {"a": [/**/]}') == [
        ("block-comment", detail, "", "/* x */"),
        ("block-comment", detail, "/a", "/**/"),
    ]


def test_depth() -> None:
    assert problems_in("[" * DEFINITION_LEVELS + "]" * DEFINITION_LEVELS) == []
    detail = f"more than {DEFINITION_LEVELS} objects and arrays inside one another"
    deep = "[" * DEFINITION_LEVELS + "[1, {}], [2]" + "]" * DEFINITION_LEVELS
    assert problems_in(deep) == [("too-deep", detail, "/0" * DEFINITION_LEVELS, "[")]
    assert problems_in("[" * 9999) == [("too-deep", detail, "/0" * DEFINITION_LEVELS, "[")]


def test_what_can_be_passed_over_is_noted_up_to_the_first_mistake_that_can_not() -> None:
    text = '{"a": [1, 2,],\n b: True, "c" 3,\n "d": 4,}'
    assert [(p.kind, p.pointer) for p in read_tree(text).problems] == [
        ("trailing-comma", "/a/1"),
        ("json5-only", "/b"),
        ("invalid-json", "/b"),
        ("invalid-json", "/c"),
    ]
    root = read_tree(text).root
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
    result = read_tree(text)
    assert result.problems == ()
    assert tree_value(text, result.root) == value


@given(mutations() | random_texts)
def test_no_problem_means_strict_json(text: str) -> None:
    result = read_tree(text)
    assert [p.start for p in result.problems] == sorted(p.start for p in result.problems)
    for problem in result.problems:
        assert 0 <= problem.start < problem.end <= len(text)
    try:
        json.loads(_without_comments(text), parse_constant=_refuse)
        strict = True
    except ValueError:
        strict = False
    kinds = {problem.kind for problem in result.problems}
    if strict:
        harmless_kinds = {"duplicate-key", "block-comment"}
        # json.loads takes unpaired surrogates and any number, and never sees an open comment.
        words = ("surrogate", "is not a JSON value", "closing */")
        assert all(p.kind in harmless_kinds or any(w in p.detail for w in words) for p in result.problems)
    else:
        assert kinds - {"duplicate-key", "block-comment"} or result.root.kind == "missing"


def test_corpus(corpus: Path) -> None:
    for path in definitions(corpus):
        text = path.read_text(encoding="utf-8")
        result = read_tree(text)
        blocks = path.name == "SubscriptionInfoData.json"
        assert {p.kind for p in result.problems} == ({"block-comment"} if blocks else set()), path.name
        assert tree_value(text, result.root) == json.loads(_without_comments(text))


def _without_comments(text: str) -> str:
    return blank_comments(text.encode()).decode().removeprefix("\ufeff")


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def test_white_space_is_what_json5_and_unicode_call_so() -> None:
    """JSON5 1.0.0, section 7: the named characters, and all of Unicode's category Zs; JSON's own are not odd."""
    named_characters = "\v\f\ufeff\u2028\u2029"
    separators = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Zs"}
    pattern = re.compile(f"[{SPACES}]")
    spaces = {chr(code) for code in range(sys.maxunicode + 1) if pattern.match(chr(code))}
    assert spaces == {*named_characters, *separators} - {" "}
