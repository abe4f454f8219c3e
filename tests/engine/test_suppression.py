"""Ignore comments, from the text of a definition to what is left of its findings."""

from __future__ import annotations

import pytest

from kiplint.engine.config import Config
from kiplint.limits import DEFINITION_GLOBS
from tools import check

GAP, NEGATIVE, ABOUT = "tags/gap", "tags/negative", "style/about-missing"

TEXT = """\
{FILE}{
  "type": "data", "name": "X", "validVersions": "0", "flexibleVersions": "0+",
  "fields": [
    { "name": "A", "type": "int8", "versions": "0+", {ABOVE}
      "tag": 1, "taggedVersions": "0+" },{END}
    { "name": "B", "type": "int8", "versions": "0+", "about": "B." }
  ]
}
"""


def rules_and_lines(
    file: str = "", above: str = "", end: str = "", select: tuple[str, ...] = ("default",)
) -> list[tuple[str, int]]:
    """The rules that a definition breaks, with their lines; a gap in the tags and a field without about text are there."""
    text = TEXT.replace("{FILE}", file).replace("{ABOVE}", above).replace("{END}", end)
    findings = check({"X.json": text.encode()}, Config(select=list(select)))
    return [(finding.rule, finding.span.line) for finding in findings]


def messages(**places: str) -> list[str]:
    text = (
        TEXT.replace("{FILE}", "").replace("{ABOVE}", places.get("above", "")).replace("{END}", places.get("end", ""))
    )
    findings = check({"X.json": text.encode()})
    return [finding.message for finding in findings if finding.rule.startswith(("style/unused", "style/malformed"))]


@pytest.mark.parametrize("selector", [GAP, "tags", "tags/*", "tags/g?p", "all", f"{GAP}, {ABOUT}", f" {GAP} "])
def test_the_line_below(selector: str) -> None:
    assert rules_and_lines(above=f"\n      // kiplint: ignore[{selector}] it is known") == [(ABOUT, 4)]


def test_a_comment_at_the_end_of_a_line_applies_to_that_line() -> None:
    assert rules_and_lines(above=f"// kiplint: ignore[{ABOUT}] it is known") == [(GAP, 5)]
    assert rules_and_lines(above=f"// kiplint: ignore[{GAP}] it is known") == [
        (ABOUT, 4),
        ("style/unused-ignore", 4),
        (GAP, 5),
    ]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (GAP, [(ABOUT, 5)]),
        ("tags", [(ABOUT, 5)]),
        ("all", []),
        (f"{GAP},{ABOUT}", []),
        ("style", [(GAP, 6)]),
    ],
)
def test_the_whole_file(selector: str, expected: list[tuple[str, int]]) -> None:
    assert rules_and_lines(file=f"// kiplint: ignore-file[{selector}] generated\n") == expected


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        (f"// kiplint: ignore[{NEGATIVE}] why", f"nothing here violates {NEGATIVE}; remove the comment"),
        ("// kiplint: ignore[tags/gpa] why", "no rule matches tags/gpa; did you mean tags/gap?"),
        (f"// kiplint: ignore[tagz, {NEGATIVE}] why", "no rule matches tagz; did you mean tags?"),
        ("// kiplint: ignore[\x1b[31m] why", None),
    ],
)
def test_ignores_without_effect(comment: str, problem: str | None) -> None:
    text = messages(end=f" {comment}")
    assert len(text) == 1
    assert text[0].isprintable()
    assert problem is None or text == [problem]


def test_an_ignore_of_a_rule_that_does_not_run_is_not_unused() -> None:
    end = f" // kiplint: ignore[{NEGATIVE}] why"
    assert rules_and_lines(end=end) == [(ABOUT, 4), (GAP, 5), ("style/unused-ignore", 5)]
    assert rules_and_lines(end=end, select=("tags/gap", "style/unused-ignore")) == [(GAP, 5)]
    assert rules_and_lines(end=end, select=("tags", "style/unused-ignore")) == [(GAP, 5), ("style/unused-ignore", 5)]


def test_a_clean_file_with_an_ignore_is_looked_at() -> None:
    text = b'// kiplint: ignore-file[tags] why\n{ "type": "data", "name": "X", "validVersions": "0", "flexibleVersions": "0+" }'
    assert [finding.rule for finding in check({"X.json": text})] == ["style/unused-ignore"]


def test_an_ignore_holds_in_its_own_file_only() -> None:
    with_ignore = TEXT.replace("{FILE}", f"// kiplint: ignore-file[{GAP}] why\n")
    texts = {"A.json": with_ignore, "B.json": TEXT.replace("{FILE}", "")}
    files = {path: text.replace("{ABOVE}", "").replace("{END}", "").encode() for path, text in texts.items()}
    assert [finding.path for finding in check(files, Config(select=["tags"]))] == ["B.json"]


def test_syntax_can_be_ignored_too() -> None:
    text = TEXT.replace("{ABOVE}", "").replace("{END}", "").replace("\n  ]", ",\n  ]")
    files = {"X.json": text.replace("{FILE}", "// kiplint: ignore-file[syntax/trailing-comma] why\n").encode()}
    assert [finding.rule for finding in check(files)] == [ABOUT, GAP]


def test_too_many_selectors_with_wildcards() -> None:
    file = "".join(f"// kiplint: ignore-file[tags/*{n}, {GAP}] known\n" for n in range(DEFINITION_GLOBS + 1))
    assert ("style/malformed-ignore", DEFINITION_GLOBS + 1) in rules_and_lines(file=file)
    assert "more than 1,000 selectors with wildcards in one file; name the rules" in [
        finding.message for finding in check({"X.json": (file + "{}").encode()})
    ]
