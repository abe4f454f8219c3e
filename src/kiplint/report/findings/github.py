"""Annotations of GitHub Actions: workflow commands, one a line, which the runner turns into notes on the change.

GitHub shows ten annotations of a level for each step, so no more are written; the last one says how many are missing.
No rule gets a third before every other one had two.
"""

from __future__ import annotations

from typing import TextIO

from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.report.findings.slots import fair
from kiplint.runs.result import Report
from kiplint.text.show import printable
from kiplint.text.words import tally

LIMIT = 10
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write an annotation for each finding, errors first, as far as GitHub shows them; then how many are missing."""
    counts = report.counts
    shown = {severity: min(counts[severity], LIMIT) for severity in SEVERITIES}
    if shown != {severity: counts[severity] for severity in SEVERITIES}:
        shown["info"] = min(counts["info"], LIMIT - 1)  # the last notice is the one about the rest
    for severity in SEVERITIES:
        same = (one for one in report.findings if one.severity == severity)
        for one in fair(same, lambda one: one.rule, shown[severity]):
            out.write(annotation(one, report.in_repository(one.path)) + "\n")
    hidden = tally({severity: counts[severity] - shown[severity] for severity in SEVERITIES}, "more ")
    if hidden:
        said = f"GitHub shows {LIMIT} annotations of a level; the job summary and the other formats list all"
        out.write(f"::notice title=kiplint::{escape(f'{hidden} not shown: {said}')}\n")


def annotation(one: Finding, path: str) -> str:
    """The workflow command for a finding in the file with that path, which may be empty."""
    span = one.span
    properties: dict[str, object] = {}
    if path:
        properties = {"file": path, "line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:
            properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = one.rule
    told = ",".join(f"{name}={escape_property(str(value))}" for name, value in properties.items())
    return f"::{LEVELS[one.severity]} {told}::{escape(one.told)}"


def escape(text: str) -> str:
    """Text as the data of a workflow command: on one line, and without anything that acts on a terminal."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def escape_property(text: str) -> str:
    """Text as the value of a property of a workflow command, where colons and commas mean something too."""
    return escape(text).replace(":", "%3A").replace(",", "%2C")
