"""One line for each finding, as compilers write it; editors and grep understand it."""

from __future__ import annotations

from typing import TextIO

from kiplint.report.kit.colors import SEVERITY, paint
from kiplint.runs.result import Report
from kiplint.text.show import printable


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity rule message` for each finding."""
    for one in report.findings:
        place = f"{printable(one.path)}:{one.span.line}:{one.span.column}"
        severity = paint(one.severity, SEVERITY[one.severity], color)
        out.write(f"{place}: {severity} {one.rule} {printable(one.told)}\n")
