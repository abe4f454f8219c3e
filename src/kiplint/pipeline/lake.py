"""A lake: Delta tables below one directory. Spark writes their files, and delta-rs commits these.

The version of a table that a run begins with is the one that its commit comes after: where another run has made a
commit since, the commit fails.
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
"""The file that makes a directory a lake, and that a run locks. kiplint writes and removes nothing in others."""
RUN: Final = "run-"
"""How the names of the folders begin that Spark writes to, one for each commit."""
MANY_FILES: Final = 50
"""A table with more files is compacted at the end of a run."""
ADD: Final = ("size", "partitionValues", "modificationTime", "dataChange", "stats")
"""What the log says of a file behind its path."""
ONCE: Final = CommitProperties(max_commit_retries=0)


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
    """Remove the folders that no table has: those of runs that were killed, and those whose rows were replaced."""
    for name in TABLES:
        files = DeltaTable(path / name).file_uris() if has_table(path, name) else []
        for folder in (path / name).glob(f"{RUN}*"):
            if not any(folder.name in file for file in files):
                shutil.rmtree(folder)


def has_table(path: Path, name: str) -> bool:
    """Whether a lake has a table."""
    return DeltaTable.is_deltatable(str(path / name))


class Lake:
    """The tables of a lake, each as a run found it or as that run has left it.

    `lines` are the lines of history, and `upstream` is the source that the others are compared with.
    """

    def __init__(self, path: Path, spark: SparkSession, lines: Sequence[Line] = (), upstream: str = "") -> None:
        from pyspark.sql.types import StructType

        self.path, self.spark, self.lines, self.upstream = path, spark, lines, upstream
        self.schemas = {name: cast("StructType", StructType.fromDDL(ddl)) for name, ddl in TABLES.items()}
        DeltaTable.create(str(path / "sources"), self._delta_schema("sources"), mode="ignore")
        self.tables = {name: DeltaTable(path / name) for name in TABLES if has_table(path, name)}

    def read(self, name: str, sources: Collection[str] | None = None) -> DataFrame:
        """A table, or of a table that has partitions those of some sources."""
        from pyspark.sql import functions as F  # noqa: N812

        schema = self.schemas[name]
        partitions = None if sources is None else [("source", "in", sorted(sources))]
        files = self.tables[name].file_uris(file_pruning_predicate=partitions) if name in self.tables else []
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
        rows_of_rules = table.where(table.rules_id == rules_id) if rules_id else table
        return rows.join(rows_of_rules.select(*keys).distinct(), list(keys), "left_anti")

    def add(self, name: str, rows: DataFrame, rules_id: str = "") -> int:
        """Add rows to a table; the first rows of other rules than before replace all others. Returns their number."""
        of_rules = [("rules_id", "=", rules_id)]
        has_rules = rules_id and name in self.tables
        if has_rules and not self.tables[name].file_uris(file_pruning_predicate=of_rules):
            return self._commit(name, rows, "overwrite")
        return self._commit(name, rows, "append")

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

    def _delta_schema(self, name: str) -> Schema:
        return Schema.from_json(self.schemas[name].json())

    def _commit(self, name: str, rows: DataFrame, mode: str, sources: Any = None) -> int:
        folder = self.path / name / f"{RUN}{uuid4().hex}"
        by = ["source"] if name in PARTITIONED else []
        rows.select(*self.schemas[name].names).write.partitionBy(*by).parquet(str(folder))
        actions = _actions(folder, by)
        if actions or mode == "overwrite" or name not in self.tables:
            self._commit_files(name, actions, mode, sources)
        if not actions:
            shutil.rmtree(folder)
        return sum(json.loads(action.stats)["numRecords"] for action in actions)

    def _commit_files(self, name: str, actions: list[AddAction], mode: str, sources: Any) -> None:
        schema, by = self._delta_schema(name), ["source"] if name in PARTITIONED else []
        try:
            if name not in self.tables:
                create_table_with_add_actions(
                    str(self.path / name), schema, actions, partition_by=by, commit_properties=ONCE
                )
                self.tables[name] = DeltaTable(self.path / name)
                return
            self.tables[name].create_write_transaction([*actions], mode, schema, by, sources, commit_properties=ONCE)
        except CommitFailedError:
            raise UsageError(f"another run has changed the table {name} of {self.path}: run again") from None
        self.tables[name].update_incremental()


def _actions(folder: Path, by: list[str]) -> list[AddAction]:
    """How the log of a table names the files of a folder that have rows.

    delta-rs makes statistics out of what Spark wrote only for a table of its own: the folder is one for a moment.
    """
    if any(folder.rglob("*.parquet")):
        partitions = Schema([Field(name, PrimitiveType("string")) for name in by])
        convert_to_deltalake(str(folder), partition_by=partitions if by else None, partition_strategy="hive")
    logs = [
        json.loads(line) for log in folder.glob("_delta_log/*.json") for line in log.read_text("utf-8").splitlines()
    ]
    shutil.rmtree(folder / "_delta_log", ignore_errors=True)
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".parquet":  # checksums, and a mark that Spark was done
            file.unlink()
    adds = [log["add"] for log in logs if "add" in log and json.loads(log["add"]["stats"])["numRecords"]]
    return [AddAction(f"{folder.name}/{add['path']}", *(add[name] for name in ADD)) for add in adds]


def _without_source(schema: StructType) -> StructType:
    return type(schema)([field for field in schema.fields if field.name != "source"])
