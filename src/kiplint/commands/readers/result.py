"""Readers as JSON; the fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.commands.readers.run import Befallen, ReaderRow, ReadersResult
from kiplint.commands.readers.text import sentence
from kiplint.render.findings.json import as_json
from kiplint.text.show import encodable

VERSION = 1


def rows(result: ReadersResult) -> Iterator[dict[str, Any]]:
    """The findings, an object each."""
    return map(as_json, result.findings)


def document(result: ReadersResult) -> dict[str, Any]:
    """What `kiplint readers --output-format json` writes."""
    return {
        "version": VERSION,
        "readers": [_reader(row) for row in result.rows],
        "findings": list(rows(result)),
        "summary": {
            **result.summary,
            "fails": sum(len(row.fails) for row in result.rows),
            "misreads": sum(len(row.misreads) for row in result.rows),
            "sentence": encodable(sentence(result)),
        },
    }


def _reader(row: ReaderRow) -> dict[str, Any]:
    return {
        "name": row.profile.name,
        "title": row.profile.title,
        "repository": row.profile.repository,
        "reads": row.reads,
        "fails": [{**_where(one), "why": encodable(one.reading.why)} for one in row.fails],
        "misreads": [
            {
                **_where(one),
                "versions": one.reading.versions,
                "what": one.reading.what,
                "kafka": encodable(one.reading.really),
                "reader": encodable(one.reading.taken),
            }
            for one in row.misreads
        ],
        "ignores": {encodable(name): count for name, count in row.ignores.items()},
        "leaves_out": [encodable(name) for name in row.leaves_out],
    }


def _where(one: Befallen) -> dict[str, Any]:
    finding = one.finding
    return {
        "message_name": encodable(finding.message_name),
        "path": encodable(finding.path),
        "line": finding.span.line,
        "column": finding.span.column,
        "pointer": encodable(finding.pointer),
        "severity": finding.severity,
    }
