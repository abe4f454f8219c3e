"""The diagnostic format of reviewdog, in which review bots read findings with the changes that they suggest.

Columns count bytes of UTF-8, and end exclusively.
"""

from __future__ import annotations

from typing import Any, Final, TextIO

from kiplint.engine.finding import Finding, Fix, Severity
from kiplint.render.findings.json import encoded
from kiplint.render.places import Places
from kiplint.render.report import Report
from kiplint.text.show import printable

ABOUT = "Reviewdog's diagnostic format, with suggestions that review bots can post."
SHOWS_FIXES = True

SEVERITIES: Final[dict[Severity, str]] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one document, a diagnostic a line."""
    places = Places(report.sources)
    out.write('{"source":{"name":"kiplint"},"diagnostics":[')
    before = "\n"
    for one in report.findings:
        out.write(before + encoded(_diagnostic(one, report, places)))
        before = ",\n"
    out.write("\n]}\n" if report.findings else "]}\n")


def _diagnostic(one: Finding, report: Report, places: Places) -> dict[str, Any]:
    span = one.span
    start = {"line": span.line, "column": places.byte_column(one.path, span.line, span.column)}
    end = {"line": span.end_line, "column": places.byte_column(one.path, span.end_line, span.end_column)}
    suggestion = _suggestion(one, places) if one.fix else None
    rule = report.rules.get(one.rule)
    return {
        "message": printable(one.summary),
        "location": {"path": printable(report.in_repository(one.path)), "range": {"start": start, "end": end}},
        "severity": SEVERITIES[one.severity],
        "code": {"value": one.rule, **({"url": rule.url} if rule and rule.url else {})},
        **({"suggestions": [suggestion]} if suggestion else {}),
    }


def _suggestion(one: Finding, places: Places) -> dict[str, Any] | None:
    """All edits of a fix as one change, with what stands between them.

    None when it reaches into other files, or to where there is no column.
    """
    fix: Fix | None = one.fix
    if fix is None or not places.knows(one.path) or any(edit.path != one.path for edit in fix.edits):
        return None
    edits = sorted(fix.edits, key=lambda edit: (edit.start, edit.end))
    if not places.shows(one.path, edits[0].start):
        return None
    parts: list[str] = []
    done = edits[0].start
    for edit in edits:
        parts += (places.bytes_between(one.path, done, edit.start).decode("utf-8", "replace"), edit.text)
        done = edit.end
    ends = {}
    for name, offset in (("start", edits[0].start), ("end", done)):
        line, column = places.position(one.path, offset)
        ends[name] = {"line": line, "column": places.byte_column(one.path, line, column)}
    return {"range": ends, "text": "".join(parts)}
