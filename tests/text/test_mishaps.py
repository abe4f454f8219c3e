"""Merge conflicts and pasted text: one finding each that says so (issue 11)."""

from __future__ import annotations

import pytest

from kiplint.text.diagnose import MISSING, diagnose

CONFLICT = """{
  "name": "XRequest",
<<<<<<< HEAD
  "validVersions": "0-1",
=======
  "validVersions": "0-2",
>>>>>>> theirs
  "fields": []
}
"""


def test_merge_conflict_markers_are_one_finding_that_says_so() -> None:
    result = diagnose(CONFLICT.encode())
    (only,) = result.problems
    assert (only.kind, CONFLICT[only.start : only.end]) == ("invalid-json", "<<<<<<< HEAD")
    assert only.detail.startswith("a merge conflict that was not resolved; ")
    assert result.value is MISSING


def test_several_conflicts_are_counted() -> None:
    (only,) = diagnose((CONFLICT + CONFLICT).encode()).problems
    assert "not resolved (there are 2)" in only.detail


@pytest.mark.parametrize(
    "text", ["{ =======", "<<<<<<< a\n{", ">>>>>>> b\n{\n<<<<<<< a", '{\n"a": "<<<<<<< HEAD >>>>>>> b" x}']
)
def test_what_only_looks_like_a_conflict(text: str) -> None:
    assert not any("conflict" in problem.detail for problem in diagnose(text.encode()).problems)


@pytest.mark.parametrize(
    ("text", "first", "output"),
    [
        ("{ “name”: “X” }", "“", "with 4 curly quotes"),
        ("{ «name»: 1 }", "«", "with 2 curly quotes"),
        ('{ "name": "X"\u200b}', "\u200b", "with 1 no-break or other odd space"),
        ("{\u00a0“name”:\u00a01 }", "“", "with 2 no-break or other odd spaces and 2 curly quotes"),
        ('{ "about": "it’s “so”\u00a0", “name”: 1, "x": “y” }', None, ""),
    ],
)
def test_pasted_text_is_one_finding_that_says_so(text: str, first: str | None, output: str) -> None:
    problems = diagnose(text.encode()).problems
    if first is None:  # the quotes inside a string would end it: there is no guess
        assert not any("pasted" in problem.detail for problem in problems)
        return
    (only,) = problems
    assert (only.kind, text[only.start : only.end]) == ("invalid-json", first)
    assert output in only.detail


def test_no_break_spaces_are_one_finding() -> None:
    text = '{\u00a0"name":\u00a0"X",\u00a0"about": "a\u00a0b" }'
    result = diagnose(text.encode())
    (only,) = result.problems
    assert (only.kind, only.start) == ("json5-only", 1)
    assert "U+00A0 is not white space in JSON; write a space, here and 2 times more" in only.detail
    assert result.value == {"name": "X", "about": "a\u00a0b"}
    twice = diagnose('{\u00a0"name":\u00a0"X" }'.encode()).problems
    assert [problem.detail.partition("; ")[2] for problem in twice] == [
        "write a space, here and once more, as in text from a web page"
    ]


@pytest.mark.parametrize("text", ['{ "a": "\u201cq\u201d \u00a0" }', "{ 'a': '\u201c' }"])
def test_quotes_inside_strings_are_nothing(text: str) -> None:
    assert not any(
        "pasted" in problem.detail or "U+00A0" in problem.detail for problem in diagnose(text.encode()).problems
    )
