"""A stage of a run: the tables it reads and writes, what its results depend on besides, and how it is done."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import Scopes, needs_set, scopes_of
from kiplint.pipeline.lake.delta import Part
from kiplint.pipeline.lake.files import (
    PROBLEMS,
    RETURNED,
    Batches,
    Output,
    Target,
    read_parts,
    returning,
    write_parts,
    write_table,
)
from kiplint.pipeline.lake.lake import Lake, Parts, Snapshot
from kiplint.pipeline.lake.schema import Columns, TableFrame, ddl, table
from kiplint.pipeline.tables.findings import Problems

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from kiplint.pipeline.listing import Line


ALONE, TOGETHER, CHANGES = "alone", "together", "changes"
"""Rules about files by themselves, about files of a set together, and about changes."""


class Engine(msgspec.Struct, frozen=True):
    """The rules of a run; fit to be sent to executors."""

    packed: bytes

    @classmethod
    def of(cls, rules: RuleSet) -> Engine:
        """The engine with these rules."""
        return cls(pickle.dumps((rules.rules, rules.known)))

    @property
    def rules(self) -> Scopes:
        """The rules, compiled at most once in this process."""
        return _scopes(self.packed)

    @property
    def texts(self) -> Mapping[str, str]:
        """Ids of the rules as they are written and configured, by what they look at: ALONE, TOGETHER or CHANGES."""
        rules = self.rules.whole.rules
        changes = [rule for rule in rules if rule.spec.each == "change"]
        checks = [rule for rule in rules if rule.spec.each != "change"]
        return {
            ALONE: _id([rule for rule in checks if not needs_set(rule)]),
            TOGETHER: _id([rule for rule in checks if needs_set(rule)], checks),
            CHANGES: _id(changes),
        }


@cache
def _scopes(packed: bytes) -> Scopes:
    chosen, known = pickle.loads(packed)
    return scopes_of(RuleSet(chosen, known))


def _id(*rules: list[Rule]) -> str:
    written = [
        [rule.id, rule.severity, rule.source, rule.params, msgspec.to_builtins(rule.spec)]
        for some in rules
        for rule in some
    ]
    return sha256(msgspec.json.encode(written)).hexdigest()[:16]


class Context(NamedTuple):
    """What a run is about, as stages need it.

    `problems` are what is wrong with sources that cannot be listed, `lost` their lines, as source and lineage, `cut`
    the sources whose history does not go back to its beginning. `paths` are globs that choose
    definitions, `upstream` is the source that forks are held against; `across` asks
    for a matrix of the releases of all sources together.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[tuple[str, str], ...]
    paths: tuple[str, ...]
    upstream: str
    lost: tuple[tuple[str, str], ...] = ()
    cut: tuple[str, ...] = ()
    across: bool = False


class Stage(NamedTuple):
    """`depends_on` returns what results depend on besides the data and the code, such as rules and options.

    Its keys are the names under which the lake records the stage; without it, that is the name of the stage.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    run: Callable[[Work, Context], None]
    depends_on: Callable[[Context], Mapping[str, str]] | None = None

    def ids(self, context: Context) -> dict[str, str]:
        """Ids of all that results depend on but for the data."""
        dependencies = self.depends_on(context) if self.depends_on else {self.name: ""}
        return {name: sha256(f"{code_id()} {value}".encode()).hexdigest()[:16] for name, value in dependencies.items()}


@cache
def code_id() -> str:
    """The id of the code that runs: any change of kiplint's own modules has every stage done again."""
    return id_of(files("kiplint"))


def id_of(package: Traversable) -> str:
    """The id of a copy of kiplint, which is its directory, on a disk or in an archive.

    The compiled rules do not count: they follow from the rules of a run, which stages name themselves.
    """
    digest = sha256()
    for name, source in sorted(_sources(package)):
        digest.update(b"\0" + name.encode() + b"\0" + sha256(source).digest())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        name = above + entry.name
        if name.endswith(".py"):
            yield name, entry.read_bytes()
        elif entry.is_dir() and name != "compiled":
            yield from _sources(entry, f"{name}/")


A_HANDFUL = 8
"""So few files are not worth a task of their own."""
A_TASK = 1 << 14
"""The most files of one task: some 40 MB, which fit into the memory of an executor for sorting."""
EVENLY, A_CORE = 4, 64
"""Pieces differ in size, and chance deals them out: with so many times as many tasks no core waits for the last.

With so many for a core it does not wait long in any case, and each costs as much as a hundred definitions.
"""
A_CLUSTER = 8
"""The cores that a cluster is taken to have which does not tell."""
Problem = tuple[str, str]
"""A subject, and what is wrong with it."""
F = TypeVar("F", bound=TableFrame)


class Work:
    """One run over one lake: the tables as they stand, with what this stage has given them."""

    def __init__(self, spark: SparkSession, lake: Lake, snapshot: Snapshot) -> None:
        self.spark = spark
        self.lake = lake
        self.snapshot = snapshot
        self.written: dict[str, Parts] = {}

    def parts(self, name: str) -> Parts:
        """The files of a table as it stands, none when there is no such table yet."""
        known = self.written.get(name)
        return self.lake.parts(name, self.snapshot.tables.get(name)) if known is None else known

    def frame(self, kind: type[F]) -> F:
        """A table as it stands."""
        return kind(self.read(kind.COLUMNS, self.parts(kind.NAME)))

    def read(self, columns: Columns, parts: Parts) -> DataFrame:
        """The rows of files."""
        if not parts:
            return self.local(columns, ())
        return read_parts(self.spark, self.lake.storage, parts, columns, self.parallelism)

    def local(self, columns: Columns, rows: Iterable[tuple[object, ...]]) -> DataFrame:
        """Rows of this process as a DataFrame."""
        return self.of(columns, table(columns, rows))

    def of(self, columns: Columns, rows: pa.Table) -> DataFrame:
        """The same with rows that Arrow has, through a file: a session imports pandas to take them directly."""
        if not rows.num_rows:
            return self.spark.createDataFrame([], ddl(columns))
        return self.read(columns, write_table(rows, self.lake.storage, self.lake.stage("driver")))

    def unprocessed(self, stage: str, engine: str, name: str) -> tuple[Parts, bool]:
        """The files of a table that a stage has not worked on, and whether it begins anew: then that is all of them."""
        parts = self.parts(name)
        before = set(self.processed(stage, name))
        if self.anew(stage, engine) or not before <= set(parts):
            return parts, True
        return tuple(part for part in parts if part not in before), False

    def processed(self, stage: str, name: str) -> Parts:
        """The files of a table that a stage has worked on."""
        done = self.snapshot.stages.get(stage)
        return self.lake.parts(name, done.inputs.get(name)) if done else ()

    def anew(self, stage: str, engine: str) -> bool:
        """Whether nothing that a stage did is of use any more."""
        done = self.snapshot.stages.get(stage)
        return done is None or done.engine != engine

    def stage(self, name: str, df: DataFrame, columns: Columns | None = None) -> Parts:
        """Write a DataFrame as files that belong to no table yet."""
        return write_parts(df.select(*columns) if columns else df, self.lake.storage, self.lake.stage(name))

    def make(
        self, df: DataFrame, function: Callable[[Batches], Iterator[Output]], columns: Mapping[str, Columns]
    ) -> tuple[dict[str, Parts], list[Problem]]:
        """Have workers apply a function to rows and write what it yields: the files of each table, and the problems."""
        targets = {name: Target(self.lake.storage, self.lake.stage(name), kinds) for name, kinds in columns.items()}
        parts: dict[str, list[Part]] = {name: [] for name in columns}
        problems: list[Problem] = []
        for name, *part, subject, problem in df.mapInArrow(returning(targets, function), ddl(RETURNED)).collect():
            if name == PROBLEMS:
                problems.append((subject, problem))
            else:
                parts[name].append(Part(*part))
        return {name: tuple(sorted(files)) for name, files in parts.items()}, problems

    @property
    def is_local(self) -> bool:
        """Whether all work is done on this machine, which then sees what this process has unpacked."""
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            return False
        return str(self.spark.sparkContext.master).startswith("local")

    @cached_property
    def parallelism(self) -> int:
        """How many tasks can run at once, as far as can be known: a cluster's machines may have yet to come."""
        configured = int(self.spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or 0)
        if self.is_local:
            return max(configured, 2, self.spark.sparkContext.defaultParallelism)
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            return configured or A_CLUSTER
        return max(configured, A_CLUSTER, self.spark.sparkContext.defaultParallelism)

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

    def append(self, frame: TableFrame) -> None:
        """Add rows to a table."""
        self.add(frame.NAME, self.stage(frame.NAME, frame.df))

    def add(self, name: str, parts: Parts) -> None:
        """Add files to a table."""
        self.written[name] = (*self.parts(name), *parts)

    def empty(self, *names: str) -> None:
        """Take all rows from tables."""
        self.written |= dict.fromkeys(names, ())

    def replace(self, frame: TableFrame) -> None:
        """Give a table new rows instead of those it has."""
        self.written[frame.NAME] = self.stage(frame.NAME, frame.df)

    def gather(self, columns: Columns, parts: Parts, where: Any = None) -> list[dict[str, Any]]:
        """Rows of files in this process, without a job: for what is small."""
        rows: list[dict[str, Any]] = self.lake.read(parts, columns, where).to_pylist()
        return rows

    def put(self, kind: type[TableFrame], rows: Iterable[tuple[object, ...]], *, more: bool = False) -> None:
        """Give a table rows of this process; `more` adds them to those it has."""
        self.put_table(kind, table(kind.COLUMNS, rows), more=more)

    def put_table(self, kind: type[TableFrame], rows: pa.Table, *, more: bool = False) -> None:
        """The same with rows that Arrow has."""
        parts = write_table(rows, self.lake.storage, self.lake.stage(kind.NAME))
        if more:
            self.add(kind.NAME, parts)
        else:
            self.written[kind.NAME] = parts

    def note(self, stage: str, problems: Iterable[tuple[str, str]], *, anew: bool) -> None:
        """Record problems of a stage, as subject and text; `anew` forgets those it had before."""
        before = self.gather(Problems.COLUMNS, self.parts(Problems.NAME))
        known = {tuple(row.values()) for row in before}
        kept = {row for row in known if not (anew and row[0] == stage)} | {(stage, *problem) for problem in problems}
        if kept != known or Problems.NAME not in self.snapshot.tables:
            self.put(Problems, sorted(kept))
