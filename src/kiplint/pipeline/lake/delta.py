"""Delta tables: the files that a version has, and how they are written and read, all through Arrow; no JVM is needed.

A worker writes the rows of each table into a file of its own, and returns names and sizes alone. A commit is refused
when somebody else has made one meanwhile. What a task that failed, or was done twice, has written is in no table;
`optimize` removes it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.schema import Columns, arrow_schema, batch, ddl
from kiplint.pipeline.lake.storage import FOLDER, LOG, RUNS, Storage, require_own
from kiplint.text.show import show

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession


_NAME: Final = re.compile(rf"(?:{FOLDER.pattern}/)?[A-Za-z0-9][A-Za-z0-9_.=-]{{0,200}}\.parquet")
_SETTINGS: Final = {"delta.enableExpiredLogCleanup": "false"}
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")
_S3_ERROR: Final = re.compile(r"<Code>([^<]*)</Code>.*?<Message>([^<]*?)\.?</Message>")
_STACK: Final = re.compile(r" 0: \S+ 1: .*")
_LONGEST: Final = 300


class ConflictError(Exception):
    """Somebody else has made a commit meanwhile."""


class Part(NamedTuple):
    """A file of a table: its name in the lake, its rows and bytes."""

    name: str
    rows: int
    size: int


def names(parts: Iterable[Part]) -> list[str]:
    """The names of files in their lake."""
    return [part.name for part in parts]


def rows_in(parts: Iterable[Part]) -> int:
    """How many rows files have together."""
    return sum(part.rows for part in parts)


Parts = tuple[Part, ...]


def head_of(storage: Storage, table: str) -> int | None:
    """The newest version of a table, None where there is none. Raises UsageError."""
    if not storage.has(f"{table}/{LOG}") or _is_unborn(storage, table):
        return None
    with reading(storage):
        return int(_open(storage, table, None).version())


def _is_unborn(storage: Storage, table: str) -> bool:
    """Whether a process was killed during the first commit of a table, whose name has a # until it is complete."""
    with reading(storage):
        there = storage.list(f"{table}/{LOG}")
    return all("#" in name for name in there) and (bool(there) or table != RUNS)


def parts_of(storage: Storage, table: str, version: int) -> Parts:
    """The files of a version of a table; raises UsageError if it does not exist or refers to files of others."""
    with reading(storage):
        known = _open(storage, table, version).get_add_actions(flatten=True)
        inner, sizes, rows = (known.column(name).to_pylist() for name in ("path", "size_bytes", "num_records"))
    for name in inner:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{storage} is not a lake that can be read: {table}: {show(name)} is not a name of a file in it"
            )
    require_own(storage, [f"{table}/{name}" for name in inner])
    return tuple(
        sorted(Part(f"{table}/{name}", row or 0, size) for name, row, size in zip(inner, rows, sizes, strict=True))
    )


def commit(
    storage: Storage, table: str, columns: Columns, version: int | None, after: Parts, *, moved: bool = False
) -> int:
    """Give a table, which is at a version as far as is known, these files; the version that has them.

    With `moved` it keeps its rows. Raises ConflictError.
    """
    from deltalake import CommitProperties, Schema
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import create_table_with_add_actions

    schema = Schema.from_arrow(arrow_schema(columns))
    before: Parts = ()
    once = CommitProperties(max_commit_retries=0)
    try:
        head = head_of(storage, table)
        if head is None:
            actions = [_action(part, data=True) for part in after]
            place = storage.inner(table)
            options = storage.options
            create_table_with_add_actions(
                place, schema, actions, mode="error", partition_by=[], configuration=_SETTINGS, storage_options=options
            )
            return 0
        if version is not None:
            before = parts_of(storage, table, version)
            if head != version:  # left by one that was killed before it could say so
                _open(storage, table, None).restore(version, commit_properties=once)
                head += 1
        had = set(before)
        mode = "append" if version is not None and had <= set(after) else "overwrite"
        new = [_action(part, data=not moved) for part in after if part not in had]
        known = _open(storage, table, head)
        known.create_write_transaction(new, mode, schema, None, commit_properties=once)
    except CommitFailedError:
        raise ConflictError from None
    except DeltaError as error:
        if "already exists" in str(error):
            raise ConflictError from None
        raise OSError(one_line(error)) from error
    return head + 1


def one_line(error: Exception | str) -> str:
    """What went wrong, in one line, without the stack or the XML that a library has put behind it."""
    line = " ".join(_COLOR.sub("", str(error)).split())
    if answer := _S3_ERROR.search(line):
        return f"{answer[1]}: {answer[2]}; check the name of the bucket, and the credentials and region"
    return _STACK.sub("", line)[:_LONGEST]


@contextmanager
def reading(storage: Storage) -> Iterator[None]:
    """Where a lake is read: raises UsageError when something of it is missing or damaged."""
    import pyarrow as pa
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, pa.ArrowException, DeltaError) as error:
        what = "is damaged, `kiplint pipeline run` into a new one" if storage.path else "cannot be read"
        raise UsageError(f"{storage} {what}: {one_line(error)}") from None


def dataset(storage: Storage, parts: Iterable[Part], columns: Columns) -> Any:
    """Files as an Arrow dataset with these columns."""
    import pyarrow.dataset as ds

    return ds.dataset(names(parts), schema=arrow_schema(columns), format="parquet", filesystem=storage.files)


@contextmanager
def connected(
    storage: Storage, tables: Mapping[str, tuple[Parts, Columns]], **settings: str | bool | int | float | list[str]
) -> Iterator[DuckDBPyConnection]:
    """A new database of DuckDB in memory, where files can be queried as tables. Raises UsageError."""
    import duckdb

    with reading(storage), duckdb.connect(config=settings) as connection:
        for name, (parts, kinds) in tables.items():
            connection.register(name, dataset(storage, parts, kinds))
        yield connection


def _open(storage: Storage, table: str, version: int | None) -> DeltaTable:
    from deltalake import DeltaTable

    require_own(storage, [f"{table}/{LOG}/{name}" for name in (storage.list(f"{table}/{LOG}") if storage.path else ())])
    return DeltaTable(storage.inner(table), version=version, storage_options=storage.options)


def _action(part: Part, *, data: bool) -> Any:
    from deltalake.transaction import AddAction

    inner = part.name.partition("/")[2]
    stats = json.dumps({"numRecords": part.rows})
    return AddAction(inner, part.size, {}, int(time.time() * 1000), data, stats)


Row = tuple[object, ...]
Batches = Iterable[pa.RecordBatch]
Output = tuple[str, Sequence[Row]]
"""Rows of a table, by its name; of PROBLEMS the subject and the text."""

PROBLEMS = "problems"
WRITTEN: Columns = {"name": "string", "rows": "bigint", "size": "bigint"}
RETURNED: Columns = {"table": "string", **WRITTEN, "subject": "string", "problem": "string"}
A_GROUP = 16 << 20
"""The bytes of a row group in memory, which a process holds while it writes."""
A_BATCH = 256
"""Rows of Python that become Arrow's at once."""


Target = tuple[Storage, str, Columns]
"""A table to write: where, a folder for its files that is not there yet, and its columns."""


class PartWriter:
    """Writes a file, if there are rows for it; many small row groups are slow to read, so rows are gathered."""

    def __init__(self, storage: Storage, name: str, schema: pa.Schema) -> None:
        self._storage = storage
        self._name = name
        self._schema = schema
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows."""
        if not len(rows):
            return
        self._held.append(rows)
        self._size += rows.nbytes
        self._rows += rows.num_rows
        if self._size >= A_GROUP:
            self._flush()

    def close(self) -> Part | None:
        """The file, None without rows."""
        if self._held:
            self._flush()
        if not self._writer:
            return None
        self._writer.close()
        return Part(self._name, self._rows, int(self._storage.files.get_file_info([self._name])[0].size))

    def _flush(self) -> None:
        if not self._writer:
            if self._storage.path:
                (self._storage.path / self._name).parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(
                self._name,
                self._schema,
                filesystem=self._storage.files,
                compression="zstd",
                write_page_checksum=True,
            )
        group = pa.Table.from_batches(self._held)
        self._writer.write_table(group.combine_chunks().cast(self._schema))
        self._held.clear()
        self._size = 0


def part_writer(storage: Storage, folder: str, columns: Columns) -> PartWriter:
    """A writer of one more file of a folder."""
    return PartWriter(storage, f"{folder}/part-{token_hex(8)}.parquet", arrow_schema(columns))


def write_table(table: pa.Table, storage: Storage, folder: str) -> Parts:
    """The rows of this process as one file in a folder that is not there yet, or none."""
    return write_rows(table.to_batches(), table.schema, storage, folder)


def write_rows(batches: Batches, schema: pa.Schema, storage: Storage, folder: str) -> Parts:
    """The same as they come."""
    writer = PartWriter(storage, f"{folder}/part-0.parquet", schema)
    for rows in batches:
        writer.write(rows)
    part = writer.close()
    return (part,) if part else ()


def write_parts(df: DataFrame, storage: Storage, folder: str) -> Parts:
    """The rows of a DataFrame as files in a folder that is not there yet, none without rows."""
    columns = dict(df.dtypes)

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        writer = part_writer(storage, folder, columns)
        for rows in batches:
            writer.write(rows)
        if part := writer.close():
            yield batch(WRITTEN, [part])

    return tuple(sorted(Part(*row) for row in df.mapInArrow(work, ddl(WRITTEN)).collect()))


def returning(
    targets: Mapping[str, Target], function: Callable[[Batches], Iterator[Output]]
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Turn a worker's function that writes rows of several tables into a function that returns `RETURNED`."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        writers = {name: part_writer(*target) for name, target in targets.items()}
        held: dict[str, list[Row]] = {name: [] for name in targets}
        returned: list[Row] = []
        for name, rows in function(batches):
            if name == PROBLEMS:
                returned += [(name, None, None, None, *problem) for problem in rows]
                continue
            held[name] += rows
            if len(held[name]) >= A_BATCH:
                writers[name].write(batch(targets[name][2], held[name]))
                held[name] = []
        for name, writer in writers.items():
            writer.write(batch(targets[name][2], held[name]))
            if part := writer.close():
                returned.append((name, *part, None, None))
        if returned:
            yield batch(RETURNED, returned)

    return work


def damage_of(storage: Storage, part: Part) -> str:
    """What is wrong with a file beside what the log says of it, read whole with its checksums; empty for nothing."""
    try:
        info = storage.files.get_file_info([part.name])[0]
        if not info.is_file:
            return "is missing"
        if info.size != part.size:
            return f"has {info.size:,} bytes, and {part.size:,} in the log"
        with storage.files.open_input_file(part.name) as source:
            file = pq.ParquetFile(source, page_checksum_verification=True)
            rows = sum(batch.num_rows for batch in file.iter_batches())
        return "" if rows == part.rows else f"has {rows:,} rows, and {part.rows:,} in the log"
    except (OSError, pa.ArrowException) as error:
        return f"cannot be read: {one_line(error)}"


def read_parts(spark: SparkSession, storage: Storage, parts: Parts, columns: Columns, tasks: int) -> DataFrame:
    """The rows of files."""
    if storage.path:
        return spark.read.schema(ddl(columns)).parquet(*(str(storage.path / name) for name in names(parts)))
    listed = spark.createDataFrame(pa.table({"name": names(parts)})).repartition(min(len(parts), tasks))
    return listed.mapInArrow(_reading(storage, columns), ddl(columns))


def _reading(storage: Storage, columns: Columns) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for listed in batches:
            parts = [Part(name, 0, 0) for name in listed.column(0).to_pylist()]
            yield from dataset(storage, parts, columns).to_batches()

    return work
