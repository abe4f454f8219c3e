"""What a small lake would answer to `pipeline report`, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kiplint.commands.pipeline.report import TITLES
from kiplint.pipeline.answers import Rows

MAIN = {"source": "sample", "lineage": "main"}
TIMES = [datetime(2024, month, 8, 12, tzinfo=UTC) for month in (1, 2, 5, 9)]
ERRORS = [1, 2, 2, 1]
"""The open errors of each revision."""


def report_answers(name: str) -> dict[str, Rows]:
    """The answers of a report: one line of four revisions, and rows in which a stranger has chosen the name."""
    history = [
        {**MAIN, "time": time, "release": "1.0.0" if errors == 2 else None, "errors": errors, "warnings": 1}
        for time, errors in zip(TIMES, ERRORS, strict=True)
    ]
    rows: dict[str, list[dict[str, Any]]] = {table: [{**MAIN, "messages": name}] for table in TITLES}
    rows["findings"] = [{**MAIN, "errors": 1, "warnings": 1, "infos": 0, "fixed": 2}]
    rows["breaks"] = [{**MAIN, "time": TIMES[1], "release": "1.0.0", "rule": "compat/layout-changed", "messages": name}]
    rows["errors"] = [{**MAIN, "rule": rule, "messages": name} for rule in ("tags/gap", "fields/unknown-type")]
    rows["bars"] = [{"rule": name, "introduced_time": TIMES[1], "fixed_time": None, "end_time": TIMES[3]}]
    rows["drift"] = [{"fork": name, "same": 3, "only_in_fork": 1, "collision": 0}]
    rows["matrix"] = [
        {"source": name, "client": client, "broker": broker, "troubles": int(client < broker)}
        for client in ("1.0.0", name)
        for broker in ("1.0.0", name)
    ]
    return {table: as_rows(some) for table, some in {**rows, "history": history}.items()}


def as_rows(records: Sequence[Mapping[str, Any]]) -> Rows:
    return Rows([*records[0]], [tuple(record.values()) for record in records])
