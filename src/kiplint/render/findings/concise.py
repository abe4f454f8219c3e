"""One line for each finding, as compilers write it; editors and grep understand it."""

from __future__ import annotations

from typing import TextIO

from kiplint.render.report import Report
from kiplint.render.table import SEVERITY, paint
from kiplint.text.show import printable

ABOUT = "One line for each finding: path:line:column: severity rule message."


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity rule message` for each finding."""
    for finding in report.findings:
        place = f"{printable(finding.path)}:{finding.span.line}:{finding.span.column}"
        severity = paint(finding.severity, SEVERITY[finding.severity], color)
        out.write(f"{place}: {severity} {finding.rule} {printable(finding.summary)}\n")
