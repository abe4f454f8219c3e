"""Reading a file: a message, or problems, and never an exception."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.limits import ALL_PROBLEMS, DEFINITION_PROBLEMS
from kiplint.model.load import entity_problems, load
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.lines import Lines, decode_text
from tools import USUAL, definition, field, message

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted((ROOT / "fixtures").rglob("*.json"))
ALL_RULES = Config(select=["all"])


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return make_ruleset(ALL_RULES, load_rules(ALL_RULES, ""))


def test_fixes_read_the_problems_beyond_those_that_are_reported() -> None:
    text = definition(*[field("F")] * 50).replace(b'"', b"'")
    count = text.count(b"'") // 2
    assert len(load("XRequest.json", text).problems) == DEFINITION_PROBLEMS < count
    assert len(load("XRequest.json", text, ALL_PROBLEMS).problems) == count


def survive(data: bytes, rules: RuleSet) -> list[Finding]:
    """Read and check a file: it has a message or a problem, and every finding lies inside it."""
    answer = load("X.json", data)
    assert answer.is_readable or answer.problems
    result = check_set([SchemaFile("X.json", data)], rules)
    lines = Lines(decode_text(data))
    for finding in result.findings:
        span = finding.span
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert 1 <= span.line <= span.end_line <= len(lines.starts)
        assert 1 <= span.column <= len(lines.line(span.line)) + 1
        # A file of nothing but a line end has no other character to point to.
        assert 1 <= span.end_column <= len(lines.line(span.end_line)) + 1 or finding.rule == "syntax/empty-file"
        assert finding.message.isprintable()
        assert len(finding.fingerprint) == 32
    if not answer.is_readable:
        assert any(finding.severity == "error" for finding in result.findings)
    return result.findings


words = st.sampled_from(
    ["0+", "0-5", "none", "3-1", "", " ", "X", "XRequest", "request", "int32", "[]X", "[]", "null", "\ud800", "\0", "é"]
) | st.text(max_size=6)
scalars = words | st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats()
KEYS = [
    "name", "type", "versions", "validVersions", "flexibleVersions", "fields", "tag", "taggedVersions", "apiKey",
    "nullableVersions", "default", "about", "commonStructs", "headerVersions", "listeners", "entityType", "ignorable",
    "mapKey", "zeroCopy", "latestVersionUnstable", "deprecatedVersions", "odd", "0+", "a/b~",
]  # fmt: skip
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | words, inner, max_size=6),
    max_leaves=25,
)


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


@given(st.binary(max_size=200))
@example(b"\xff\xfe{\0}\0")
@example(b"\xef\xbb\xbf")
@example(b"\r\n")
def test_random_bytes(rules: RuleSet, data: bytes) -> None:
    survive(data, rules)


@given(values)
def test_random_json(rules: RuleSet, value: object) -> None:
    survive(dump(value), rules)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A fixture with a few bytes taken out, put in, or moved."""
    data = draw(st.sampled_from(FIXTURES)).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        at, other = draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))
        start, end = min(at, other), min(max(at, other), min(at, other) + 30)
        change = draw(st.sampled_from(["drop", "double", "insert"]))
        piece = draw(
            st.sampled_from([b'"', b"{", b"}", b",", b"\\", b"\n", b"0", b"+", b"//", b"/*", b"\xff", b"\r", b"'"])
        )
        middle = {"drop": b"", "double": data[start:end] * 2, "insert": piece + data[start:end]}[change]
        data = data[:start] + middle + data[end:]
    return data


@given(mutations())
@settings(max_examples=2 * USUAL)
def test_mutated_fixtures(rules: RuleSet, data: bytes) -> None:
    survive(data, rules)


@pytest.mark.parametrize(
    ("data", "kinds", "name"),
    [
        (b"", ["empty-file"], None),
        (definition(field()), [], "XRequest"),
        (b"[]", ["wrong-type"], None),
        (b"{}", ["missing-property"] * 3, None),
        (b"{", ["invalid-json"], None),
        (b"\xff", ["not-utf8"], None),
        (definition() + b"{}", ["trailing-content"], "XRequest"),
        (definition(field()).replace(b"\n}", b",\n}"), ["trailing-comma"], "XRequest"),
        (definition().replace(b'"', b"'"), ["json5-only"] * 10, "XRequest"),
        (b"\xef\xbb\xbf" + definition(), ["byte-order-mark"], "XRequest"),
        (b"/* a */" + definition(), ["block-comment"], "XRequest"),
        (definition(extra=1, apiKey={}), ["wrong-type", "unknown-property"], "XRequest"),
    ],
)
def test_problems_and_what_is_left(data: bytes, kinds: list[str], name: str | None) -> None:
    result = load("X.json", data)
    assert sorted(problem.kind for problem in result.problems) == sorted(kinds)
    assert (result.name if result.is_readable else None) == name


@pytest.mark.parametrize(
    ("word", "kind", "detail"),
    [
        ("brokerID", "unknown-enum-value", '"brokerID" is not a value of "entityType"; did you mean brokerId?'),
        (" topicName ", "coerced-value", '" topicName " is read as "topicName"'),
    ],
)
def test_words_that_are_not_kafka_s(word: str, kind: str, detail: str) -> None:
    (problem,) = entity_problems(message(field(entityType=word)))
    assert (problem.kind, problem.pointer, problem.detail) == (kind, "/fields/0/entityType", detail)
