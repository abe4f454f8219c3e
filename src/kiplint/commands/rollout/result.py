"""The JSON document of a rollout; its fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kiplint.commands.rollout.run import RolloutResult
from kiplint.compat.rollout import Row, summary


def document(result: RolloutResult) -> dict[str, Any]:
    """The document of a result."""
    return rollout_document(result.rows, result.header)


def rows(result: RolloutResult) -> Iterator[dict[str, Any]]:
    """The RPCs, an object each."""
    return map(row_object, result.rows)


def rollout_document(rows: Sequence[Row], header: int) -> dict[str, Any]:
    """What `kiplint rollout --output-format json` writes."""
    return {"version": 1, "header": header, "rpcs": [row_object(row) for row in rows], "summary": summary(rows)}


def row_object(row: Row) -> dict[str, Any]:
    """One RPC as a JSON object."""
    return {
        "name": row.name,
        "api_key": row.api_key,
        "status": row.status,
        "base_versions": row.base_versions,
        "versions": row.versions,
        "header_versions": row.header_versions,
        "message": row.message,
        **({"note": row.note} if row.note else {}),
    }
