"""The JSON document of a check; its fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from kiplint.engine.finding import Finding
from kiplint.report.findings.report import Report
from kiplint.text.show import as_json_text, encodable, printable

VERSION = 1


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one document, indented by two blanks."""
    document = report.document or {
        "version": VERSION,
        "findings": [as_json(one) for one in report.findings],
        "summary": report.summary,
        **({} if report.stale is None else {"stale": report.stale}),
    }
    out.write(msgspec.json.format(encoded(document), indent=2) + "\n")


def encoded(value: object) -> str:
    """JSON on one line, with an escape for everything in it that could act on a terminal."""
    return printable(msgspec.json.encode(value).decode(), as_json_text)


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding as a JSON object."""
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
        **({"instead": finding.instead} if finding.instead else {}),
    }
