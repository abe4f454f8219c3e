"""One JSON object a line for each finding, for tools that read as they go."""

from __future__ import annotations

from typing import TextIO

from kiplint.report.findings.formats import own
from kiplint.report.findings.json import encoded
from kiplint.runs.result import Report


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a line for each finding, and nothing else."""
    for row in own("json", report).rows(report):
        out.write(encoded(row) + "\n")
