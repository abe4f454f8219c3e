"""A lake: Delta tables below one directory. Spark writes their files, and delta-rs commits these.

The version of a table that a run begins with is the one that its commit comes after: where another run has made a
commit since, the commit fails.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from kiplint.engine.errors import UsageError
from kiplint.pipeline.tables import PARTITIONED, TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MARK: Final = "KIPLINT-LAKE"
"""The file that makes a directory a lake, and that a run locks. kiplint writes and removes nothing in others."""
RUN: Final = "run-"
"""How the names of the folders begin that Spark writes to, one for each commit."""
MANY_FILES: Final = 50
"""A table with more files is compacted at the end of a run."""
ONCE: Final = CommitProperties(max_commit_retries=0)
MOST_CHARACTERS: Final = 100
"""Of columns with longer texts the log has no bounds, which nobody would search by."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Keep other runs out of a lake, which is new, or empty, or has the mark.

    Raises UsageError while there is one and for other directories, and OSError for a place that cannot be written.
    """
    path.mkdir(parents=True, exist_ok=True)
    if not (path / MARK).exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not a lake, and has other files: name a new or an empty directory")
    with open(path / MARK, "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which goes with the process, however that ends
        except BlockingIOError:
            raise UsageError(f"another run is writing to {path}: wait until it ends") from None
        _remove_leftovers(path)
        yield


def _remove_leftovers(path: Path) -> None:
    """Remove the folders of runs that were killed before the commit: no log names them."""
    for folder in (folder for name in TABLES for folder in (path / name).glob(f"{RUN}*")):
        log = (file.read_text("utf-8") for file in sorted(folder.parent.glob("_delta_log/*.json")))
        if not any(folder.name in text for text in log) and not _is_in_use(folder):
            shutil.rmtree(folder)


def _is_in_use(folder: Path) -> bool:
    """Whether a table has files of a folder, whose commit may be older than its log."""
    return has_table(folder.parents[1], folder.parent.name) and any(
        folder.name in uri for uri in DeltaTable(folder.parent).file_uris()
    )


def has_table(path: Path, name: str) -> bool:
    """Whether a lake has a table."""
    return DeltaTable.is_deltatable(str(path / name))


class Lake:
    """The tables of a lake, each as a run found it or as that run has left it."""

    def __init__(self, path: Path, spark: SparkSession) -> None:
        from pyspark.sql.types import StructType

        self.path, self.spark = path, spark
        self.schemas = {name: cast("StructType", StructType.fromDDL(ddl)) for name, ddl in TABLES.items()}
        self.tables = {name: self._open(name) for name in TABLES}

    def read(self, name: str, sources: Collection[str] | None = None) -> DataFrame:
        """A table, or of a table that has partitions those of some sources."""
        from pyspark.sql import functions as F  # noqa: N812

        schema = self.schemas[name]
        partitions = None if sources is None else [("source", "in", sorted(sources))]
        files = self.tables[name].file_uris(file_pruning_predicate=partitions)
        if not files:
            return self.spark.createDataFrame([], schema).limit(0)  # the optimizer knows that this is empty
        if name not in PARTITIONED:
            return self.spark.read.schema(schema).parquet(*files)
        source = F.regexp_extract("_metadata.file_path", ".*/source=([^/]+)/", 1)
        rows = self.spark.read.schema(_without_source(schema)).parquet(*files)
        return rows.withColumn("source", source).select(*schema.names)

    def missing(self, rows: DataFrame, name: str, *keys: str, rules_id: str = "") -> DataFrame:
        """The rows whose keys a table lacks (with these rules): what a stage has to do."""
        table = self.read(name)
        done = table.where(table.rules_id == rules_id) if rules_id else table
        return rows.join(done.select(*keys).distinct(), list(keys), "left_anti")

    def add(self, name: str, rows: DataFrame, rules_id: str = "") -> int:
        """Add rows to a table; the first rows of other rules than before replace all others. Returns their number."""
        there = self.tables[name].get_add_actions(flatten=True)
        is_first = bool(rules_id) and rules_id not in _values(there, "max.rules_id", rules_id)
        return self._commit(name, rows, "overwrite" if is_first else "append")

    def overwrite(self, name: str, rows: DataFrame) -> int:
        """Replace all rows of a table. Returns the number of the new ones."""
        return self._commit(name, rows, "overwrite")

    def replace(self, name: str, rows: DataFrame, sources: Collection[str]) -> int:
        """Replace the rows of some sources. Returns the number of the new ones."""
        return self._commit(name, rows, "overwrite", [("source", "in", sorted(sources))])

    def compact(self) -> None:
        """Merge the small files of tables with many, and remove the files that no version of the last week has."""
        for table in self.tables.values():
            if len(table.file_uris()) > MANY_FILES:
                table.optimize.compact()
                table.vacuum(dry_run=False, full=True)

    def _open(self, name: str) -> DeltaTable:
        schema = Schema.from_json(self.schemas[name].json())
        by = ["source"] if name in PARTITIONED else []
        return DeltaTable.create(str(self.path / name), schema, mode="ignore", partition_by=by)

    def _commit(self, name: str, rows: DataFrame, mode: str, sources: Any = None) -> int:
        folder = self.path / name / f"{RUN}{uuid4().hex}"
        writer = rows.select(*self.schemas[name].names).write
        (writer.partitionBy("source") if name in PARTITIONED else writer).parquet(str(folder))
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix != ".parquet":  # checksums, and a mark that Spark was done
                file.unlink()
        written = [WrittenFile(file) for file in sorted(folder.rglob("*.parquet"))]
        actions: list[AddAction | RemoveAction] = [file.action(folder.parent) for file in written if file.rows]
        if actions or mode == "overwrite":
            self._commit_files(name, actions, mode, sources)
        if not actions:
            shutil.rmtree(folder)
        return sum(file.rows for file in written)

    def _commit_files(self, name: str, actions: list[AddAction | RemoveAction], mode: str, sources: Any) -> None:
        table, by = self.tables[name], ["source"] if name in PARTITIONED else []
        try:
            table.create_write_transaction(actions, mode, table.schema(), by, sources, commit_properties=ONCE)
        except CommitFailedError:
            raise UsageError(f"another run has changed the table {name} of {self.path}: run again") from None
        table.update_incremental()


class WrittenFile:
    """A Parquet file that Spark has written, with what its footer says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.footer = pq.read_metadata(path)
        self.rows: int = self.footer.num_rows

    def action(self, table: Path) -> AddAction:
        """How the log of a table names the file."""
        stat, place = self.path.stat(), self.path.relative_to(table)
        partition = dict(part.split("=", 1) for part in place.parts if "=" in part)
        return AddAction(str(place), stat.st_size, partition, int(stat.st_mtime * 1000), True, self.statistics)

    @cached_property
    def statistics(self) -> str:
        """The number of rows, and by column the lowest and the highest value and how many are null."""
        lowest: dict[str, Any] = {}
        highest: dict[str, Any] = {}
        nulls: dict[str, int] = {}
        groups = [self.footer.row_group(at) for at in range(self.footer.num_row_groups)]
        for at, column in enumerate(self.footer.schema.names):
            chunks = [group.column(at).statistics for group in groups]
            if groups and groups[0].column(at).path_in_schema == column and all(chunks):
                nulls[column] = sum(chunk.null_count for chunk in chunks)
                bounds = [(chunk.min, chunk.max) for chunk in chunks if chunk.has_min_max]
                if len(bounds) == len(chunks) and all(map(_is_bound, sum(bounds, ()))):
                    lowest[column] = _as_json(min(low for low, _ in bounds))
                    highest[column] = _as_json(max(high for _, high in bounds))
        numbers = {"numRecords": self.rows, "minValues": lowest, "maxValues": highest, "nullCount": nulls}
        return json.dumps(numbers)


def _is_bound(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_CHARACTERS
    return isinstance(value, int | datetime) and not isinstance(value, bool)


def _as_json(value: Any) -> Any:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if isinstance(value, datetime) else value


def _without_source(schema: StructType) -> StructType:
    return type(schema)([field for field in schema.fields if field.name != "source"])


def _values(actions: Any, column: str, otherwise: str) -> set[str]:
    """The values of a column of a log; `otherwise` for a table without files."""
    import pyarrow as pa

    table = pa.table(actions)
    return set(table[column].to_pylist()) if table.num_rows and column in table.column_names else {otherwise}
