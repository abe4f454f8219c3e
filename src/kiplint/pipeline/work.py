"""What a stage works with: the session, the lake, the tables as they stand, and the parts that are new to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kiplint.pipeline.columns import Columns, arrow_schema, ddl, table
from kiplint.pipeline.delta import rows_in
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.lake import Lake, Parts, Snapshot
from kiplint.pipeline.late import pc
from kiplint.pipeline.parts import read_parts, write_parts, write_rows, write_table
from kiplint.pipeline.tables.problems import Problems

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

A_HANDFUL = 8
"""So few files are not worth a task of their own."""
A_TASK = 1 << 14
"""The most files of one task: some 40 MB, which fit into the memory of an executor for sorting."""
EVENLY, A_CORE = 4, 64
"""Pieces differ in size, and chance deals them out: with so many times as many tasks no core waits for the last.

With so many for a core it does not wait long in any case, and each costs as much as a hundred definitions.
"""
HELD = 1 << 20
"""So many rows this process puts into one file sooner than a job does; it never holds all of them."""
A_CLUSTER = 8
"""The cores that a cluster is taken to have which does not tell."""
F = TypeVar("F", bound=Frame)


class Work:
    """One run over one lake: the tables as they stand, with what this stage has given them."""

    def __init__(self, spark: SparkSession, lake: Lake, snapshot: Snapshot) -> None:
        self.spark = spark
        self.lake = lake
        self.snapshot = snapshot
        self.given: dict[str, Parts] = {}

    def parts(self, name: str) -> Parts:
        """The files of a table as it stands, none when there is no such table yet."""
        known = self.given.get(name)
        return self.lake.parts(name, self.snapshot.tables.get(name)) if known is None else known

    def frame(self, kind: type[F]) -> F:
        """A table as it stands."""
        return kind(self.read(kind.COLUMNS, self.parts(kind.NAME)))

    def read(self, columns: Columns, parts: Parts) -> DataFrame:
        """The rows of files."""
        if not parts:
            return self.local(columns, ())
        if self.here:
            return self.spark.of(self.lake.dataset(parts, columns))  # type: ignore[attr-defined, no-any-return]
        return read_parts(self.spark, self.lake.storage, parts, columns, self.parallelism)

    def local(self, columns: Columns, rows: Iterable[tuple[object, ...]]) -> DataFrame:
        """Rows of this process as a DataFrame."""
        return self.of(columns, table(columns, rows))

    def of(self, columns: Columns, found: pa.Table) -> DataFrame:
        """The same with rows that Arrow has."""
        if self.here:
            return self.spark.of(found)  # type: ignore[attr-defined, no-any-return]
        if not found.num_rows:
            return self.spark.createDataFrame([], ddl(columns))
        return self.spark.createDataFrame(found).select(*columns)

    def unseen(self, stage: str, engine: str, name: str) -> tuple[Parts, bool]:
        """The files of a table that a stage has not worked on, and whether it begins anew: then that is all of them."""
        parts = self.parts(name)
        before = set(self.seen(stage, name))
        if self.anew(stage, engine) or not before <= set(parts):
            return parts, True
        return tuple(part for part in parts if part not in before), False

    def seen(self, stage: str, name: str) -> Parts:
        """The files of a table that a stage has worked on."""
        seen = self.snapshot.stages.get(stage)
        return self.lake.parts(name, seen.inputs.get(name)) if seen else ()

    def anew(self, stage: str, engine: str) -> bool:
        """Whether nothing that a stage did is of use any more."""
        seen = self.snapshot.stages.get(stage)
        return seen is None or seen.engine != engine

    def stage(self, name: str, df: DataFrame, columns: Columns | None = None) -> Parts:
        """Write a DataFrame as files that belong to no table yet."""
        wanted = df.select(*columns) if columns else df
        if self.here:
            found = wanted.toArrow().cast(arrow_schema(dict(wanted.dtypes)))
            return write_table(found, self.lake.storage, self.lake.stage(name))
        return write_parts(wanted, self.lake.storage, self.lake.stage(name))

    def chosen(self, kind: type[Frame], columns: Columns, staged: Parts, told: str) -> Parts:
        """The rows of staged files that have a value in the column `told`, as few files of a table."""
        if not rows_in(staged):
            return ()
        if rows_in(staged) <= HELD:
            rows = self.lake.dataset(staged, columns).scanner(list(kind.COLUMNS), filter=pc.field(told).is_valid())
            return write_rows(rows.to_batches(), rows.projected_schema, self.lake.storage, self.lake.stage(kind.NAME))
        found = self.read(columns, staged).where(f"{told} is not null").select(*kind.COLUMNS)
        return self.stage(kind.NAME, found.coalesce(self.few))

    @property
    def here(self) -> bool:
        """Whether the work is done by this process, without Spark."""
        return type(self.spark).__module__.startswith("kiplint.")

    @property
    def is_local(self) -> bool:
        """Whether all work is done on this machine, which then sees what this process has unpacked."""
        if self.here:
            return True
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            return False
        return str(self.spark.sparkContext.master).startswith("local")

    @cached_property
    def parallelism(self) -> int:
        """How many tasks can run at once, as far as can be known: a cluster's machines may have yet to come."""
        if self.here:
            return 1
        asked = int(self.spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or 0)
        if self.is_local:
            return max(asked, int(self.spark.conf.get("spark.sql.shuffle.partitions") or "2"))
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            return asked or A_CLUSTER
        return max(asked, A_CLUSTER, self.spark.sparkContext.defaultParallelism)

    @property
    def few(self) -> int:
        """How many files a small table is written as at most: as many as can be made at once."""
        return self.parallelism

    def spread(self, df: DataFrame, items: int) -> DataFrame:
        """About so many rows over enough partitions for all cores: small tables are read as a single one."""
        return df.repartition(self.tasks(items))

    def tasks(self, items: int) -> int:
        """How many tasks share so many files, sets or pairs: none for a handful, and each of a bounded size."""
        return max(min(self.parallelism, -(-items // A_HANDFUL)), -(-items // A_TASK), 1)

    def shares(self, tasks: int) -> int:
        """How many tasks do the work of these when it comes in pieces of unequal size."""
        return max(tasks, min(tasks * EVENLY, self.parallelism * A_CORE)) if tasks > 1 else 1

    def append(self, frame: Frame) -> None:
        """Add rows to a table."""
        self.add(frame.NAME, self.stage(frame.NAME, frame.df))

    def add(self, name: str, parts: Parts) -> None:
        """Add files to a table."""
        self.given[name] = (*self.parts(name), *parts)

    def empty(self, *names: str) -> None:
        """Take all rows from tables."""
        self.given |= dict.fromkeys(names, ())

    def replace(self, frame: Frame) -> None:
        """Give a table new rows instead of those it has."""
        self.given[frame.NAME] = self.stage(frame.NAME, frame.df)

    def gather(self, columns: Columns, parts: Parts, where: Any = None) -> list[dict[str, Any]]:
        """Rows of files in this process, without a job: for what is small."""
        found: list[dict[str, Any]] = self.lake.read(parts, columns, where).to_pylist()
        return found

    def put(self, kind: type[Frame], rows: Iterable[tuple[object, ...]], *, more: bool = False) -> None:
        """Give a table rows of this process; `more` adds them to those it has."""
        self.put_table(kind, table(kind.COLUMNS, rows), more=more)

    def put_table(self, kind: type[Frame], found: pa.Table, *, more: bool = False) -> None:
        """The same with rows that Arrow has."""
        parts = write_table(found, self.lake.storage, self.lake.stage(kind.NAME))
        if more:
            self.add(kind.NAME, parts)
        else:
            self.given[kind.NAME] = parts

    def note(self, stage: str, problems: Iterable[tuple[str, str]], *, anew: bool) -> None:
        """Record problems of a stage, as subject and text; `anew` forgets those it had before."""
        before = self.gather(Problems.COLUMNS, self.parts(Problems.NAME))
        known = {tuple(row.values()) for row in before}
        kept = {row for row in known if not (anew and row[0] == stage)} | {(stage, *problem) for problem in problems}
        if kept != known or Problems.NAME not in self.snapshot.tables:
            self.put(Problems, sorted(kept))

    def problems_in(self, parts: Parts, subject: str) -> Iterator[tuple[str, str]]:
        """The problems that staged files tell in a column of that name, by another of their columns."""
        for row in self.gather({subject: "string", "problem": "string"}, parts, pc.field("problem").is_valid()):
            yield str(row[subject]), str(row["problem"])
