"""JUnit XML: one suite for each file, with a failure for each finding, or one passing case when there is none.

Findings that a command only tells, such as what a release adds, are passing cases too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kiplint.engine.finding import Finding
from kiplint.render.report import Report
from kiplint.text.show import printable

ABOUT = "JUnit XML: a suite for each file, a failure for each finding; what a diff only tells, passes."


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a suite for each file that was looked at, as far as they are known, and that has findings."""
    by_file: dict[str, list[Finding]] = {path: [] for path in report.paths}
    for one in report.findings:
        by_file.setdefault(one.path, []).append(one)
    name = f"kiplint {report.command}"
    suites = by_file or {name: []}
    tests = sum(max(1, len(found)) for found in suites.values())
    failures = sum(_fails(report, one) for one in report.findings)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites name="{escape(name)}" tests="{tests}" failures="{failures}" errors="0">\n')
    for path, found in suites.items():
        _write_suite(path or name, found, report, out)
    out.write("</testsuites>\n")


def _fails(report: Report, one: Finding) -> bool:
    return one.severity not in report.harmless


def _write_suite(path: str, found: Sequence[Finding], report: Report, out: TextIO) -> None:
    suite = escape(path)
    tests = max(1, len(found))
    failures = sum(_fails(report, one) for one in found)
    out.write(f'  <testsuite name="{suite}" tests="{tests}" failures="{failures}" errors="0" skipped="0">\n')
    if not found:
        out.write(f'    <testcase name="{escape(f"kiplint {report.command}")}" classname="{suite}"/>\n')
    for one in found:
        place = f"{path}:{one.span.line}:{one.span.column}"
        source = f" ({one.source})" if one.source else ""
        text = escape(f"{place}: {one.severity} {one.rule} {one.summary}{source}")
        told = f'<failure type="{one.severity}" message="{escape(one.summary)}">{text}</failure>'
        out.write(
            f'    <testcase name="{escape(f"{one.rule}: {one.summary}")}" classname="{suite}">\n'
            f"      {told if _fails(report, one) else f'<system-out>{text}</system-out>'}\n"
            "    </testcase>\n"
        )
    out.write("  </testsuite>\n")


def escape(text: str) -> str:
    """Text for XML 1.0, between tags or in double quotes: what is not printable, and so perhaps no XML, as escapes."""
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace('"', "&quot;")
