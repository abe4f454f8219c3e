"""Delta tables: the files that a version has, and how they are committed, written and read.

Spark writes Parquet files, and delta-rs commits them with their statistics. A commit is refused when somebody else has
made one meanwhile. What a task that failed, or was done twice, has written is in no table; `optimize` removes it. Spark
has no file systems of object stores of its own: there Python tasks write and read the files, only the columns needed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.schema import SOURCE, Columns, TableFrame, arrow_schema, batch, columns, ddl
from kiplint.pipeline.lake.storage import LOG, RUNS, STAGING, Storage, require_own
from kiplint.text.show import show

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterable[pa.RecordBatch]
_ACTION: Final = ("path", "num_records", "size_bytes", f"partition.{SOURCE}")
_SETTINGS: Final = {"delta.enableExpiredLogCleanup": "false"}
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")
_S3_ERROR: Final = re.compile(r"<Code>([^<]*)</Code>.*?<Message>([^<]*?)\.?</Message>")
_STACK: Final = re.compile(r" 0: \S+ 1: .*")
_LONGEST: Final = 300
_THREADS: Final = 8
_MOST_COLUMNS: Final = 32
_MOST_CHARACTERS: Final = 32
"""Statistics are of the first columns, and of texts have the beginning, as Delta writes them by default."""


class ConflictError(Exception):
    """Somebody else has made a commit meanwhile."""


class DamageError(UsageError):
    """A table of a lake cannot be read; a run can make it again."""


class Part(NamedTuple):
    """A file of a table: its name in the lake, its rows and bytes, and the source that they belong to, if any."""

    name: str
    rows: int
    size: int
    source: str = ""


Parts = tuple[Part, ...]


def names(parts: Iterable[Part]) -> list[str]:
    """The names of files in their lake."""
    return [part.name for part in parts]


def rows_in(parts: Iterable[Part]) -> int:
    """How many rows files have together."""
    return sum(part.rows for part in parts)


def head_of(storage: Storage, table: str) -> int | None:
    """The newest version of a table, None where there is none. Raises UsageError."""
    if not storage.has(f"{table}/{LOG}") or _is_unborn(storage, table):
        return None
    with reading(storage, table):
        return int(open_table(storage, table).version())


def _is_unborn(storage: Storage, table: str) -> bool:
    """Whether a process was killed during the first commit of a table, whose name has a # until it is complete."""
    with reading(storage, table):
        there = storage.list(f"{table}/{LOG}")
    return all("#" in name for name in there) and (bool(there) or table != RUNS)


def parts_of(storage: Storage, table: str, version: int | None) -> Parts:
    """The files of a version of a table, by default the newest, by name; raises UsageError where it is damaged, or
    names files elsewhere.
    """
    with reading(storage, table):
        stream = open_table(storage, table, version).get_add_actions(flatten=True)
        actions = pa.RecordBatchReader.from_stream(stream).read_all()  # `pa.table` imports pandas, half a second
        columns = actions.select([name for name in _ACTION if name in actions.column_names]).to_pydict()
    for name in columns["path"]:
        if not name.endswith(".parquet") or ":/" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise DamageError(
                f"{storage} is not a lake that can be read: {table}: {show(name)} is not a name of a file in it"
            )
    parts = sorted(
        Part(f"{table}/{name}", rows or 0, *others) for name, rows, *others in zip(*columns.values(), strict=True)
    )
    require_own(storage, names(parts))
    return tuple(parts)


def prepare_commit(storage: Storage, kind: type[TableFrame], head: int | None, after: Parts) -> Callable[[], int]:
    """What gives a table, whose newest version is `head`, these files and no others, and returns the new version.

    All that takes time is done before. Raises ConflictError when it is called.
    """
    from deltalake import CommitProperties, Schema
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import RemoveAction, create_table_with_add_actions

    schema, by = Schema.from_arrow(kind.delta_schema()), [SOURCE] if kind.PARTITIONED else []
    before = parts_of(storage, kind.NAME, head) if head is not None else ()
    old, new, now = set(names(before)), set(names(after)), int(time.time() * 1000)
    additions = _add_actions(storage, kind, [part for part in after if part.name not in old])
    removals = [
        RemoveAction(_inner(part), True, now, part.size, _partition(kind, part))
        for part in before
        if part.name not in new
    ]

    def commit() -> int:
        try:
            if head is None:
                create_table_with_add_actions(
                    storage.inner(kind.NAME),
                    schema,
                    additions,
                    partition_by=by,
                    name=kind.NAME,
                    description=kind.ABOUT,
                    configuration=_SETTINGS,
                    storage_options=storage.options,
                )
                return 0
            once = CommitProperties(max_commit_retries=0)
            table = open_table(storage, kind.NAME, head)
            table.create_write_transaction([*additions, *removals], "append", schema, by, commit_properties=once)
        except CommitFailedError:
            raise ConflictError from None
        except DeltaError as error:
            if "already exists" in str(error):
                raise ConflictError from None
            raise OSError(one_line(error)) from error
        return head + 1

    return commit


def is_current(storage: Storage, kind: type[TableFrame], version: int) -> bool:
    """Whether a version of a table has the columns and partitions of its class; raises UsageError for damage."""
    from deltalake import Schema

    with reading(storage, kind.NAME):
        table = open_table(storage, kind.NAME, version)
        partitions = [SOURCE] if kind.PARTITIONED else []
        return table.schema() == Schema.from_arrow(kind.delta_schema()) and (
            table.metadata().partition_columns == partitions
        )


def open_table(storage: Storage, table: str, version: int | None = None) -> DeltaTable:
    """A version of a table, by default the newest; raises UsageError where its log is not the lake's own."""
    from deltalake import DeltaTable

    require_own(storage, [f"{table}/{LOG}/{name}" for name in (storage.list(f"{table}/{LOG}") if storage.path else ())])
    return DeltaTable(storage.inner(table), version=version, storage_options=storage.options)


@contextmanager
def reading(storage: Storage, table: str = "") -> Iterator[None]:
    """Where a lake is read: raises UsageError when something of it is missing or damaged."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, pa.ArrowException, DeltaError) as error:
        reason = f"{table}: {one_line(error)}" if table else one_line(error)
        if not storage.path:
            raise UsageError(f"{storage} cannot be read: {reason}") from None
        remedy = f"`kiplint pipeline run --resume --out {storage}` makes it again"
        raise DamageError(f"{storage} is damaged, and {remedy}: {reason}") from None


def one_line(error: Exception | str) -> str:
    """What went wrong, in one line, without the stack or the XML that a library has put behind it."""
    line = " ".join(_COLOR.sub("", str(error)).split())
    if answer := _S3_ERROR.search(line):
        return f"{answer[1]}: {answer[2]}; check the name of the bucket, and the credentials and region"
    return _STACK.sub("", line)[:_LONGEST]


def _add_actions(storage: Storage, kind: type[TableFrame], parts: Iterable[Part]) -> list[Any]:
    from deltalake.transaction import AddAction

    def add(part: Part) -> Any:
        footer = pq.read_metadata(part.name, filesystem=storage.files)
        statistics = json.dumps(_statistics(kind, footer))
        return AddAction(_inner(part), part.size, _partition(kind, part), int(time.time() * 1000), True, statistics)

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(add, parts))


def _inner(part: Part) -> str:
    return part.name.partition("/")[2]


def _partition(kind: type[TableFrame], part: Part) -> dict[str, str | None]:
    return {SOURCE: part.source} if kind.PARTITIONED else {}


def _statistics(kind: type[TableFrame], footer: pq.FileMetaData) -> dict[str, Any]:
    """A file's statistics for Delta's log; raises ValueError for nulls in a column that has none."""
    lowest: dict[str, Any] = {}
    highest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    for at in range(footer.num_columns):
        name = footer.schema.column(at).path
        if name not in kind.COLUMNS:  # an element of a list
            continue
        of_groups = [group.column(at).statistics for group in groups]
        if not all(statistics and statistics.has_null_count for statistics in of_groups):
            continue  # Spark writes no statistics if the minimum and the maximum take more than 4 KB together
        count = sum(statistics.null_count for statistics in of_groups)
        if count and name in kind.REQUIRED:
            raise ValueError(f"{kind.NAME}.{name} has nulls")
        if len(nulls) < _MOST_COLUMNS:
            nulls[name] = count
            filled_groups = [statistics for statistics in of_groups if statistics.num_values]
            has_bounds = filled_groups and all(statistics.has_min_max for statistics in filled_groups)
            if has_bounds and kind.COLUMNS[name] in ("string", "int", "bigint", "timestamp"):
                lowest[name] = _as_bound(min(statistics.min for statistics in filled_groups), highest=False)
                highest[name] = _as_bound(max(statistics.max for statistics in filled_groups), highest=True)
    return {"numRecords": footer.num_rows, "minValues": lowest, "maxValues": highest, "nullCount": nulls}


def _as_bound(value: Any, *, highest: bool) -> Any:
    """A value that JSON has, not above the lowest or not below the highest."""
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
        return value[:_MOST_CHARACTERS] + ("\U0010ffff" if highest else "")
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) + timedelta(microseconds=999 if highest else 0)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def dataset(storage: Storage, parts: Iterable[Part], columns: Columns) -> Any:
    """Files as an Arrow dataset with these columns."""
    import pyarrow.dataset as ds

    schema = arrow_schema(columns)
    by_source = ds.partitioning(pa.schema([(SOURCE, pa.string())]), flavor="hive")
    return ds.dataset(names(parts), schema=schema, format="parquet", filesystem=storage.files, partitioning=by_source)


def write_rows(rows: pa.Table, kind: type[TableFrame], storage: Storage, run: str) -> Parts:
    """Rows of this process as new files of a table; `run` is the token of the run and a number."""
    files = dict(_write_files(rows, storage, f"{kind.NAME}/{run}", by_source=kind.PARTITIONED))
    return parts_named(storage, files)


def _write_files(rows: pa.Table, storage: Storage, stem: str, *, by_source: bool) -> Iterator[tuple[str, str]]:
    """Write rows, and yield the name and the source of each file, whose name begins so behind the folders."""
    folder, _, run = stem.partition("/")
    for source in rows[SOURCE].unique().to_pylist() if by_source else [""] * bool(rows.num_rows):
        some = rows.filter(pa.compute.equal(rows[SOURCE], source)).drop_columns([SOURCE]) if by_source else rows
        place = f"{folder}/{SOURCE}={quote(source, safe='')}" if by_source else folder
        name = f"{place}/{run}-{token_hex(8)}.parquet"
        if storage.path:
            (storage.path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(some, name, filesystem=storage.files, compression="zstd", write_page_checksum=True)
        yield name, source


def parts_named(storage: Storage, files: Mapping[str, str]) -> Parts:
    """Files that were just written, by their names, each with its source, empty for several."""

    def part(name: str) -> Part:
        size = storage.files.get_file_info([name])[0].size
        return Part(name, pq.read_metadata(name, filesystem=storage.files).num_rows, size, files[name])

    with ThreadPoolExecutor(_THREADS) as pool:
        return tuple(sorted(pool.map(part, files)))


def write_frame(df: DataFrame, kind: type[TableFrame], storage: Storage, run: str) -> Parts:
    """The rows of a DataFrame as new files of a table; `run` is the token of the run and a number."""
    df = df.hint("rebalance", *([SOURCE] if kind.PARTITIONED else []))
    if not storage.path:
        return _write_in_tasks(df, kind.COLUMNS, storage, f"{kind.NAME}/{run}", by_source=kind.PARTITIONED)
    place = storage.path / STAGING / run
    writer = df.write.partitionBy(SOURCE) if kind.PARTITIONED else df.write
    writer.parquet(str(place))
    files: dict[str, str] = {}
    for number, file in enumerate(sorted(place.rglob("*.parquet"))):
        folder = "" if file.parent == place else f"{file.parent.name}/"
        name = f"{kind.NAME}/{folder}{run}-{number}.parquet"
        (storage.path / name).parent.mkdir(parents=True, exist_ok=True)
        file.rename(storage.path / name)
        files[name] = unquote(folder.partition("=")[2].rstrip("/"))
    return parts_named(storage, files)


def stage_frame(df: DataFrame, storage: Storage, run: str, tasks: int) -> DataFrame:
    """The rows of a DataFrame, computed and kept for this run."""
    columns = dict(df.dtypes)
    if not storage.path:
        parts = _write_in_tasks(df, columns, storage, f"{STAGING}/{run}", by_source=False)
        return read_frame(df.sparkSession, storage, parts, columns, tasks)
    df.write.parquet(f"{storage.path}/{STAGING}/{run}")
    return df.sparkSession.read.schema(ddl(columns)).parquet(_literal(storage, f"{STAGING}/{run}"))


FILE_COLUMNS: Columns = columns("name, source")


def _write_in_tasks(df: DataFrame, columns: Columns, storage: Storage, stem: str, *, by_source: bool) -> Parts:
    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(columns)
        rows = pa.concat_tables(
            [schema.empty_table(), *(pa.Table.from_batches([some]).cast(schema) for some in batches)]
        )
        yield batch(FILE_COLUMNS, _write_files(rows, storage, stem, by_source=by_source))

    files = df.mapInArrow(write, ddl(FILE_COLUMNS)).collect()
    return parts_named(storage, {file["name"]: file["source"] for file in files})


def read_frame(spark: SparkSession, storage: Storage, parts: Parts, columns: Columns, tasks: int) -> DataFrame:
    """These columns of files of one table."""
    if not parts:
        return spark.createDataFrame([], ddl(columns))
    if storage.path:
        table = parts[0].name.partition("/")[0]
        reader = spark.read.schema(ddl(columns)).option("basePath", _literal(storage, table))
        return reader.parquet(*(_literal(storage, name) for name in names(parts)))

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            yield from dataset(storage, [Part(name, 0, 0) for name in rows.column(0).to_pylist()], columns).to_batches()

    names_frame = spark.createDataFrame(pa.table({"name": names(parts)})).repartition(min(len(parts), tasks))
    return names_frame.mapInArrow(read, ddl(columns))


def _literal(storage: Storage, name: str) -> str:
    """The path of a file for Spark, which takes paths as globs."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", f"{storage.path}/{name}")


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
