"""A report as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from typing import TextIO

from kiplint.report.model import Report
from kiplint.text.show import printable


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a table of the findings, worst first; nothing when there are none."""
    if report.own:
        report.own("markdown", out, color=False)
        return
    if not report.findings:
        return
    out.write("| severity | rule | place | what |\n| --- | --- | --- | --- |\n")
    order = {"error": 0, "warning": 1, "info": 2}
    for one in sorted(report.findings, key=lambda one: order[one.severity]):
        place = f"{printable(one.path)}:{one.span.line}"
        out.write(f"| {one.severity} | {_cell(one.rule)} | {_cell(place)} | {_cell(one.message)} |\n")


def _cell(text: str) -> str:
    """Text that stays in its cell and means nothing to Markdown or HTML."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("\\", "\\\\")
    for sign in "|`*_[]":
        escaped = escaped.replace(sign, "\\" + sign)
    return escaped
