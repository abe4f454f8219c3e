"""Markdown: tables, escaped text, and findings, for pull requests and job summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final, TextIO

from kiplint.engine.finding import Finding
from kiplint.render.report import Report, Verdict, rank
from kiplint.text.show import printable

_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", **{sign: "\\" + sign for sign in "\\|`*_[]~$"}})

_LINK_START: Final = re.compile(
    r"""(?xi) @ | \#(?=\d) | :(?=//) | \bwww(?=\.)  # people, issues, addresses
    | \bgh(?=-\d)  # issues, by another name"""
)
_COMMIT: Final = re.compile(r"(?i)\b[0-9a-f]{7,40}\b")
_COMMAND: Final = re.compile(r"(`\w[\w ./:=~^-]*`)")
"""A command in a text, of signs that mean nothing to Markdown."""
_BREAK: Final = "<!-- -->"
"""It is invisible, and keeps GitHub from linking the text around it."""


def write_table(head: Sequence[str], rows: Iterable[Iterable[str]], out: TextIO) -> None:
    """Write a table with a header row; the cells are plain text, which is escaped."""
    escaped_rows = [[inline(cell) for cell in row] for row in rows]
    for cells in (head, ["---"] * len(head), *escaped_rows):
        out.write(f"| {' | '.join(cells)} |\n")


def inline(text: str) -> str:
    """Text escaped for Markdown and HTML, on one line; GitHub links no people, issues, addresses or commits in it."""
    escaped = _LINK_START.sub(rf"\g<0>{_BREAK}", printable(text).translate(_ESCAPES))
    return _COMMIT.sub(lambda match: _BREAK.join(wrap(match[0], 6)), escaped)  # a link needs 7 digits


def write_verdict(verdict: Verdict, out: TextIO) -> None:
    """Write a verdict: a heading, a list of the exceptions, and the next step, with its commands as code."""
    out.write(f"### {inline(verdict.sentence)}\n\n")
    for text in verdict.exceptions:
        out.write(f"- {inline(text)}\n")
    if verdict.exceptions:
        out.write("\n")
    if verdict.step:
        parts = _COMMAND.split(verdict.step)
        step = "".join(part if _COMMAND.fullmatch(part) else inline(part) for part in parts)
        out.write(f"{step}\n\n")


def write(report: Report, out: TextIO) -> None:
    """Write the verdict and a table of the findings, worst first; nothing when there are none."""
    if report.findings:
        write_verdict(report.verdict, out)
    write_findings(report.findings, out)


def write_findings(findings: Iterable[Finding], out: TextIO) -> None:
    """Write a table of findings, worst first; nothing when there are none."""
    rows = [
        (finding.severity, finding.rule, f"{finding.path}:{finding.line}", finding.summary)
        for finding in rank(findings)
    ]
    if rows:
        write_table(("severity", "rule", "place", "what"), rows, out)


def write_accepted_table(report: Report, out: TextIO) -> None:
    """Write a table of the accepted changes with the reasons; nothing when there are none."""
    if report.accepted:
        out.write("\nAccepted:\n\n")
        rows = [
            (change.rule, f"{change.path}:{change.line}", change.message, change.accepted) for change in report.accepted
        ]
        write_table(("rule", "place", "what", "accepted"), rows, out)
