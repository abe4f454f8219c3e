"""A code quality report of GitLab: one JSON array, an object for each finding.

Of GitLab's five severities an error is major, a warning minor, and info is info; no finding is critical or a blocker.
"""

from __future__ import annotations

from typing import TextIO

from kiplint.engine.finding import Severity
from kiplint.render.findings.json import encoded
from kiplint.render.report import Report, fingerprints
from kiplint.text.show import printable

ABOUT = "A code quality report of GitLab."

SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "info": "info"}


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the array, one finding a line."""
    before = "[\n"
    for finding, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True):
        row = {
            "description": f"{finding.rule}: {printable(finding.summary)}",
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": SEVERITIES[finding.severity],
            "location": {
                "path": printable(report.in_repository(finding.path)) or ".",
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        out.write(before + encoded(row))
        before = ",\n"
    out.write("\n]\n" if report.findings else "[]\n")
