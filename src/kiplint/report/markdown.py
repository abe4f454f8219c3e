"""A report as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from kiplint.engine.finding import SEVERITIES
from kiplint.report.model import Report
from kiplint.text.show import printable

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", "@": "@<!-- -->", **{sign: "\\" + sign for sign in "\\|`*_[]~$"}})


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a table of the findings, worst first; nothing when there are none."""
    if report.own:
        report.own("markdown", out, color=False)
        return
    if not report.findings:
        return
    write_row(("severity", "rule", "place", "what"), out)
    write_row(["---"] * 4, out)
    for one in sorted(report.findings, key=lambda one: SEVERITIES.index(one.severity)):
        write_row(map(inline, (one.severity, one.rule, f"{one.path}:{one.span.line}", one.message)), out)


def write_row(cells: Iterable[str], out: TextIO) -> None:
    """Write a row of a table; the cells are Markdown."""
    out.write(f"| {' | '.join(cells)} |\n")


def inline(text: str) -> str:
    """Text that stays in its line and its cell, means nothing to Markdown or HTML, and calls and links nobody."""
    return printable(text).translate(_ESCAPES).replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
