"""The tables of one state of a lake, read without Spark: as Arrow, as rows, and in SQL with views on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.limits import QUERY_MEMORY
from kiplint.pipeline.answers.documents import Row
from kiplint.pipeline.answers.views import queries
from kiplint.pipeline.lake.delta import Parts, one_line, reading, rows_in
from kiplint.pipeline.lake.lake import Lake, Snapshot, all_parts
from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.lake.storage import MARK
from kiplint.pipeline.tables import TABLES, Runs


class Reader:
    """A state of a lake, the newest or that as of a time or run; raises UsageError where there is none."""

    def __init__(self, lake: Lake, as_of: str = "") -> None:
        if not lake.exists:
            raise _no_lake(lake)
        self.lake = lake
        self.snapshot: Snapshot = lake.snapshot(as_of)

    @property
    def upstream(self) -> str:
        """The source that the others are compared with; empty before the first run."""
        request = self.snapshot.request
        return request.get("upstream") or next((name.partition("=")[0] for name in request.get("sources", ())), "")

    @property
    def across(self) -> bool:
        """Whether the matrix pairs the releases of all sources."""
        return bool(self.snapshot.request.get("across"))

    @cached_property
    def duck(self) -> Duck:
        """The tables for queries in SQL."""

        return Duck(self)

    def require(self, *kinds: type[TableFrame]) -> None:
        """Raise UsageError when the stage that writes one of these has not run."""
        for kind in kinds:
            if kind.NAME not in self.snapshot.tables:
                raise UsageError(f"{self.lake} has no {kind.NAME} yet: run the other stages of `kiplint pipeline run`")

    def parts(self, kind: type[TableFrame]) -> Parts:
        """The files of a table, none when it is not there."""
        return self.lake.parts(kind.NAME, self.snapshot.tables.get(kind.NAME))

    def rows(self, kind: type[TableFrame]) -> list[Row]:
        """The rows of a table. Raises UsageError when its stage has not run, or when its files are damaged."""
        self.require(kind)
        return self.duck.rows(f"SELECT * FROM {kind.NAME}")

    def count(self, kind: type[TableFrame]) -> int:
        """How many rows a table has; none when it is not there."""
        return rows_in(self.parts(kind))


def _no_lake(lake: Lake) -> UsageError:
    """The error for a place without a lake: how to make one, unless the place has other files."""
    if lake.storage.path and lake.storage.path.is_file():
        return UsageError(f"{lake} is not a lake: it is a file")
    with reading(lake.storage):
        there = lake.storage.list()
    if there and MARK not in there:
        return UsageError(f"{lake} is not a lake: it holds {there[0]}")
    return UsageError(f"{lake} is not a lake: `kiplint pipeline run --out {lake}` makes one")


_CLOSED: Final = (
    f"SET memory_limit = '{QUERY_MEMORY >> 20}MiB'",
    "SET temp_directory = ''",
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class Duck:
    """A connection to the tables of one state of a lake, and to the views on them. Raises UsageError."""

    def __init__(self, reader: Reader) -> None:
        self._storage = reader.lake.storage
        self.names: list[str] = []
        self._connection = duckdb.connect(":memory:")
        with reading(self._storage):
            for kind in TABLES.values():
                self._connection.register(kind.NAME, reader.lake.dataset(reader.parts(kind), kind.COLUMNS))
                self.names.append(kind.NAME)
            self._connection.register(Runs.NAME, reader.lake.dataset(all_parts(self._storage), Runs.COLUMNS))
            self.names.append(Runs.NAME)
            for name, text in queries(reader.upstream, across=reader.across).items():
                self._connection.execute(f"CREATE VIEW {name} AS {text}")
                self.names.append(name)
        for setting in _CLOSED:
            self._connection.execute(setting)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a query of our own; raises UsageError when files are damaged."""
        try:
            with reading(self._storage), self.running():
                rows: list[Row] = self._connection.sql(sql, params=list(values)).to_arrow_table().to_pylist()
                return rows
        except duckdb.Error as error:
            with reading(self._storage):
                raise OSError(one_line(error)) from None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Where a query runs: raises UsageError when it takes too much memory."""
        try:
            yield
        except duckdb.OutOfMemoryException:
            raise UsageError(f"the query takes more than {QUERY_MEMORY.figure}; {QUERY_MEMORY.remedy}") from None

    @contextmanager
    def reader(self, sql: str) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query as a stream of batches; raises `duckdb.Error`, which counts lines from 2."""
        with self.running():
            self._connection.execute(f"EXPLAIN\n{sql}")  # whose errors have a place, unlike those of `sql`
            batches = self._connection.sql(sql).to_arrow_reader(2048)
            try:
                yield batches
            finally:
                self.interrupt()  # without it DuckDB goes on until a megabyte of rows that nobody reads is full
                batches.close()

    def interrupt(self) -> None:
        """End the query that is running in another thread."""
        self._connection.interrupt()
