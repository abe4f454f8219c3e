"""What a small lake would answer to `pipeline report`, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kiplint.commands.pipeline.report import TITLES
from kiplint.pipeline.answers import Rows

MAIN = {"source": "sample", "lineage": "main"}
TIMES = [datetime(2024, month, 8, 12, tzinfo=UTC) for month in (1, 2, 5, 9)]
HISTORY = [(2, 0, 9, 1), (2, 0, 10, 2), (3, 0, 13, 2), (3, 1, 14, 1)]
"""For each revision its RPCs, those with request header 3, its versions, and its open errors."""


def report_answers(name: str) -> dict[str, Rows]:
    """The answers of a report: one line of four revisions, and rows in which a stranger has chosen the name."""
    history = [
        {**MAIN, "position": at, "time": TIMES[at], "release": "1.0.0" if at == 1 else None}
        | {"rpcs": rpcs, "adopted": adopted, "versions": versions, "errors": errors, "warnings": 1}
        for at, (rpcs, adopted, versions, errors) in enumerate(HISTORY)
    ]
    rows: dict[str, list[dict[str, Any]]] = {table: [{**MAIN, "messages": name}] for table in TITLES}
    rows["findings"] = [{**MAIN, "errors": 1, "warnings": 1, "infos": 0, "fixed": 2}]
    rows["breaks"] = [{**MAIN, "time": TIMES[1], "release": "1.0.0", "rule": "compat/layout-changed", "messages": name}]
    rows["errors"] = [{**MAIN, "rule": rule, "messages": name} for rule in ("tags/gap", "fields/unknown-type")]
    return {table: as_rows(some) for table, some in {**rows, "history": history}.items()}


def as_rows(records: Sequence[Mapping[str, Any]]) -> Rows:
    return Rows([*records[0]], [tuple(record.values()) for record in records])
