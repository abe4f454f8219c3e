"""What a stage works with: the tables of the lake as DataFrames, and what it gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kiplint.pipeline.lake.delta import Part, Parts, read_frame, stage_frame, write_frame, write_rows
from kiplint.pipeline.lake.lake import Lake, Snapshot
from kiplint.pipeline.lake.schema import Columns, TableFrame, ddl, table
from kiplint.pipeline.tables import Problems

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

A_HANDFUL = 8
"""So few files are not worth a task of their own."""
A_TASK = 1 << 14
"""The most files of one task: some 40 MB, which fit into the memory of an executor for sorting."""
EVENLY = 4
"""Groups differ in size, and chance deals them out: with so many times as many tasks no core waits for the last."""
A_CLUSTER = 8
"""The cores that a cluster is taken to have which does not tell."""


class Work:
    """One run over one lake: the tables as they stand, with what this stage has given them.

    For `ids` see `Stage.ids`; `remarks` are for people.
    """

    def __init__(self, spark: SparkSession, lake: Lake, snapshot: Snapshot, ids: Mapping[str, str] = {}) -> None:
        self.spark = spark
        self.lake = lake
        self.snapshot = snapshot
        self.new_parts: dict[str, Parts] = {}
        self._ids = ids
        self.remarks: list[str] = []

    # What the lake has

    def parts(self, kind: type[TableFrame]) -> Parts:
        """The files of a table as it stands, none when there is no such table yet."""
        parts = self.new_parts.get(kind.NAME)
        return self.lake.parts(kind.NAME, self.snapshot.tables.get(kind.NAME)) if parts is None else parts

    def table(self, kind: type[TableFrame], *names: str, parts: Iterable[Part] | None = None) -> DataFrame:
        """A table as it stands, or some of its files; only these columns, if any are named."""
        columns = {name: kind.COLUMNS[name] for name in names or kind.COLUMNS}
        files = self.parts(kind) if parts is None else tuple(parts)
        return read_frame(self.spark, self.lake.storage, files, columns, self.parallelism)

    def of_sources(self, kind: type[TableFrame], sources: set[str], *names: str) -> DataFrame:
        """The rows of some sources in a table that is partitioned by source."""
        return self.table(kind, *names, parts=[part for part in self.parts(kind) if part.source in sources])

    def rows_of(self, kind: type[TableFrame]) -> list[dict[str, Any]]:
        """The rows of a small table."""
        return self.lake.rows(self.parts(kind), kind.COLUMNS)

    def anew(self, stage: str) -> bool:
        """Whether a stage has to start anew: it has no earlier results, or they are out of date."""
        state = self.snapshot.stages.get(stage)
        return state is None or state.engine != self._ids[stage]

    def unprocessed(self, stage: str, kind: type[TableFrame]) -> tuple[Parts, bool]:
        """The files of a table that a stage has not worked on, and whether it begins anew: then that is all of them."""
        parts, old_parts = self.parts(kind), set(self.processed(stage, kind))
        if self.anew(stage) or not old_parts <= set(parts):
            return parts, True
        return tuple(part for part in parts if part not in old_parts), False

    def processed(self, stage: str, kind: type[TableFrame]) -> Parts:
        """The files of a table that a stage has worked on."""
        state = self.snapshot.stages.get(stage)
        return self.lake.parts(kind.NAME, state.inputs.get(kind.NAME)) if state else ()

    def changed_sources(self, stage: str, kind: type[TableFrame]) -> set[str]:
        """The sources whose rows in a table, partitioned by source, are others than those that a stage worked on."""
        old_parts = () if self.anew(stage) else self.processed(stage, kind)
        return {part.source for part in {*self.parts(kind)} ^ {*old_parts}}

    # What it gets

    def append(self, kind: type[TableFrame], df: DataFrame) -> Parts:
        """Give a table more rows; the new files."""
        parts = self._write(kind, df)
        self.new_parts[kind.NAME] = (*self.parts(kind), *parts)
        return parts

    def append_none(self, kind: type[TableFrame]) -> None:
        """Leave a table as it is; it is there from now on."""
        self.new_parts[kind.NAME] = self.parts(kind)

    def replace(self, kind: type[TableFrame], df: DataFrame) -> None:
        """Replace all rows of a table."""
        self.new_parts[kind.NAME] = self._write(kind, df)

    def replace_sources(self, kind: type[TableFrame], df: DataFrame, sources: set[str]) -> None:
        """Replace the rows of some sources in a table that is partitioned by source; the other sources keep theirs."""
        others = [part for part in self.parts(kind) if part.source not in sources]
        self.new_parts[kind.NAME] = (*others, *self._write(kind, df))

    def clear(self, *kinds: type[TableFrame]) -> None:
        """Remove all rows of tables."""
        self.new_parts |= {kind.NAME: () for kind in kinds}

    def put_rows(self, kind: type[TableFrame], rows: Iterable[tuple[object, ...]]) -> None:
        """Replace all rows of a small table by rows that this process has."""
        self.new_parts[kind.NAME] = write_rows(table(kind.COLUMNS, rows), kind, self.lake.storage, self.lake.ticket())

    def _write(self, kind: type[TableFrame], df: DataFrame) -> Parts:
        return write_frame(kind(df).df, kind, self.lake.storage, self.lake.ticket())

    def note(self, problems: Mapping[str, Iterable[tuple[str, str]]], *, anew: bool) -> None:
        """Record problems by stage, as subject and text; `anew` forgets those the stages had before."""
        previous = {tuple(row.values()) for row in self.rows_of(Problems)}
        rows = {row for row in previous if not (anew and row[0] in problems)}
        rows |= {(stage, *problem) for stage, some in problems.items() for problem in some}
        if rows != previous or Problems.NAME not in {*self.snapshot.tables, *self.new_parts}:
            self.put_rows(Problems, sorted(rows))

    # How it is done

    def local(self, columns: Columns, rows: Iterable[tuple[object, ...]]) -> DataFrame:
        """A few rows of this process as a DataFrame."""
        return self.spark.createDataFrame(table(columns, rows), ddl(columns))

    def sql(self, text: str, **tables: DataFrame) -> DataFrame:
        """The rows of a query in Spark's SQL, in which `{name}` stands for a table."""
        frames: dict[str, Any] = {**tables}
        return self.spark.sql(text, **frames)

    def stage(self, df: DataFrame) -> DataFrame:
        """Rows that are used several times, computed once: what Python tasks return above all.

        They are files, so that they outlive an executor, and that plans do not hold each other.
        """
        return stage_frame(df, self.lake.storage, self.lake.ticket(), self.parallelism)

    def spread(self, df: DataFrame, items: int, *keys: str) -> DataFrame:
        """About so many rows over partitions for all cores; with keys their groups are together, of unequal size.

        Spark itself would join small partitions, whatever work the rows are for tasks in Python.
        """
        tasks = max(min(self.parallelism, -(-items // A_HANDFUL)), -(-items // A_TASK), 1)
        return df.repartition(tasks * EVENLY if keys and tasks > 1 else tasks, *keys)

    @cached_property
    def parallelism(self) -> int:
        """How many tasks can run at once, as far as can be known: a cluster's machines may have yet to come."""
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            return int(self.spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or A_CLUSTER)
        context = self.spark.sparkContext
        return max(2 if str(context.master).startswith("local") else A_CLUSTER, context.defaultParallelism)
