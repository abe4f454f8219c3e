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
    for finding in sorted(report.findings, key=lambda finding: SEVERITIES.index(finding.severity)):
        write_row(
            map(inline, (finding.severity, finding.rule, f"{finding.path}:{finding.span.line}", finding.summary)), out
        )
