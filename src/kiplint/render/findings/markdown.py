"""A report as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from typing import TextIO

from kiplint.engine.finding import SEVERITIES
from kiplint.render.markdown import inline, write_row
from kiplint.render.report import Report

ABOUT = "A table, for pull requests and job summaries."


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a table of the findings, worst first; nothing when there are none."""
    if not report.findings:
        return
    write_row(("severity", "rule", "place", "what"), out)
    write_row(["---"] * 4, out)
    for one in sorted(report.findings, key=lambda one: SEVERITIES.index(one.severity)):
        write_row(map(inline, (one.severity, one.rule, f"{one.path}:{one.span.line}", one.summary)), out)
