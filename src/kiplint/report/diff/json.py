"""The JSON document of a diff; its fields are stable, and only ever added to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kiplint.compat.changes.judge import BREAKS, Judged
from kiplint.runs.diff import DiffResult
from kiplint.text.show import encodable


def diff_document(changes: Sequence[Judged], compared: int) -> dict[str, Any]:
    """What `kiplint diff --output-format json` writes."""
    counts = Counter(one.breaks for one in changes)
    return {
        "version": 1,
        "changes": [change_object(one) for one in changes],
        "summary": {"messages": compared, "changes": len(changes), **{what: counts[what] for what in BREAKS}},
    }


def document(result: DiffResult) -> dict[str, Any]:
    """The document of a result."""
    return diff_document(result.changes, result.messages)


def rows(result: DiffResult) -> Iterator[dict[str, Any]]:
    """The changes, an object each."""
    return map(change_object, result.changes)


def change_object(one: Judged) -> dict[str, Any]:
    """One change as a JSON object."""
    related = {"old_path": encodable(one.old_path)} if one.old_path else {}
    if one.old_span:
        related |= {"old_line": one.old_span.line, "old_column": one.old_span.column}  # type: ignore[dict-item]
    return {
        "rule": one.rule,
        "severity": one.severity,
        "breaks": one.breaks,
        "kind": one.kind,
        "message_name": one.message_name,
        "message_type": one.message_type,
        "versions": one.versions,
        "field": one.field,
        "path": encodable(one.path),
        "line": one.span.line,
        "column": one.span.column,
        "end_line": one.span.end_line,
        "end_column": one.span.end_column,
        "old": dict(one.old),
        "new": dict(one.new),
        "message": one.message,
        "proof": [{"reader": witness.reader, **msgspec.to_builtins(witness)} for witness in one.proof],
        **related,
    }
