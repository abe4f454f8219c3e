"""Ignore comments in a text: which lines they are for, and what is wrong with them."""

from __future__ import annotations

import pytest

from kiplint.engine.suppression import Suppression, parse_suppressions
from kiplint.text.decode import Problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, // kiplint: ignore[tags/gap] old\n"b": 2}', (("tags/gap",), 1)),
        ("{\n// kiplint: ignore[tags/gap, style] old one\n1}", (("tags/gap", "style"), 3)),
        ("//kiplint:ignore[ a ,b*, ]:  c\r\n\r\n // x\r\n/* é\r\n */\r\n{}", (("a", "b*"), 6)),
        ("{ /* é */ // kiplint: ignore[a] b\n}", (("a",), 1)),
        ("\ufeff// kiplint: ignore-file[a] b\n{}", (("a",), None)),
        ("\ufeff// kiplint: ignore[a] b\n{}", (("a",), 2)),
        ("// kiplint: ignore-file[a] b", (("a",), None)),
        ('["\n, 1 // kiplint: ignore[a] b [c] // d', (("a",), 2)),
    ],
)
def test_targets(text: str, expected: tuple[tuple[str, ...], int | None]) -> None:
    suppressions, _ = parse_suppressions(text)
    assert [(item.selectors, item.target) for item in suppressions] == [expected]


def test_places() -> None:
    text = "// kiplint: ignore[a] x\n{ // kiplint: ignore[c] z\n}"
    assert parse_suppressions(text) == ([Suppression(("a",), "x", 2, 0, 23), Suppression(("c",), "z", 2, 26, 49)], [])


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "// kiplint: ignore[a] b"}',
        "{'a': '// kiplint: ignore[a] b'}",
        '{"a": "\\"// kiplint: ignore[a] b"}',
        "// say kiplint: ignore[a] b\n{}",
    ],
)
def test_not_meant(text: str) -> None:
    assert parse_suppressions(text) == ([], [])


@pytest.mark.parametrize(
    ("before", "comment", "detail"),
    [
        ("", "// kiplint: ignore[a, b]", 'ignore of "a, b" gives no reason; add one after the brackets'),
        ("", "// kiplint: ignore[] b", "ignore names no rule; write ignore[RULE] and a reason"),
        ("", "// kiplint: ignore[a b", "ignore names no rule; write ignore[RULE] and a reason"),
        (
            "",
            "// kiplint: disable[a] b",
            "unknown word 'disable' after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]",
        ),
        ("", "// kiplint:", "nothing after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]"),
        ("", "/* kiplint: ignore[a] b */", "ignore in a block comment; write it after //"),
        ("{", "// kiplint: ignore-file[a] b", "ignore-file after the start of the definition; move it to the top"),
        ("{\n}\n", "// kiplint: ignore[a] b", "ignore at the end of the file, where nothing follows it"),
    ],
)
def test_malformed(before: str, comment: str, detail: str) -> None:
    result = parse_suppressions(f"{before}{comment}\n" + ("" if before else "{}"))
    problem = Problem("malformed-ignore", detail, "", len(before), len(before) + len(comment))
    assert result == ([], [problem])
