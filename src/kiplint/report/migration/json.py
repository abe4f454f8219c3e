"""A migration as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kiplint.fixes.result import Row
from kiplint.report.migration.text import STATES
from kiplint.runs.migrating import MigrationResult
from kiplint.text.show import encodable

VERSION = 1


def rows(result: MigrationResult) -> Iterator[dict[str, Any]]:
    """The RPCs, an object each."""
    return map(row_object, result.rows)


def document(result: MigrationResult) -> dict[str, Any]:
    """What `kiplint migrate ... --output-format json` writes; offsets of edits are in bytes of the files before."""
    counts, files = Counter(row.state for row in result.rows), result.files
    return {
        "version": VERSION,
        "rpcs": list(rows(result)),
        "edits": [
            {"path": encodable(one.path), "start": edit.start, "end": edit.end, "text": edit.text}
            for one in files
            for edit in one.edits
        ],
        "summary": {"files": len(files), **{state: counts[state] for state in STATES}},
    }


def row_object(row: Row) -> dict[str, Any]:
    """One RPC as a JSON object."""
    return {
        "name": row.name,
        "api_key": row.api_key,
        "state": row.state,
        "base_versions": row.base_versions,
        "versions": row.versions,
        "header_versions": row.header_versions,
        "done": list(row.done),
        "look": list(row.look),
    }
