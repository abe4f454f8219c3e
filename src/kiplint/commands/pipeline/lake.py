"""What the commands of the pipeline share: Spark is asked for, a lake opened, an answer written."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from kiplint.cli.process import CLEAN, Ended, use_color
from kiplint.engine.errors import UsageError
from kiplint.render.markdown import inline, write_row
from kiplint.render.table import DIM, paint, table, title, width_of
from kiplint.text.show import printable

if TYPE_CHECKING:
    from pyarrow import DataType, RecordBatch, RecordBatchReader, Schema
    from pyspark.sql import SparkSession

    from kiplint.cli.options import Cluster
    from kiplint.pipeline.answers.reader import Answer, Reader


def need_spark() -> None:
    """Raise UsageError, saying what to install, where Spark is not there."""
    _need("Spark", "pyspark", "pyarrow", "deltalake")


def is_elsewhere(cluster: Cluster) -> bool:
    """Whether Spark may work on other machines; `spark-submit` does not say where before it has begun."""
    from kiplint.pipeline.run import read_conf

    master = read_conf(cluster.conf).get("spark.master") or cluster.master or ""
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    return bool(cluster.remote) or (not master.startswith("local") if master else submitted)


@contextmanager
def one_session(cluster: Cluster, *, quiet: bool = False) -> Iterator[Callable[[], SparkSession]]:
    """What makes the session when it is first asked for, and gives the same again; it is stopped at the end.

    Ctrl-C ends it in silence: Spark's own handler would ask the JVM in the midst of another call, Py4J log that, and
    the JVM complain of each task that it does not finish.
    """
    from kiplint.pipeline.run import read_conf

    conf = read_conf(cluster.conf)
    made: list[SparkSession] = []

    def session() -> SparkSession:
        from kiplint.pipeline.session import make_session

        if not made:
            logging.getLogger().addHandler(logging.NullHandler())
            made.append(make_session(cluster.master, cluster.remote, conf, quiet=quiet))
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return made[0]

    try:
        yield session
    except (KeyboardInterrupt, Ended):
        from kiplint.pipeline.session import silence

        while made:
            silence(made[-1])
            with suppress(Exception):  # whose answer was not awaited cannot be asked in order
                made.pop().stop()
        raise
    finally:
        for running in made:
            running.stop()


def _need(what: str, *packages: str) -> None:
    if any(importlib.util.find_spec(name) is None for name in packages):
        raise UsageError(f"kiplint pipeline needs {what}: pip install 'kiplint[pipeline]'")


def open_lake(path: str, as_of: str = "") -> Reader:
    """The tables of a lake, to be read without Spark. Raises UsageError where there is none."""
    _need("DuckDB", "duckdb", "pyarrow", "deltalake")
    from kiplint.pipeline.answers.reader import Reader
    from kiplint.pipeline.lake.lake import Lake

    return Reader(Lake(path), as_of)


def write_answer(answer: Answer, form: str, color: str) -> int:
    """Write an answer as text, json or markdown."""
    import json

    if form == "json":
        json.dump(answer.document, sys.stdout, indent=2)
        sys.stdout.write("\n")
    elif form == "markdown":
        write_markdown(answer.grids, sys.stdout)
    else:
        write_text(answer.grids, sys.stdout, color=use_color(color, sys.stdout))
    return CLEAN


def write_rows(batches: RecordBatchReader, form: str, limit: int | None) -> int:
    """Write rows as they come, as CSV with a line of names, or as a Parquet file; at most `limit`."""
    from pyarrow import csv
    from pyarrow import parquet as pq

    if form == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is nothing for a terminal: write it to a file, as in > rows.parquet")
    left = sys.maxsize if limit is None else limit
    out = sys.stdout.buffer
    make = pq.ParquetWriter if form == "parquet" else csv.CSVWriter
    flat = batches.schema if form == "parquet" else _flat(batches.schema)
    with make(out, flat) as writer:
        for rows in batches:
            if not left:
                break
            some = rows.slice(0, left)
            left -= some.num_rows
            writer.write_batch(some if form == "parquet" else _as_text(some, flat))
    out.flush()
    return CLEAN


def _flat(schema: Schema) -> Schema:
    """The columns as CSV can have them: lists and structs as JSON text."""
    import pyarrow as pa

    return pa.schema([(field.name, pa.string() if _is_deep(field.type) else field.type) for field in schema])


def _as_text(batch: RecordBatch, flat: Schema) -> RecordBatch:
    import pyarrow as pa

    columns = [
        pa.array(map(_json, column.to_pylist()), pa.string()) if _is_deep(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=flat)


def _json(value: object) -> str | None:
    import json

    return None if value is None else json.dumps(value, default=str)


def _is_deep(kind: DataType) -> bool:
    from pyarrow import types

    return bool(types.is_nested(kind) or types.is_map(kind))


NEXT = "\n"


class GridLike(Protocol):
    """A titled table of text, with a note below."""

    @property
    def title(self) -> str:
        """The heading."""

    @property
    def columns(self) -> Sequence[str]:
        """The heads of the columns."""

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """The cells."""

    @property
    def note(self) -> str:
        """What stands below the table."""


def write_text(grids: Iterable[GridLike], out: TextIO, *, color: bool) -> None:
    """Write the grids for a terminal."""
    parts = []
    for grid in grids:
        lines = [
            title(grid.title, color),
            *table(grid.columns, ([(cell, "") for cell in row] for row in grid.rows), color, width_of(out)),
        ]
        parts.append("\n".join([*lines, *([paint(f"  {printable(grid.note)}", DIM, color)] if grid.note else [])]))
    out.write("\n\n".join(parts) + "\n")


def write_markdown(grids: Iterable[GridLike], out: TextIO) -> None:
    """Write the grids as Markdown."""
    for number, grid in enumerate(grids):
        out.write(f"{NEXT if number else ''}## {inline(grid.title)}\n\n")
        if grid.rows:
            write_row(map(inline, grid.columns), out)
            write_row(["---"] * len(grid.columns), out)
        for row in grid.rows:
            write_row(map(inline, row), out)
        if grid.note:
            out.write(f"{NEXT if grid.rows else ''}{inline(grid.note)}\n")
