"""Reports for CI platforms: GitLab code quality and JUnit XML.

Of GitLab's five severities an error is major, a warning minor, and info is info; no finding is critical or a blocker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from kiplint.compat.change import ChangeFinding
from kiplint.engine.finding import Finding, Severity
from kiplint.render.json import write_rows
from kiplint.render.report import Report, fingerprints
from kiplint.text.show import printable

GITLAB: Final[dict[Severity, str]] = {"error": "major", "warning": "minor", "info": "info"}


def write_gitlab(report: Report, out: TextIO) -> None:
    """Write a code quality report: a JSON array with a finding a line."""
    findings = (*report.findings, *report.accepted)
    rows = (
        {
            "description": f"{finding.rule}: {printable(_text(finding))}",
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": GITLAB["info" if _reason(finding) else finding.severity],
            "location": {
                "path": printable(report.path_in_repository(finding.path)) or ".",
                "lines": {"begin": finding.line, "end": finding.end_line},
            },
        }
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    )
    write_rows("[", rows, "]\n", out)


def _reason(finding: Finding) -> str:
    """Why a change is accepted; empty for other findings."""
    return finding.accepted if isinstance(finding, ChangeFinding) else ""


def _text(finding: Finding) -> str:
    """What a finding says; of an accepted change also the reason."""
    reason = _reason(finding)
    return f"{finding.message}; accepted: {reason}" if reason else finding.summary


def write_junit(report: Report, out: TextIO) -> None:
    """Write a suite for each file that was checked or has findings, and a failure for each finding.

    A suite without findings has one passing case. Findings without consequences, such as the additions of a release,
    and accepted changes are passing cases too.
    """
    by_file: dict[str, list[Finding]] = {path: [] for path in report.paths}
    for finding in (*report.findings, *report.accepted):
        by_file.setdefault(finding.path, []).append(finding)
    name = f"kiplint {report.command}"
    suites = by_file or {name: []}
    tests = sum(max(1, len(findings)) for findings in suites.values())
    failures = sum(not _is_harmless(finding, report) for finding in report.findings)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites name="{escape(name)}" tests="{tests}" failures="{failures}" errors="0">\n')
    for path, findings in suites.items():
        _write_suite(path or name, findings, report, out)
    out.write("</testsuites>\n")


def _write_suite(path: str, findings: Sequence[Finding], report: Report, out: TextIO) -> None:
    """Write the suite of a file; the findings without a file have the name of the run as their `path`."""
    suite = escape(path)
    tests = max(1, len(findings))
    failures = sum(not _is_harmless(finding, report) for finding in findings)
    out.write(f'  <testsuite name="{suite}" tests="{tests}" failures="{failures}" errors="0" skipped="0">\n')
    if not findings:  # one case, which passes
        out.write(f'    <testcase name="{escape(f"kiplint {report.command}")}" classname="{suite}"/>\n')
    for finding in findings:
        location = f"{path}:{finding.line}:{finding.column}"
        _, _, remark = finding.remark.partition(": ")  # without its label, as in `source: KIP-482`
        in_brackets = f" ({remark})" if remark else ""
        text = escape(f"{location}: {finding.severity} {finding.rule} {_text(finding)}{in_brackets}")
        if _is_harmless(finding, report):
            result = f"<system-out>{text}</system-out>"
        else:
            result = f'<failure type="{finding.severity}" message="{escape(finding.summary)}">{text}</failure>'
        out.write(f'    <testcase name="{escape(f"{finding.rule}: {finding.summary}")}" classname="{suite}">\n')
        out.write(f"      {result}\n    </testcase>\n")
    out.write("  </testsuite>\n")


def _is_harmless(finding: Finding, report: Report) -> bool:
    """Whether a finding fails nothing: its severity needs no action, or it is an accepted change."""
    return finding.severity in report.harmless or bool(_reason(finding))


def escape(text: str) -> str:
    """Text for XML 1.0, between tags or in double quotes; unprintable characters are escaped as text."""
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace('"', "&quot;")
