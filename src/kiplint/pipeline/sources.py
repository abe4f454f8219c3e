"""The table `sources`: the lines of history of a lake, each as a run has finished it. It takes no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line
from kiplint.pipeline.lake import ONCE, has_table
from kiplint.text.words import did_you_mean

NAME: Final = "sources"


def read_sources(path: Path) -> dict[tuple[str, str], Line]:
    """The lines of a lake by their keys, none where there is no lake."""
    rows = DeltaTable(path / NAME).to_pyarrow_table().to_pylist() if has_table(path, NAME) else ()
    return {line.key: line for line in (Line(**row) for row in rows)}


def write_sources(path: Path, lines: Iterable[Line]) -> None:
    """Replace all rows of a lake, which has the table."""
    table = DeltaTable(path / NAME)
    data = pa.Table.from_pylist([line._asdict() for line in lines], pa.schema(table.schema().to_arrow()))
    write_deltalake(table, data, mode="overwrite", commit_properties=ONCE)


def drop_sources(path: Path, names: Sequence[str]) -> None:
    """Remove the revisions, spans and drift of sources; contents stay. Raises UsageError for an unknown source."""
    lines = read_sources(path).values()
    known = {line.source for line in lines}
    upstream = {line.source for line in lines if line.upstream}
    for name in names:
        if name not in known:
            raise UsageError(f"the lake has no source {name}{did_you_mean(name, known)}")
        if known == {name}:
            raise UsageError(f"{name} is the only source of the lake: delete {path} instead")
        if name in upstream:
            raise UsageError(f"the forks are compared with {name}: run with --upstream NAME first")
        for table in ("revisions", "spans", "drift"):
            if has_table(path, table):
                DeltaTable(path / table).delete(f"source = '{name}'")
    write_sources(path, [line for line in lines if line.source not in names])
