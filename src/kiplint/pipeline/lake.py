"""A lake: Delta tables below one directory. Spark writes their Parquet files, and delta-rs commits these.

Where another run has committed to a table since this run has opened it, the commit fails.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from deltalake import CommitProperties, DeltaTable, Field, Schema, convert_to_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.schema import PrimitiveType
from deltalake.transaction import AddAction, create_table_with_add_actions

from kiplint.engine.errors import UsageError
from kiplint.pipeline.tables import PARTITIONED, TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from kiplint.pipeline.history import Line

MARK: Final = "KIPLINT-LAKE"
"""The file that makes a directory a lake, and that a run locks. Nothing is written or removed in other directories."""
RUN_PREFIX: Final = "run-"
"""Each commit has a folder of its own in the directory of the table; the names of these folders begin so."""
MANY_FILES: Final = 50
"""A table with more files is compacted at the end of a run."""
NO_RETRY: Final = CommitProperties(max_commit_retries=0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a lake, so that no other run writes to it. The directory is new, or empty, or has the mark.

    Raises UsageError for another directory and while another run has the lock, and OSError where nothing can be
    written.
    """
    path.mkdir(parents=True, exist_ok=True)
    if not (path / MARK).exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not a lake, and has other files: name a new or an empty directory")
    with open(path / MARK, "a", encoding="utf-8") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the file is closed, or the process ends
        except BlockingIOError:
            raise UsageError(f"another run is writing to {path}: wait until it ends") from None
        _remove_uncommitted_folders(path)
        yield


def _remove_uncommitted_folders(path: Path) -> None:
    """Remove the folders without files of their table: of runs that were killed, and those whose rows were replaced."""
    for name in TABLES:
        files = DeltaTable(path / name).file_uris() if has_table(path, name) else []
        for folder in (path / name).glob(f"{RUN_PREFIX}*"):
            if not any(folder.name in file for file in files):
                shutil.rmtree(folder)


def has_table(path: Path, name: str) -> bool:
    """Whether a lake has a table."""
    return DeltaTable.is_deltatable(str(path / name))


class Lake:
    """The tables of a lake during a run.

    `lines` are the lines of history of all sources, and `upstream` is the source that the others are compared with.
    `tables` are the tables that exist, each in the version that the run has opened or committed.
    """

    def __init__(self, path: Path, spark: SparkSession, lines: Sequence[Line] = (), upstream: str = "") -> None:
        from pyspark.sql.types import StructType

        self.path, self.spark, self.lines, self.upstream = path, spark, lines, upstream
        self.schemas = {name: cast("StructType", StructType.fromDDL(ddl)) for name, ddl in TABLES.items()}
        DeltaTable.create(str(path / "sources"), self._delta_schema("sources"), mode="ignore")
        self.tables = {name: DeltaTable(path / name) for name in TABLES if has_table(path, name)}

    def read(self, name: str, sources: Collection[str] | None = None) -> DataFrame:
        """The rows of a table; with `sources`, those of some sources of a table that is partitioned by source."""
        from pyspark.sql import functions as F  # noqa: N812

        schema = self.schemas[name]
        partitions = _partitions_of(sources)
        files = self.tables[name].file_uris(file_pruning_predicate=partitions) if name in self.tables else []
        if not files:
            return self.spark.createDataFrame([], schema).limit(0)  # the optimizer knows that this is empty
        if name not in PARTITIONED:
            return self.spark.read.schema(schema).parquet(*files)
        # Spark finds the values of partitions only where all files are below one directory.
        file_schema = type(schema)([field for field in schema.fields if field.name != "source"])
        source = F.regexp_extract("_metadata.file_path", ".*/source=([^/]+)/", 1)
        rows = self.spark.read.schema(file_schema).parquet(*files)
        return rows.withColumn("source", source).select(*schema.names)

    def missing(self, rows: DataFrame, name: str, *keys: str, rules_id: str = "") -> DataFrame:
        """The rows whose keys a table lacks, with `rules_id` among its rows of these rules: what a stage has to do."""
        table = self.read(name)
        rows_of_rules = table.where(table.rules_id == rules_id) if rules_id else table
        return rows.join(rows_of_rules.select(*keys).distinct(), list(keys), "left_anti")

    def add(self, name: str, rows: DataFrame, rules_id: str = "") -> int:
        """Add rows to a table, and return their number.

        With `rules_id`, they replace all rows of a table that has none of these rules.
        """
        if rules_id and name in self.tables:
            files_of_rules = self.tables[name].file_uris(file_pruning_predicate=[("rules_id", "=", rules_id)])
            if not files_of_rules:
                return self._commit(name, rows, "overwrite")
        return self._commit(name, rows, "append")

    def replace(self, name: str, rows: DataFrame, sources: Collection[str] | None = None) -> int:
        """Replace all rows of a table, or those of some sources, and return the number of the new ones."""
        return self._commit(name, rows, "overwrite", _partitions_of(sources))

    def compact(self) -> None:
        """Merge the small files of tables with many, and remove the files that no version of the last week has."""
        for table in self.tables.values():
            if len(table.file_uris()) > MANY_FILES:
                table.optimize.compact()
                table.vacuum(dry_run=False, full=True)

    def _delta_schema(self, name: str) -> Schema:
        return Schema.from_json(self.schemas[name].json())

    def _commit(self, name: str, rows: DataFrame, mode: str, partitions: Any = None) -> int:
        """Write rows and commit their files. Returns the number of rows.

        The mode `overwrite` replaces all rows of a table, or with `partitions` those of some sources:
        `[("source", "in", ["kafka"])]`.
        """
        folder = self.path / name / f"{RUN_PREFIX}{uuid4().hex}"
        partition_columns = _partition_columns(name)
        rows.select(*self.schemas[name].names).write.partitionBy(*partition_columns).parquet(str(folder))
        actions = _add_actions(folder, partition_columns)
        if actions or mode == "overwrite" or name not in self.tables:
            self._commit_files(name, actions, mode, partitions)
        if not actions:
            shutil.rmtree(folder)
        return sum(json.loads(action.stats)["numRecords"] for action in actions)

    def _commit_files(self, name: str, actions: list[AddAction], mode: str, partitions: Any) -> None:
        """Commit files to a table, which is created where it is missing. Raises UsageError after a commit of others."""
        schema, partition_columns = self._delta_schema(name), _partition_columns(name)
        try:
            if name not in self.tables:
                create_table_with_add_actions(
                    str(self.path / name),
                    schema,
                    actions,
                    partition_by=partition_columns,
                    commit_properties=NO_RETRY,
                )
                self.tables[name] = DeltaTable(self.path / name)
                return
            self.tables[name].create_write_transaction(
                [*actions], mode, schema, partition_columns, partitions, commit_properties=NO_RETRY
            )
        except CommitFailedError:
            raise UsageError(f"another run has changed the table {name} of {self.path}: run again") from None
        self.tables[name].update_incremental()


def _add_actions(folder: Path, partition_columns: list[str]) -> list[AddAction]:
    """The actions that add the files of a folder which have rows to the table around it.

    delta-rs makes the statistics of files that Spark wrote only for a whole table: the folder is one for a moment.
    """
    if not any(folder.rglob("*.parquet")):
        return []
    schema = Schema([Field(name, PrimitiveType("string")) for name in partition_columns])
    convert_to_deltalake(str(folder), partition_by=schema if partition_columns else None, partition_strategy="hive")
    log = folder / "_delta_log"
    entries = [json.loads(line) for file in log.glob("*.json") for line in file.read_text("utf-8").splitlines()]
    shutil.rmtree(log)
    adds = [entry["add"] for entry in entries if "add" in entry]
    return [
        AddAction(
            path=f"{folder.name}/{add['path']}",
            size=add["size"],
            partition_values=add["partitionValues"],
            modification_time=add["modificationTime"],
            data_change=True,
            stats=add["stats"],
        )
        for add in adds
        if json.loads(add["stats"])["numRecords"]
    ]


def _partitions_of(sources: Collection[str] | None) -> list[tuple[str, str, list[str]]] | None:
    """The filter of delta-rs for the partitions of some sources; None for those of all sources."""
    return None if sources is None else [("source", "in", sorted(sources))]


def _partition_columns(name: str) -> list[str]:
    return ["source"] if name in PARTITIONED else []
