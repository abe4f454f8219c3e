"""The JSON document of a check; its fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import msgspec

from kiplint.engine.finding import Finding, Fix
from kiplint.render.formats import own
from kiplint.render.report import CheckResult, RuleInfo, RunResult
from kiplint.text.show import as_json_text, encodable, printable

VERSION = 1


def write(report: RunResult, out: TextIO, *, color: bool) -> None:
    """Write the document of any result."""
    write_document(own("json", report).document(report), out)


def write_document(value: object, out: TextIO) -> None:
    """Write JSON, indented by two blanks."""
    out.write(pretty(value) + "\n")


def document(report: CheckResult) -> dict[str, Any]:
    """What `kiplint check --output-format json` writes."""
    return {
        "version": VERSION,
        "findings": [*rows(report)],
        "summary": report.summary,
        **({} if report.stale is None else {"stale": report.stale}),
    }


def rows(report: CheckResult) -> Iterator[dict[str, Any]]:
    """The findings, an object each."""
    return (as_json(one, report.rules.get(one.rule)) for one in report.findings)


def encoded(value: object) -> str:
    """JSON on one line, with an escape for everything in it that could act on a terminal."""
    return printable(msgspec.json.encode(value).decode(), as_json_text)


def pretty(value: object) -> str:
    """The same, indented by two blanks."""
    return msgspec.json.format(encoded(value), indent=2)


def as_json(finding: Finding, rule: RuleInfo | None = None) -> dict[str, Any]:
    """A finding as a JSON object, with what is known of its rule."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "path": encodable(finding.path),
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "pointer": finding.pointer,
        "message_name": finding.message_name,
        "source": finding.source,
        "fingerprint": finding.fingerprint,
        "fixable": finding.fixable,
        **({"url": rule.url} if rule and rule.url else {}),
        **({"fix": _fix(finding.fix)} if finding.fix else {}),
        **({"instead": finding.instead} if finding.instead else {}),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [{"path": encodable(one.path), "start": one.start, "end": one.end, "text": one.text} for one in fix.edits]
    return {"applicability": fix.applicability, "edits": edits}
