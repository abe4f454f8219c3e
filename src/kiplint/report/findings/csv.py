"""A row of comma-separated values for each finding."""

from __future__ import annotations

import csv
from typing import TextIO

from kiplint.runs.result import Report
from kiplint.text.show import printable


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write path, line, column, severity, rule and message."""
    rows = csv.writer(out, lineterminator="\n")
    for one in report.findings:
        rows.writerow((printable(one.path), one.span.line, one.span.column, one.severity, one.rule, one.told))
