"""KIPs as JSON; the fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.report.diff.json import change_object
from kiplint.report.findings.json import as_json
from kiplint.report.layout.json import layout_object
from kiplint.runs.kip.result import DraftRow, KipReport, KipResult
from kiplint.text.show import encodable

VERSION = 1


def rows(result: KipResult) -> Iterator[dict[str, Any]]:
    """The findings, an object each."""
    return map(as_json, result.findings)


def document(result: KipResult) -> dict[str, Any]:
    """What `kiplint kip --output-format json` writes; all places are in the KIPs."""
    return {
        "version": VERSION,
        "kips": [_kip(one) for one in result.kips],
        "findings": list(rows(result)),
        "summary": {
            **result.summary,
            "changes": sum(len(one.changes) for one in result.kips),
            "differences": sum(len(one.differences) for one in result.kips),
        },
    }


def _kip(one: KipReport) -> dict[str, Any]:
    return {
        "path": encodable(one.path),
        "definitions": [_draft(row) for row in one.drafts],
        "changes": [change_object(change) for change in one.changes],
        "differences": [change_object(change) for change in one.differences],
        "layouts": [
            {
                "message_name": found.message.name,
                "message_type": found.message.type,
                "layouts": [layout_object(found.message, versions) for versions in found.ranges],
            }
            for found in one.layouts
        ],
        "loose": list(one.loose),
        "grammar": list(one.grammar),
    }


def _draft(row: DraftRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "type": row.type,
        "valid_versions": row.versions,
        "state": row.state,
        "line": row.span.line,
        "column": row.span.column,
        "end_line": row.span.end_line,
        "end_column": row.span.end_column,
    }
