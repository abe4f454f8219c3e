"""Reports that platforms read: code quality of GitLab, diagnostics of reviewdog, and JUnit XML.

Of GitLab's five severities an error is major, a warning minor, and info is info; no finding is critical or a blocker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TextIO

from kiplint.engine.finding import Finding, Fix, Severity
from kiplint.render.findings.json import write_rows
from kiplint.render.report import Report, fingerprints
from kiplint.text.lines import Places
from kiplint.text.show import printable

GITLAB: Final[dict[Severity, str]] = {"error": "major", "warning": "minor", "info": "info"}
REVIEWDOG: Final[dict[Severity, str]] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def write_gitlab(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one JSON array, a finding a line."""
    rows = (
        {
            "description": f"{finding.rule}: {printable(finding.summary)}",
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": GITLAB[finding.severity],
            "location": {
                "path": printable(report.in_repository(finding.path)) or ".",
                "lines": {"begin": finding.line, "end": finding.end_line},
            },
        }
        for finding, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True)
    )
    write_rows("[", rows, "]\n", out)


def write_rdjson(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one document of reviewdog, a diagnostic a line; columns count bytes of UTF-8."""
    places = Places(report.sources)
    rows = (_diagnostic(finding, report, places) for finding in report.findings)
    write_rows('{"source":{"name":"kiplint"},"diagnostics":[', rows, "]}\n", out)


def _diagnostic(finding: Finding, report: Report, places: Places) -> dict[str, Any]:
    start, end = (
        {"line": line, "column": places.byte_column(finding.path, line, column)}
        for line, column in ((finding.line, finding.column), (finding.end_line, finding.end_column))
    )
    suggestions = [suggestion for fix in finding.choices if (suggestion := _suggestion(finding, fix, places))]
    rule = report.rules.get(finding.rule)
    return {
        "message": printable(finding.summary),
        "location": {"path": printable(report.in_repository(finding.path)), "range": {"start": start, "end": end}},
        "severity": REVIEWDOG[finding.severity],
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
    start = end = edits[0].start
    if not places.shows(finding.path, start):
        return None
    parts: list[str] = []
    for edit in edits:
        parts += (places.bytes_between(finding.path, end, edit.start).decode("utf-8", "replace"), edit.text)
        end = edit.end
    ends = {}
    for name, offset in (("start", start), ("end", end)):
        line, column = places.position(finding.path, offset)
        ends[name] = {"line": line, "column": places.byte_column(finding.path, line, column)}
    return {"range": ends, "text": "".join(parts)}


def write_junit(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a suite for each file that was checked or has findings, and a failure for each finding.

    A suite without findings has one passing case. Findings without consequences, such as the additions of a release,
    are passing cases too.
    """
    by_file: dict[str, list[Finding]] = {path: [] for path in report.paths}
    for finding in report.findings:
        by_file.setdefault(finding.path, []).append(finding)
    name = f"kiplint {report.command}"
    suites = by_file or {name: []}
    tests = sum(max(1, len(findings)) for findings in suites.values())
    failures = sum(finding.severity not in report.harmless for finding in report.findings)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites name="{escape(name)}" tests="{tests}" failures="{failures}" errors="0">\n')
    for path, findings in suites.items():
        _write_suite(path or name, findings, report, out)
    out.write("</testsuites>\n")


def _write_suite(path: str, findings: Sequence[Finding], report: Report, out: TextIO) -> None:
    suite = escape(path)
    tests = max(1, len(findings))
    failures = sum(finding.severity not in report.harmless for finding in findings)
    out.write(f'  <testsuite name="{suite}" tests="{tests}" failures="{failures}" errors="0" skipped="0">\n')
    if not findings:
        out.write(f'    <testcase name="{escape(f"kiplint {report.command}")}" classname="{suite}"/>\n')
    for finding in findings:
        place = f"{path}:{finding.line}:{finding.column}"
        source = f" ({finding.remark.partition(': ')[2]})" if finding.remark else ""
        text = escape(f"{place}: {finding.severity} {finding.rule} {finding.summary}{source}")
        failure = f'<failure type="{finding.severity}" message="{escape(finding.summary)}">{text}</failure>'
        out.write(
            f'    <testcase name="{escape(f"{finding.rule}: {finding.summary}")}" classname="{suite}">\n'
            f"      {f'<system-out>{text}</system-out>' if finding.severity in report.harmless else failure}\n"
            "    </testcase>\n"
        )
    out.write("  </testsuite>\n")


def escape(text: str) -> str:
    """Text for XML 1.0, between tags or in double quotes; unprintable characters are escaped as text."""
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace('"', "&quot;")
