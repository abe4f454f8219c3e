"""The tables of one state of a lake, read without Spark: as Arrow, as rows, and in SQL with views on them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.documents import Row
from kiplint.pipeline.lake.delta import Parts, one_line, reading, rows_in
from kiplint.pipeline.lake.lake import Lake, Snapshot
from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.lake.storage import MARK
from kiplint.pipeline.tables import TABLES, Changes, Findings


def ranged(lowest: int | None, highest: int | None) -> str:
    """A version range in Kafka's notation, empty for none."""
    if lowest is None:
        return ""
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


class Reader:
    """A state of a lake, the newest or that as of a time or run; raises UsageError where there is none."""

    def __init__(self, lake: Lake, as_of: str = "") -> None:
        if not lake.exists:
            raise _no_lake(lake)
        self.lake = lake
        self.snapshot: Snapshot = lake.snapshot(as_of)

    @property
    def upstream(self) -> str:
        """The source that the others are held against; empty where no run has written the lake."""
        request = self.snapshot.request
        return request.get("upstream") or next((name.partition("=")[0] for name in request.get("sources", ())), "")

    @cached_property
    def duck(self) -> Duck:
        """The tables for queries in SQL."""

        return Duck(self)

    def has(self, kind: type[TableFrame]) -> bool:
        """Whether a stage has written a table."""
        return kind.NAME in self.snapshot.tables

    def require(self, *kinds: type[TableFrame]) -> None:
        """Raise UsageError when the stage that writes one of these has not run."""
        for kind in kinds:
            if not self.has(kind):
                raise UsageError(f"{self.lake} has no {kind.NAME} yet: run the other stages of `kiplint pipeline run`")

    def parts(self, kind: type[TableFrame]) -> Parts:
        """The files of a table, none when it is not there."""
        return self.lake.parts(kind.NAME, self.snapshot.tables.get(kind.NAME))

    def table(self, kind: type[TableFrame], columns: Sequence[str] | None = None, where: Any = None) -> pa.Table:
        """A table, or some columns or rows of it.

        Raises UsageError when the stage that writes it has not run, or when its files are damaged.
        """
        self.require(kind)
        return self.lake.read(self.parts(kind), kind.COLUMNS, where, list(columns or kind.COLUMNS))

    def rows(self, kind: type[TableFrame], columns: Sequence[str] | None = None, where: Any = None) -> list[Row]:
        """The same as rows."""
        rows: list[Row] = self.table(kind, columns, where).to_pylist()
        return rows

    def count(self, kind: type[TableFrame]) -> int:
        """How many rows a table has; none when it is not there."""
        return rows_in(self.parts(kind))


def is_one_of(column: str, values: Iterable[Any]) -> Any:
    """A condition for `where`: the column, which holds text where there are none, has one of these values."""
    import pyarrow.compute as pc

    listed = list(values)
    return pc.field(column).isin(pa.array(listed, None if listed else pa.string()))


def equals(**values: Any) -> Any:
    """A condition for `where`: all these columns have these values."""
    import pyarrow.compute as pc

    conditions = None
    for column, value in values.items():
        condition = pc.field(column) == value
        conditions = condition if conditions is None else conditions & condition
    return conditions


def _no_lake(lake: Lake) -> UsageError:
    """What is said of a place without a lake: how to make one there, unless it holds something else."""
    if lake.storage.path and lake.storage.path.is_file():
        return UsageError(f"{lake} is not a lake: it is a file")
    with reading(lake.storage):
        there = lake.storage.list()
    if there and MARK not in there:
        return UsageError(f"{lake} is not a lake: it holds {there[0]}")
    return UsageError(f"{lake} is not a lake: `kiplint pipeline run --out {lake}` makes one")


_OF_SET: Final = "s.source, s.lineage, s.position, s.commit, s.time, s.release"
_PATH: Final = "CASE WHEN t.directory = '' THEN f.name ELSE concat(t.directory, '/', f.name) END AS path"
_FILES: Final = "sets s JOIN trees t ON t.root = s.root JOIN files f ON f.tree = t.tree"
_FOUND: Final = ", ".join(f"g.{name if name != 'column' else '{column}'}" for name in list(Findings.COLUMNS)[3:])
_CHANGED: Final = ", ".join(f"c.{name if name != 'column' else '{column}'}" for name in list(Changes.COLUMNS)[2:])

_SET_FINDINGS: Final = f"""
SELECT {_OF_SET}, s.root, {_PATH}, {_FOUND}, t.tree, f.blob FROM {_FILES}
JOIN findings g ON g.blob = f.blob AND g.name = f.name AND (g.tree IS NULL OR g.tree = f.tree)
"""
_SET_CHANGES: Final = f"""
SELECT s.source, s.lineage, s.position, s.old_commit, s.commit, s.old_release, s.release, s.time, {_CHANGED} FROM (
  SELECT source, lineage, position, commit, release, time, root,
    lag(root) OVER along AS old_root, lag(commit) OVER along AS old_commit, lag(release) OVER along AS old_release
  FROM sets WINDOW along AS (PARTITION BY source, lineage ORDER BY position)
) s JOIN changes c ON c.old_root = s.old_root AND c.root = s.root
"""
_SET_MESSAGES: Final = f"""
SELECT {_OF_SET}, {_PATH}, m.message_name, m.type, m.api_key, m.valid, m.lowest, m.highest, m.flexible, m.deprecated,
  m.unstable, m.listeners, m.headers, m.declares_headers, m.fields, f.blob
FROM {_FILES} JOIN messages m ON m.blob = f.blob
"""
_SET_FIELDS: Final = f"""
SELECT {_OF_SET}, {_PATH}, d.message_name, d.path AS field, d.type, d.versions, d.lowest, d.highest, d.nullable,
  d.tagged, d.tag, d.ignorable, d.map_key, {{default}} AS {{default_name}}, d.entity_type, f.blob
FROM {_FILES} JOIN fields d ON d.blob = f.blob
"""
_RELEASES: Final = "SELECT source, lineage, position, release, commit, time, root FROM sets WHERE release IS NOT NULL"
_RPCS: Final = f"""
SELECT {_OF_SET}, o.api_key, o.name, o.lowest, o.highest, o.offered, o.request_headers, o.response_headers, o.deprecated
FROM sets s JOIN offers o ON o.root = s.root
"""

VIEWS: Final[Mapping[str, str]] = {
    "set_findings": "The findings of every revision, as `check` tells them.",
    "set_changes": "The changes of every step, as `diff` tells them.",
    "set_messages": "The messages of every revision, with their files.",
    "set_fields": "The fields of every message of every revision; `field` is the path from the message down.",
    "releases": "The revisions that are releases, in the order of their lines.",
    "rpcs": "The RPCs of every revision: versions for clients, what brokers offer, and headers.",
}
"""What each view has, by its name."""


def definitions(quote: str) -> Mapping[str, str]:
    """The views as queries, by name; `quote` is what stands around a name that SQL has for itself."""
    column, default = f"{quote}column{quote}", f"{quote}default{quote}"
    texts = (_SET_FINDINGS, _SET_CHANGES, _SET_MESSAGES, _SET_FIELDS, _RELEASES, _RPCS)
    named = {"column": column, "default": f"d.{default}", "default_name": default}
    return {name: text.format(**named).strip() for name, text in zip(VIEWS, texts, strict=True)}


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
            for kind in TABLES.values():
                self._connection.register(kind.NAME, reader.lake.dataset(reader.parts(kind), kind.COLUMNS))
                self.names.append(kind.NAME)
            for name, text in definitions('"').items():
                self._connection.execute(f"CREATE VIEW {name} AS {text}")
                self.names.append(name)
        for setting in _CLOSED:
            self._connection.execute(setting)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a query of our own; raises UsageError when files are damaged."""
        rows: list[Row] = self.table(sql, values).to_pylist()
        return rows

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
        rows = self._connection.sql("SELECT json_serialize_sql($1)", params=[sql]).fetchall()
        return str(rows[0][0])

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
            raise OSError(one_line(error)) from None
