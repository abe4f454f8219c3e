"""Migrations and new definitions as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kiplint.fixes.result import Row
from kiplint.report.migration.documents import FileObject, MigrationDocument, MigrationSummary, NewDocument, RpcObject
from kiplint.report.migration.text import STATES
from kiplint.report.output_schema import EditObject
from kiplint.runs.migrating import MigrationResult
from kiplint.text.show import encodable


def document(result: MigrationResult) -> MigrationDocument:
    """What `kiplint migrate ... --output-format json` writes; offsets of edits are in bytes of the files before."""
    counts: Counter[Any] = Counter(row.state for row in result.rows)
    edits = (
        EditObject(encodable(one.path), edit.start, edit.end, edit.text) for one in result.files for edit in one.edits
    )
    numbers = {state: counts[state] for state in STATES}
    return MigrationDocument(
        1, tuple(map(_rpc, result.rows)), tuple(edits), MigrationSummary(len(result.files), **numbers)
    )


def _rpc(row: Row) -> RpcObject:
    return RpcObject(
        name=row.name,
        api_key=row.api_key,
        state=row.state,
        base_versions=row.base_versions,
        versions=row.versions,
        header_versions=row.header_versions,
        done=row.done,
        look=row.look,
        directory=encodable(row.directory),
    )


def new_document(files: Mapping[str, bytes]) -> NewDocument:
    """What `kiplint new ... --output-format json` writes of the new files, by path."""
    return NewDocument(1, tuple(FileObject(encodable(path), data.decode()) for path, data in files.items()))
