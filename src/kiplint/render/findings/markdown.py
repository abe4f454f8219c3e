"""A report as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.render.markdown import write_table
from kiplint.render.report import Report

ABOUT = "A table, for pull requests and job summaries."


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a table of the findings, worst first; nothing when there are none."""
    write_findings(report.findings, out)


def write_findings(findings: Iterable[Finding], out: TextIO) -> None:
    """Write a table of findings, worst first; nothing when there are none."""
    ranked = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    rows = (
        (finding.severity, finding.rule, f"{finding.path}:{finding.span.line}", finding.summary) for finding in ranked
    )
    if ranked:
        write_table(("severity", "rule", "place", "what"), rows, out)
