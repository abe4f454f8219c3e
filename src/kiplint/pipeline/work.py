"""What a stage works with: the session, the lake, the tables as they stand, and the parts that are new to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kiplint.pipeline.columns import Columns, ddl, table
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.lake import Lake, Snapshot
from kiplint.pipeline.tables.problems import Problems

F = TypeVar("F", bound=Frame)


@dataclass
class Work:
    """One run over one lake. `tables` are the parts of all tables, those staged by this stage included."""

    spark: SparkSession
    lake: Lake
    snapshot: Snapshot
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def frame(self, kind: type[F]) -> F:
        """A table as it stands."""
        return kind(self.read(kind.NAME, kind.COLUMNS, self.tables.get(kind.NAME, ())))

    def read(self, name: str, columns: Columns, parts: Iterable[str]) -> DataFrame:
        """Some parts of a table."""
        paths = [self.lake.place(part) for part in parts]
        if not paths:
            return self.local(columns, ())
        return self.spark.read.schema(ddl(columns)).parquet(*paths)

    def local(self, columns: Columns, rows: Iterable[tuple[object, ...]]) -> DataFrame:
        """Rows of this process as a DataFrame."""
        found = table(columns, rows)
        if not found.num_rows:
            return self.spark.createDataFrame([], ddl(columns))
        return self.spark.createDataFrame(found).select(*columns)

    def unseen(self, stage: str, engine: str, name: str) -> tuple[tuple[str, ...], bool]:
        """The parts of a table that a stage has not worked on, and whether it begins anew: then that is all parts."""
        parts = self.tables.get(name, ())
        if self.anew(stage, engine):
            return parts, True
        before = self.snapshot.stages[stage].inputs.get(name, ())
        if not set(before) <= set(parts):
            return parts, True
        return tuple(part for part in parts if part not in before), False

    def anew(self, stage: str, engine: str) -> bool:
        """Whether nothing that a stage did is of use any more."""
        seen = self.snapshot.stages.get(stage)
        return seen is None or seen.engine != engine

    def stage(self, name: str, df: DataFrame, columns: Columns | None = None) -> str:
        """Write a DataFrame as a part that belongs to no table yet, and say its name."""
        target = self.lake.stage(name)
        (df.select(*columns) if columns else df).write.parquet(str(target))
        return target.name

    @property
    def parallelism(self) -> int:
        """How many tasks the cluster can run at once, as far as its settings say."""
        shuffles = self.spark.conf.get("spark.sql.shuffle.partitions") or "2"
        return max(int(self.spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or 0), int(shuffles))

    @property
    def few(self) -> int:
        """How many files a small table is written as."""
        return max(1, self.parallelism // 2)

    def spread(self, df: DataFrame) -> DataFrame:
        """The rows over enough partitions for all cores: small tables are read as a single one."""
        return df.repartition(self.parallelism)

    def append(self, frame: Frame) -> None:
        """Add rows to a table."""
        self.add(frame.NAME, self.stage(frame.NAME, frame.df))

    def add(self, name: str, part: str) -> None:
        """Add a staged part to a table, unless it is empty."""
        self.tables[name] = (*self.tables.get(name, ()), *([part] if self.lake.count([part]) else []))

    def replace(self, frame: Frame) -> None:
        """Give a table new rows instead of those it has."""
        self.tables[frame.NAME] = (self.stage(frame.NAME, frame.df),)

    def gather(self, columns: Columns, parts: Iterable[str], where: Any = None) -> list[dict[str, Any]]:
        """Rows of parts in this process, without a job: for what is small."""
        found: list[dict[str, Any]] = self.lake.read(parts, columns, where).to_pylist()
        return found

    def put(self, kind: type[Frame], rows: Iterable[tuple[object, ...]], *, more: bool = False) -> None:
        """Give a table rows of this process; `more` adds them to those it has."""
        target = self.lake.stage(kind.NAME)
        target.mkdir(parents=True)
        pq.write_table(table(kind.COLUMNS, rows), target / "part-0.parquet", compression="zstd")
        if more:
            self.add(kind.NAME, target.name)
        else:
            self.tables[kind.NAME] = (target.name,)

    def note(self, stage: str, problems: Iterable[tuple[str, str]], *, anew: bool) -> None:
        """Record problems of a stage, as subject and text; `anew` forgets those it had before."""
        before = self.gather(Problems.COLUMNS, self.tables.get(Problems.NAME, ()))
        known = {tuple(row.values()) for row in before if not (anew and row["stage"] == stage)}
        self.put(Problems, sorted(known | {(stage, *problem) for problem in problems}))

    def problems_in(self, parts: Iterable[str], subject: str) -> Iterator[tuple[str, str]]:
        """The problems that staged parts tell in a column of that name, by another of their columns."""
        for row in self.gather({subject: "string", "problem": "string"}, parts, pc.field("problem").is_valid()):
            yield row[subject], row["problem"]
