"""A code quality report of GitLab: one JSON array, an object for each finding.

GitLab's five severities are used as far as ours go: an error is major, a warning minor, and info is info. Critical and
blocker stay free for what people decide to call so.
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
    for one, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True):
        row = {
            "description": f"{one.rule}: {printable(one.summary)}",
            "check_name": one.rule,
            "fingerprint": fingerprint,
            "severity": SEVERITIES[one.severity],
            "location": {
                "path": printable(report.in_repository(one.path)) or ".",
                "lines": {"begin": one.span.line, "end": one.span.end_line},
            },
        }
        out.write(before + encoded(row))
        before = ",\n"
    out.write("\n]\n" if report.findings else "[]\n")
