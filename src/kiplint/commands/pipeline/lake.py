"""The shared steps of the pipeline commands: start Spark, open a lake, write an answer."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from warnings import catch_warnings

import msgspec

from kiplint.cli.process import CLEAN, EndSignal, unguarded
from kiplint.engine.errors import UsageError

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader
    from pyspark.sql import SparkSession

    from kiplint.cli.options import Cluster
    from kiplint.pipeline.answers.reader import Reader


def need_spark() -> None:
    """Raise UsageError, saying what to install, where Spark is not there."""
    _need("Spark", "pyspark", "pyarrow", "deltalake")


@contextmanager
def one_session(cluster: Cluster) -> Iterator[Callable[[], SparkSession]]:
    """A function that creates the session at the first call and returns it again later; it is stopped at the end.

    Ctrl-C ends it silently: Spark's own handler would call the JVM during another call, and Py4J would log that.
    """
    from kiplint.pipeline.run import read_conf

    conf = read_conf(cluster.conf)
    sessions: list[SparkSession] = []

    def session() -> SparkSession:
        from kiplint.pipeline.session import make_session

        if not sessions:
            logging.getLogger().addHandler(logging.NullHandler())
            sessions.append(make_session(cluster.master, cluster.remote, conf))
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return sessions[0]

    try:
        yield session
    except (KeyboardInterrupt, EndSignal):
        while sessions:
            # The terminal has sent Ctrl-C to the JVM too: it may have ended, or have an answer that nobody awaits.
            with suppress(Exception), catch_warnings(action="ignore"):
                sessions.pop().stop()
        raise
    finally:
        for running in sessions:
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


def present_answer(document: msgspec.Struct, form: str, color: str) -> int:
    """Write an answer as text, json or markdown."""
    from kiplint.cli.output import present
    from kiplint.commands.pipeline.result import LakeAnswer

    return present(LakeAnswer(document=document), form, color)


def write_rows(batches: RecordBatchReader, form: str, limit: int | None) -> int:
    """Write rows as they come, as CSV with a line of names, or as a Parquet file; at most `limit`."""
    import pyarrow as pa
    from pyarrow import csv
    from pyarrow import parquet as pq

    if form == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet cannot be written to a terminal: write it to a file, as in > rows.parquet")
    rows_left = sys.maxsize if limit is None else limit
    out = unguarded(sys.stdout) if form == "parquet" else sys.stdout.buffer
    make = pq.ParquetWriter if form == "parquet" else csv.CSVWriter
    flat: Callable[[RecordBatch], RecordBatch] = (lambda batch: batch) if form == "parquet" else _flat
    empty = pa.RecordBatch.from_pylist([], batches.schema)
    with make(out, flat(empty).schema) as writer:
        for rows in batches:
            if not rows_left:
                break
            some = rows.slice(0, rows_left)
            rows_left -= some.num_rows
            writer.write_batch(flat(some))
    out.flush()
    return CLEAN


def _flat(batch: RecordBatch) -> RecordBatch:
    """Rows as CSV can have them: lists and structs as JSON text."""
    import json

    import pyarrow as pa

    def text(value: object) -> str | None:
        return None if value is None else json.dumps(value, default=str)

    columns = [
        pa.array(map(text, column.to_pylist()), pa.string()) if pa.types.is_nested(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
