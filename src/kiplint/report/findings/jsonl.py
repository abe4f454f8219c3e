"""One JSON object a line for each finding, for tools that read as they go."""

from __future__ import annotations

from typing import TextIO

from kiplint.report.findings.json import as_json, encoded
from kiplint.report.findings.report import Report


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a line for each finding, and nothing else."""
    rows = report.rows if report.rows is not None else map(as_json, report.findings)
    for row in rows:
        out.write(encoded(row) + "\n")
