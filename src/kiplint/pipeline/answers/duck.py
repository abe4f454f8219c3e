"""The tables of a lake in DuckDB: read from their files as Arrow, in this process, without Spark.

The connection is closed to all else before anything is asked: no file, no extension, no setting can be reached from a
query, and memory and time have an end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.views import definitions
from kiplint.pipeline.catalog import TABLES
from kiplint.pipeline.delta import reading, said

if TYPE_CHECKING:
    from kiplint.pipeline.reader import Reader, Row

MEMORY: Final = "2GB"
EXPLAIN: Final = "EXPLAIN\n"
SECONDS: Final = 60.0
"""The longest that one query may take."""
AGAIN: Final = 0.05
"""Seconds after which a query that goes on is interrupted once more."""
_CLOSED: Final = (
    f"SET memory_limit = '{MEMORY}'",
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
            for kind in TABLES:
                self._connection.register(kind.NAME, reader.lake.dataset(reader.parts(kind), kind.COLUMNS))
                self.names.append(kind.NAME)
            for name, text in definitions('"').items():
                self._connection.execute(f"CREATE VIEW {name} AS {text}")
                self.names.append(name)
        for setting in _CLOSED:
            self._connection.execute(setting)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a query of our own; raises UsageError when files are damaged."""
        found: list[Row] = self.table(sql, values).to_pylist()
        return found

    def table(self, sql: str, values: Sequence[object] = ()) -> pa.Table:
        """The same as an Arrow table."""
        with self._bounded(), reading(self._storage), self._damage():
            return self._connection.sql(sql, params=list(values)).to_arrow_table()

    @contextmanager
    def reader(self, sql: str, seconds: float = SECONDS) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query as a stream of batches; raises `duckdb.Error`, and UsageError when it takes too long."""
        with self._bounded(seconds):
            yield self._connection.sql(sql).to_arrow_reader(2048)

    def parsed(self, sql: str) -> str:
        """What DuckDB reads in a SELECT, as JSON; raises `duckdb.Error`."""
        found = self._connection.sql("SELECT json_serialize_sql($1)", params=[sql]).fetchall()
        return str(found[0][0])

    def complaint(self, sql: str) -> str:
        """What is wrong with a query, with the place in it if DuckDB knows one; empty when it can be planned."""
        try:
            self._connection.execute(f"{EXPLAIN}{sql}").fetchall()
        except duckdb.Error as error:
            return str(error)
        return ""

    @contextmanager
    def _bounded(self, seconds: float = SECONDS) -> Iterator[None]:
        late, over = threading.Event(), threading.Event()

        def watch() -> None:
            if not over.wait(seconds):
                late.set()
                self._connection.interrupt()
                while not over.wait(AGAIN):  # the first is lost where the query has not begun by then
                    self._connection.interrupt()

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        except (duckdb.Error, pa.ArrowException) as error:
            if late.is_set():
                raise UsageError(f"the query takes more than {seconds:g} seconds") from None
            if isinstance(error, duckdb.OutOfMemoryException):
                raise UsageError(f"the query takes more than {MEMORY} of memory") from None
            raise
        finally:
            over.set()
            watching.join()

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise OSError(said(error)) from None
