"""The diagnostic format of reviewdog: review bots read findings and suggested changes from it.

Columns count bytes of UTF-8, and end exclusively.
"""

from __future__ import annotations

from typing import Any, Final, TextIO

from kiplint.engine.finding import Finding, Fix, Severity
from kiplint.render.findings.json import encoded
from kiplint.render.report import Report
from kiplint.text.lines import Places
from kiplint.text.show import printable

ABOUT = "Reviewdog's diagnostic format, with suggestions that review bots can post."
SHOWS_FIXES = True

SEVERITIES: Final[dict[Severity, str]] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one document, a diagnostic a line."""
    places = Places(report.sources)
    out.write('{"source":{"name":"kiplint"},"diagnostics":[')
    before = "\n"
    for finding in report.findings:
        out.write(before + encoded(_diagnostic(finding, report, places)))
        before = ",\n"
    out.write("\n]}\n" if report.findings else "]}\n")


def _diagnostic(finding: Finding, report: Report, places: Places) -> dict[str, Any]:
    span = finding.span
    start = {"line": span.line, "column": places.byte_column(finding.path, span.line, span.column)}
    end = {"line": span.end_line, "column": places.byte_column(finding.path, span.end_line, span.end_column)}
    suggestions = [shown for fix in finding.fixes if (shown := _suggestion(finding, fix, places))]
    rule = report.rules.get(finding.rule)
    return {
        "message": printable(finding.summary),
        "location": {"path": printable(report.in_repository(finding.path)), "range": {"start": start, "end": end}},
        "severity": SEVERITIES[finding.severity],
        "code": {"value": finding.rule, **({"url": rule.url} if rule and rule.url else {})},
        **({"suggestions": suggestions} if suggestions else {}),
    }


def _suggestion(finding: Finding, fix: Fix, places: Places) -> dict[str, Any] | None:
    """All edits of a fix as one change, with the text between them.

    None when the fix changes other files, or a place without a column.
    """
    if not places.knows(finding.path) or any(edit.path != finding.path for edit in fix.edits):
        return None
    edits = sorted(fix.edits, key=lambda edit: (edit.start, edit.end))
    if not places.shows(finding.path, edits[0].start):
        return None
    parts: list[str] = []
    done = edits[0].start
    for edit in edits:
        parts += (places.bytes_between(finding.path, done, edit.start).decode("utf-8", "replace"), edit.text)
        done = edit.end
    ends = {}
    for name, offset in (("start", edits[0].start), ("end", done)):
        line, column = places.position(finding.path, offset)
        ends[name] = {"line": line, "column": places.byte_column(finding.path, line, column)}
    return {"range": ends, "text": "".join(parts)}
