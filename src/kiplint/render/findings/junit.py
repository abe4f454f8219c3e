"""JUnit XML: one suite for each file, with a failure for each finding, or one passing case when there is none.

Findings without consequences, such as the additions of a release, are passing cases too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kiplint.engine.finding import Finding
from kiplint.render.report import Report
from kiplint.text.show import printable

ABOUT = "JUnit XML: a suite for each file, a failure for each finding; harmless changes of a diff pass."


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a suite for each file that was checked or has findings."""
    by_file: dict[str, list[Finding]] = {path: [] for path in report.paths}
    for finding in report.findings:
        by_file.setdefault(finding.path, []).append(finding)
    name = f"kiplint {report.command}"
    suites = by_file or {name: []}
    tests = sum(max(1, len(findings)) for findings in suites.values())
    failures = sum(_fails(report, finding) for finding in report.findings)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites name="{escape(name)}" tests="{tests}" failures="{failures}" errors="0">\n')
    for path, findings in suites.items():
        _write_suite(path or name, findings, report, out)
    out.write("</testsuites>\n")


def _fails(report: Report, finding: Finding) -> bool:
    return finding.severity not in report.harmless


def _write_suite(path: str, findings: Sequence[Finding], report: Report, out: TextIO) -> None:
    suite = escape(path)
    tests = max(1, len(findings))
    failures = sum(_fails(report, finding) for finding in findings)
    out.write(f'  <testsuite name="{suite}" tests="{tests}" failures="{failures}" errors="0" skipped="0">\n')
    if not findings:
        out.write(f'    <testcase name="{escape(f"kiplint {report.command}")}" classname="{suite}"/>\n')
    for finding in findings:
        place = f"{path}:{finding.span.line}:{finding.span.column}"
        source = f" ({finding.source})" if finding.source else ""
        text = escape(f"{place}: {finding.severity} {finding.rule} {finding.summary}{source}")
        failure = f'<failure type="{finding.severity}" message="{escape(finding.summary)}">{text}</failure>'
        out.write(
            f'    <testcase name="{escape(f"{finding.rule}: {finding.summary}")}" classname="{suite}">\n'
            f"      {failure if _fails(report, finding) else f'<system-out>{text}</system-out>'}\n"
            "    </testcase>\n"
        )
    out.write("  </testsuite>\n")


def escape(text: str) -> str:
    """Text for XML 1.0, between tags or in double quotes; unprintable characters are escaped as text."""
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace('"', "&quot;")
