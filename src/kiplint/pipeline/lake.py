"""A lake: Delta tables below one directory. Spark writes their Parquet files, and delta-rs commits these."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4

from deltalake import DeltaTable, Field, Schema, convert_to_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.schema import PrimitiveType
from deltalake.transaction import AddAction, create_table_with_add_actions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line
from kiplint.pipeline.tables import NO_RETRY, PARTITION_COLUMNS, TABLES, has_table, open_table

MANY_FILES: Final = 50
"""A table with more files is compacted at the end of a run."""
WEEK: Final = 7 * 24
"""How many hours files are kept that no table has any more, for time travel, readers, and runs on other machines."""


class Lake:
    """The tables of a lake during a run.

    `lines` are the lines of history of all sources, and `upstream` is the source that the others are compared with.
    `tables` are the tables that exist, each in the version that the run has opened or committed.
    """

    def __init__(self, path: Path, spark: SparkSession, lines: Sequence[Line] = ()) -> None:
        self.path, self.spark, self.lines = path, spark, lines
        self.upstream = next((line.source for line in lines if line.upstream), "")
        self.schemas = {name: cast(StructType, StructType.fromDDL(ddl)) for name, ddl in TABLES.items()}
        self._persisted: list[DataFrame] = []
        if not has_table(path, "sources"):
            DeltaTable.create(str(path / "sources"), self._delta_schema("sources"))
        self.tables = {name: open_table(path, name) for name in TABLES if has_table(path, name)}

    def read(self, name: str, sources: Collection[str] | None = None) -> DataFrame:
        """The rows of a table; with `sources`, which only tables with partitions take, those of these sources."""
        schema = self.schemas[name]
        partitions = None if sources is None else [("source", "in", sorted(sources))]
        files = self._files(name, partitions) if name in self.tables else []
        if not files:
            return self.spark.createDataFrame([], schema).limit(0)  # the optimizer knows that this is empty
        files = [re.sub(r"([][*?{}\\])", r"\\\1", file) for file in files]  # Spark takes paths as patterns
        if name not in PARTITION_COLUMNS:
            return self.spark.read.schema(schema).parquet(*files)
        # Spark finds the values of partitions only where all files are below one directory.
        file_schema = StructType([field for field in schema.fields if field.name != "source"])
        source = F.regexp_extract("_metadata.file_path", ".*/source=([^/]+)/", 1)
        return self.spark.read.schema(file_schema).parquet(*files).withColumn("source", source).select(*schema.names)

    def persist(self, rows: DataFrame) -> DataFrame:
        """The rows, which are computed once until `unpersist`."""
        self._persisted.append(rows.persist())
        return rows

    def unpersist(self) -> None:
        """Forget the rows of `persist`."""
        while self._persisted:
            self._persisted.pop().unpersist()

    def missing(self, rows: DataFrame, name: str, *keys: str, rules_id: str = "") -> DataFrame:
        """The rows whose keys a table does not have, or has only with other rules: what a stage has to do."""
        table = self.read(name)
        rows_of_rules = table.where(table.rules_id == rules_id) if rules_id else table
        return rows.join(rows_of_rules.select(*keys).distinct(), list(keys), "left_anti")

    def add(self, name: str, rows: DataFrame, rules_id: str = "") -> int:
        """Add rows to a table; replace its rows if none is of the rules `rules_id`. Returns the number of new rows."""
        if rules_id and name in self.tables and not self._files(name, [("rules_id", "=", rules_id)]):
            return self._commit(name, rows, "overwrite")
        return self._commit(name, rows, "append")

    def replace(self, name: str, rows: DataFrame, sources: Collection[str] | None = None) -> int:
        """Replace all rows of a table, or those of some sources. Returns the number of new rows."""
        partitions = None if sources is None else [("source", "in", sorted(sources))]
        return self._commit(name, rows, "overwrite", partitions)

    def empty(self) -> None:
        """Remove the rows of all tables, and give each the columns of `TABLES`."""
        for name in self.tables:
            self._commit_files(name, [], "overwrite", None)

    def compact(self) -> None:
        """Merge the small files of tables with many, and remove the files that no version of the last week has.

        Files that no log names, of a run that was killed or has not ended, are removed by their age too.
        """
        for table in self.tables.values():
            if len(table.file_uris()) > MANY_FILES:
                with suppress(CommitFailedError):  # another run is faster
                    table.optimize.compact()
            table.vacuum(WEEK, dry_run=False, full=True)

    def _files(self, name: str, predicate: Any = None) -> list[str]:
        """The paths of the files of a table which may have rows that the predicate selects, as delta-rs takes it."""
        table = self.tables[name]
        folder = table.table_uri.removeprefix("file://")
        uris = table.file_uris(file_pruning_predicate=predicate)
        return [str(self.path / name / uri.removeprefix(folder)) for uri in uris]

    def _delta_schema(self, name: str) -> Schema:
        return Schema.from_json(self.schemas[name].json())

    def _commit(self, name: str, rows: DataFrame, mode: str, partitions: Any = None) -> int:
        """Write rows and commit their files. Returns the number of rows.

        The mode `overwrite` replaces all rows of a table, or those of partitions: `[("source", "in", ["kafka"])]`.
        """
        folder = self.path / name / f"run-{uuid4().hex}"
        partition_columns = PARTITION_COLUMNS.get(name, [])
        rows.select(*self.schemas[name].names).write.partitionBy(*partition_columns).parquet(str(folder))
        actions = _add_actions(folder, partition_columns)
        if actions or mode == "overwrite" or name not in self.tables:  # else there is nothing to commit
            self._commit_files(name, actions, mode, partitions)
        if not actions:
            shutil.rmtree(folder)
        return sum(json.loads(action.stats)["numRecords"] for action in actions)

    def _commit_files(self, name: str, actions: list[AddAction], mode: str, partitions: Any) -> None:
        """Commit files to a table, which is created where it is missing.

        Raises UsageError where another run has committed to the table since this run has opened it.
        """
        path, schema, columns = str(self.path / name), self._delta_schema(name), PARTITION_COLUMNS.get(name, [])
        try:
            if name in self.tables:
                self.tables[name].create_write_transaction(
                    [*actions], mode, schema, columns, partitions, commit_properties=NO_RETRY
                )
            else:
                create_table_with_add_actions(path, schema, actions, partition_by=columns, commit_properties=NO_RETRY)
        except CommitFailedError:
            raise UsageError(
                f"another run has changed the table {name} of {self.path}; run the command again"
            ) from None
        self.tables[name] = open_table(self.path, name)


def _add_actions(folder: Path, partition_columns: list[str]) -> list[AddAction]:
    """The actions of Delta's log that add the files of a folder to the table in whose directory the folder is.

    Files without rows are ignored. The folder is a table of its own for a moment, because delta-rs makes statistics
    of files that Spark wrote only where it converts a directory to a table; to make them of the footers with pyarrow
    takes more lines, for the types and for strings that are cut.
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
