"""The table `sources`: the lines of history of a lake, each as a run has finished it. It takes no Spark."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake import ONCE, has_table
from kiplint.pipeline.tables import TABLES
from kiplint.text.words import did_you_mean

NAME: Final = "sources"
WALKED: Final = ("blobs", "files", "sets", "revisions")
"""The tables of what git has: what is known of a revision is in all of them."""
Sources = dict[tuple[str, str], dict[str, Any]]
"""The rows by source and lineage."""


def read_sources(path: Path) -> Sources:
    """The rows of a lake, none where there is no lake."""
    if not has_table(path, NAME):
        return {}
    rows = DeltaTable(path / NAME).to_pyarrow_table().to_pylist()
    return {(row["source"], row["lineage"]): row for row in rows}


def write_sources(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace all rows of a lake, which has the table."""
    table = DeltaTable(path / NAME)
    data = pa.Table.from_pylist(list(rows), pa.schema(table.schema().to_arrow()))
    write_deltalake(table, data, mode="overwrite", commit_properties=ONCE)


def drop_sources(path: Path, names: Iterable[str]) -> None:
    """Remove the revisions, spans and drift of sources; contents stay. Raises UsageError for an unknown source."""
    rows = read_sources(path)
    known = {source for source, _ in rows}
    for name in names:
        if name not in known:
            raise UsageError(f"the lake has no source {name}{did_you_mean(name, known)}")
        if known == {name}:
            raise UsageError(f"{name} is the only source of the lake: delete {path} instead")
        if any(row["upstream"] for key, row in rows.items() if key[0] == name):
            raise UsageError(f"the forks are compared with {name}: run with --upstream NAME first")
        for table in ("revisions", "spans", "drift"):
            DeltaTable(path / table).delete(f"source = '{name}'")
        rows = {key: row for key, row in rows.items() if key[0] != name}
        write_sources(path, rows.values())


def begin_again_without(path: Path, rows: Sources) -> Sources:
    """The rows, as unfinished where a table of the lake is missing: somebody has deleted it to have it made again."""
    missing = [name for name in TABLES if not has_table(path, name)]
    if not rows or not missing:
        return rows
    unfinished = {key: {**row, "state": "", "rules_id": ""} for key, row in rows.items()}
    write_sources(path, unfinished.values())
    if not set(WALKED).isdisjoint(missing):
        shutil.rmtree(path / "revisions", ignore_errors=True)
    return unfinished
