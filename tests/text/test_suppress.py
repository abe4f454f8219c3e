from __future__ import annotations

import pytest
from hypothesis import given

from kiplint.engine.suppression import Suppression, Suppressions, parse_suppressions
from kiplint.text.decode import Problem

from .support import random_texts


def targets(text: str) -> list[tuple[tuple[str, ...], str, int | None]]:
    result = parse_suppressions(text)
    assert result.problems == ()
    return [(item.selectors, item.reason, item.target) for item in result.items]


def test_no_question() -> None:
    assert parse_suppressions('{} // see kiplint for "kiplint ignore"') == Suppressions()


def test_places() -> None:
    text = "{} // kiplint: ignore[a] b\n"
    assert parse_suppressions(text).items == (Suppression(("a",), "b", 1, 3, 26),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, // kiplint: ignore[tags/gap] old\n"b": 2}', (("tags/gap",), "old", 1)),
        ("{\n// kiplint: ignore[tags/gap, style] old one\n1}", (("tags/gap", "style"), "old one", 3)),
        ("//kiplint:ignore[ a ,b*, ]:  c\r\n\r\n // x\r\n/* y\r\n */\r\n{}", (("a", "b*"), "c", 6)),
        ("/* x */ // kiplint: ignore[a] b\n{}", (("a",), "b", 2)),
        ("{ /* x */ // kiplint: ignore[a] b\n}", (("a",), "b", 1)),
        ("// x\n// kiplint: ignore-file[a] b\n{}", (("a",), "b", None)),
        ("\ufeff// kiplint: ignore-file[a] b\n{}", (("a",), "b", None)),
        ("\ufeff// kiplint: ignore[a] b\n{}", (("a",), "b", 2)),
        ("// kiplint: ignore-file[a] b", (("a",), "b", None)),
        ('["\n, 1 // kiplint: ignore[a] b [c] // d', (("a",), "b [c] // d", 2)),
    ],
)
def test_targets(text: str, expected: tuple[tuple[str, ...], str, int | None]) -> None:
    assert targets(text) == [expected]


def test_one_after_another() -> None:
    text = "// kiplint: ignore[a] x\n// kiplint: ignore[b] y\n{ // kiplint: ignore[c] z\n}"
    assert targets(text) == [(("a",), "x", 3), (("b",), "y", 3), (("c",), "z", 3)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "// kiplint: ignore[a] b"}',
        "{'a': '// kiplint: ignore[a] b'}",
        '{"a": "\\"// kiplint: ignore[a] b"}',
        "// say kiplint: ignore[a] b\n{}",
        "kiplint: ignore[a] b",
    ],
)
def test_not_meant(text: str) -> None:
    assert parse_suppressions(text) == Suppressions()


@pytest.mark.parametrize(
    ("comment", "detail"),
    [
        ("// kiplint: ignore[a, b]", 'ignore of "a, b" gives no reason; write one after the brackets'),
        ("// kiplint: ignore[] b", "ignore names no rule; write ignore[RULE] and a reason"),
        ("// kiplint: ignore b", "ignore names no rule; write ignore[RULE] and a reason"),
        ("// kiplint: ignore[a b", "ignore names no rule; write ignore[RULE] and a reason"),
        (
            "// kiplint: disable[a] b",
            "unknown word 'disable' after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]",
        ),
        ("// kiplint:", "nothing after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]"),
        ("/* kiplint: ignore[a] b */", "ignore in a block comment; write it after //"),
    ],
)
def test_malformed(comment: str, detail: str) -> None:
    result = parse_suppressions(f" {comment}\n{{}}")
    stop = 1 + len(comment)
    assert result == Suppressions((), (Problem("malformed-ignore", detail, "", 1, stop),))


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("{ // kiplint: ignore-file[a] b\n}", "ignore-file after the definition begins; write it at the top"),
        ("{\n}\n// kiplint: ignore[a] b\n// x", "ignore at the end of the file, where nothing follows it"),
    ],
)
def test_out_of_place(text: str, detail: str) -> None:
    result = parse_suppressions(text)
    assert result.items == ()
    assert [(problem.kind, problem.detail) for problem in result.problems] == [("malformed-ignore", detail)]


@given(random_texts)
def test_any_text(text: str) -> None:
    for item in parse_suppressions(text).items:
        assert text[item.start : item.end].startswith("// kiplint: ignore")
