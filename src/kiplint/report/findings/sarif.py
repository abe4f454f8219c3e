"""SARIF 2.1.0, for code scanning and editors. Results are written one by one, a line each.

Code scanning refuses more than 25,000 results of a run: the least severe are left out then, and a notification says so.
Columns count characters and the end column is exclusive, as in our spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TextIO
from urllib.parse import quote

from kiplint import __version__
from kiplint.engine.finding import SEVERITIES, Finding, Severity, Span
from kiplint.report.findings.fingerprints import fingerprints
from kiplint.report.findings.json import encoded
from kiplint.report.findings.places import Places
from kiplint.report.findings.sarif_rules import LEVELS, descriptor
from kiplint.runs.result import OldPlace, Report
from kiplint.text.show import printable
from kiplint.text.words import plural

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LIMIT = 25_000

Item = tuple[Finding, OldPlace | None]


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one log with one run."""
    items = _kept(report)
    known: dict[str, Severity] = {}
    for one, _ in items:
        known.setdefault(one.rule, one.severity)
    rules = {rule: number for number, rule in enumerate(sorted(known))}
    head = {
        "tool": {
            "driver": {
                "name": "kiplint",
                "semanticVersion": __version__,
                "rules": [descriptor(rule, report.rules.get(rule), known[rule]) for rule in rules],
            }
        },
        "automationDetails": {"id": f"kiplint/{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, len(items))],
    }
    opening = f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[\n'
    out.write(f'{opening}{encoded(head)[:-1]},"results":[')
    before = "\n"
    for row in _results(report, items, rules):
        out.write(before + encoded(row))
        before = ",\n"
    out.write("\n]}\n]}\n")


def _kept(report: Report) -> Sequence[Item]:
    items = list(zip(report.findings, report.before or repeat(None), strict=bool(report.before)))
    if len(items) > LIMIT:
        items.sort(key=lambda item: SEVERITIES.index(item[0].severity))
    return items[:LIMIT]


def _invocation(report: Report, kept: int) -> dict[str, Any]:
    left_out = len(report.findings) - kept
    said = f"{plural(left_out, 'result')} of {len(report.findings):,} left out, the least severe: a run holds {LIMIT:,}"
    return {
        "executionSuccessful": report.status != "error",
        **({"toolExecutionNotifications": [{"level": "warning", "message": {"text": said}}]} if left_out else {}),
    }


def _results(report: Report, items: Sequence[Item], rules: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    marks = fingerprints(one for one, _ in items)
    places = Places(report.sources)
    for (one, old), mark in zip(items, marks, strict=True):
        related = old if old and old != (one.path, one.span) else None
        yield {
            "ruleId": one.rule,
            "ruleIndex": rules[one.rule],
            "level": LEVELS[one.severity],
            "message": {"text": message_text(one.told)},
            **({"locations": [_location(report, one.path, one.span)]} if one.path else {}),
            **({"relatedLocations": [_related(report, *related)]} if related else {}),
            "partialFingerprints": {"primaryLocationLineHash": mark},
            **_fixes(report, one, places),
        }


def _fixes(report: Report, one: Finding, places: Places) -> dict[str, Any]:
    if one.fix is None:
        return {}
    from kiplint.report.findings.sarif_fixes import fixes  # few findings have any

    found = fixes(one.fix, places, lambda path: uri(report.in_repository(path)))
    return {"fixes": found} if found else {}


def _related(report: Report, path: str, span: Span) -> dict[str, Any]:
    said = message_text(f"before the change: {path}:{span.line}:{span.column}")
    return {"id": 1, **_location(report, path, span), "message": {"text": said}}


def _location(report: Report, path: str, span: Span) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri(report.in_repository(path))},
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.end_line,
                "endColumn": span.end_column,
            },
        }
    }


def uri(path: str) -> str:
    """The reference to a file: relative, or with the scheme `file` for an absolute path; percent-encoded."""
    return ("file://" if path.startswith("/") else "") + quote(printable(path), safe="/")


def message_text(text: str) -> str:
    """Text as a plain message, in which `[text](target)` would be a link."""
    return printable(text).replace("](", "\\](")
