"""One JSON object a line for each finding, for tools that read as they go."""

from __future__ import annotations

from typing import TextIO

from kiplint.render.findings.json import encoded
from kiplint.render.formats import own
from kiplint.render.report import Report


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a line for each finding, and nothing else."""
    for row in own("json", report).rows(report):
        out.write(encoded(row) + "\n")
