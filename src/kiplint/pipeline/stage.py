"""A stage of a run: the tables that it reads and writes, what its results depend on, and what it works with."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import Scopes, needs_set, scopes_of
from kiplint.pipeline.fetching import leaving_nothing, scratch
from kiplint.pipeline.lake.delta import (
    PROBLEMS,
    RETURNED,
    Batches,
    Output,
    Part,
    Parts,
    connected,
    read_parts,
    returning,
    write_parts,
    write_table,
)
from kiplint.pipeline.lake.lake import Lake, Snapshot
from kiplint.pipeline.lake.schema import Columns, TableFrame, arrow_schema, ddl, table
from kiplint.pipeline.tables import TABLES, Problems

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession

    from kiplint.pipeline.listing import Line


class Engine(msgspec.Struct, frozen=True):
    """The rules of a run, and globs of the releases that decide what is released; fit to be sent to executors."""

    packed: bytes
    released: tuple[str, ...] = ()

    @classmethod
    def of(cls, rules: RuleSet, released: Iterable[str] = ()) -> Engine:
        """The engine with these rules and releases."""
        return cls(pickle.dumps((rules.rules, rules.known)), tuple(released))

    @property
    def rules(self) -> Scopes:
        """The rules, compiled at most once in this process."""
        return _scopes(self.packed)

    @property
    def texts(self) -> Mapping[str, str]:
        """Ids of the rules as they are written and configured: of files alone, of sets, and of changes."""
        rules = self.rules.whole.rules
        checks = [rule for rule in rules if rule.spec.each != "change"]
        return {
            "lint": _id(rule for rule in checks if not needs_set(rule)),
            "lint-sets": _id([*filter(needs_set, checks), *checks]),
            "compare": _id(rule for rule in rules if rule.spec.each == "change") + " ".join(self.released),
        }


@cache
def _scopes(packed: bytes) -> Scopes:
    chosen, known = pickle.loads(packed)
    return scopes_of(RuleSet(chosen, known))


def _id(rules: Iterable[Rule]) -> str:
    written = [[rule.id, rule.severity, rule.source, rule.params, msgspec.to_builtins(rule.spec)] for rule in rules]
    return _digest(msgspec.json.encode(written))


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


Problem = tuple[str, str]
"""A subject, and what is wrong with it."""


class Context(NamedTuple):
    """What a run is about, as stages need it.

    `problems` are what is wrong with sources that cannot be listed, `lost` their lines, as source and lineage, `cut`
    the sources whose history does not go back to its beginning. `paths` are globs that choose definitions, `upstream`
    is the source that forks are compared with; `across` asks for a matrix of the releases of all sources together.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...]
    paths: tuple[str, ...]
    upstream: str
    lost: tuple[tuple[str, str], ...] = ()
    cut: tuple[str, ...] = ()
    across: bool = False


class Stage(NamedTuple):
    """A stage: its name, the tables that it reads and writes, and the module in `stages` whose function does it.

    The tables `aside` are not counted for people.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    module: str
    function: str = "run"
    aside: tuple[str, ...] = ()

    def run(self, work: Work, context: Context) -> None:
        """Do the stage's work."""
        getattr(import_module(f"kiplint.pipeline.stages.{self.module}"), self.function)(work, context)

    def ids(self, context: Context) -> dict[str, str]:
        """Ids of all that results depend on but for the data, by the names under which the lake records the stage."""
        known = _dependencies(context)
        names = PARTS.get(self.name, (self.name,))
        return {name: _digest(f"{code_id()} {known.get(name, '')}".encode()) for name in names}


STAGES = (
    Stage("ingest", (), ("sets", "blobs", "trees"), "ingest", aside=("files", "roots", "sources", "problems")),
    Stage("lint", ("files",), ("findings",), "lint"),
    Stage("describe", ("blobs",), ("messages", "fields", "layouts"), "describe"),
    Stage("compare", ("sets", "messages"), ("changes",), "compare", aside=("pairs",)),
    Stage("spans", ("sets", "files", "trees", "blobs", "messages", "findings", "changes"), ("spans",), "spans"),
    Stage("matrix", ("sets", "files", "trees", "messages", "fields"), ("cells",), "matrix", aside=("offers",)),
    Stage("drift", ("sets", "files", "trees", "layouts", "messages"), ("drift",), "matrix", "run_drift"),
)
PARTS = {"ingest": ("ingest", "ingest-walking"), "lint": ("lint", "lint-sets")}
"""Stages that are recorded in two parts: what was listed, and how contents are read; files alone, and sets."""


def undone(snapshot: Snapshot, tables: Iterable[str]) -> Snapshot:
    """A state without some tables, and without the stages that wrote them."""
    gone = set(tables)
    stages = [stage.name for stage in STAGES if gone & {*stage.writes, *stage.aside}]
    names = {part for stage in stages for part in PARTS.get(stage, (stage,))}
    return msgspec.structs.replace(
        snapshot,
        tables={name: version for name, version in snapshot.tables.items() if name not in gone},
        stages={name: state for name, state in snapshot.stages.items() if name not in names},
    )


def _dependencies(context: Context) -> dict[str, str]:
    """What the results of stages depend on besides the data and the code."""
    lines = [(*line[:4], line.digest, line.shallow) for line in context.lines]
    listed = repr((lines, sorted(context.problems), sorted(context.lost), context.paths))
    own = {"ingest": _digest(listed.encode("utf-8", "surrogateescape"))}
    return own | {"matrix": str(context.across), "drift": context.upstream, **context.engine.texts}


@cache
def code_id() -> str:
    """The id of the code that runs: any change of kiplint's own modules makes every stage run again."""
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


class Work:
    """One run over one lake: the tables as they stand, with what this stage has given them.

    For `ids` see `Stage.ids`.
    """

    def __init__(self, spark: SparkSession, lake: Lake, snapshot: Snapshot, ids: Mapping[str, str] = {}) -> None:
        self.spark = spark
        self.lake = lake
        self.snapshot = snapshot
        self.written: dict[str, Parts] = {}
        self._ids = ids

    def parts(self, kind: type[TableFrame]) -> Parts:
        """The files of a table as it stands, none when there is no such table yet."""
        known = self.written.get(kind.NAME)
        return self.lake.parts(kind.NAME, self.snapshot.tables.get(kind.NAME)) if known is None else known

    def frame(self, kind: type[TableFrame]) -> DataFrame:
        """A table as it stands."""
        return self.read(kind.COLUMNS, self.parts(kind))

    def read(self, columns: Columns, parts: Parts) -> DataFrame:
        """The rows of files."""
        if not parts:
            return self.spark.createDataFrame([], ddl(columns))
        return read_parts(self.spark, self.lake.storage, parts, columns, self.parallelism)

    def local(self, columns: Columns, rows: Iterable[tuple[object, ...]] | pa.Table) -> DataFrame:
        """Rows of this process as a DataFrame, through a file: a session imports pandas to take them directly."""
        return self.read(columns, self._write(columns, rows, "driver"))

    def query(self, sql: str, **others: pa.Table | Parts) -> pa.Table:
        """The rows of a query in DuckDB's SQL, in this process: for what is small, such as all but texts.

        It has the tables of the lake as they stand, and `others`: rows, or files of the table up to the last `_`.
        """
        tables = self._tables({*re.findall(r"\w+", sql)} & {*TABLES})
        with connected(self.lake.storage, tables) as connection:
            for name, rows in others.items():
                kind = TABLES.get(name.rpartition("_")[2])
                dataset = self.lake.dataset(rows, kind.COLUMNS) if kind and isinstance(rows, tuple) else rows
                connection.register(name, dataset)
            return connection.sql(sql).to_arrow_table()

    def _tables(self, names: Iterable[str]) -> dict[str, tuple[Parts, Columns]]:
        """The files and columns of tables, by name."""
        return {name: (self.parts(TABLES[name]), TABLES[name].COLUMNS) for name in names}

    def unprocessed(self, stage: str, kind: type[TableFrame]) -> tuple[Parts, bool]:
        """The files of a table that a stage has not worked on, and whether it begins anew: then that is all of them."""
        parts = self.parts(kind)
        before = set(self.processed(stage, kind))
        if self.anew(stage) or not before <= set(parts):
            return parts, True
        return tuple(part for part in parts if part not in before), False

    def processed(self, stage: str, kind: type[TableFrame]) -> Parts:
        """The files of a table that a stage has worked on."""
        done = self.snapshot.stages.get(stage)
        return self.lake.parts(kind.NAME, done.inputs.get(kind.NAME)) if done else ()

    def anew(self, stage: str) -> bool:
        """Whether a stage has to start anew: it has no earlier results, or they are out of date."""
        done = self.snapshot.stages.get(stage)
        return done is None or done.engine != self._ids[stage]

    def stage(self, name: str, df: DataFrame) -> Parts:
        """Write a DataFrame as files that belong to no table yet."""
        return write_parts(df.coalesce(self.parallelism), self.lake.storage, self.lake.stage(name))

    def make(
        self, df: DataFrame, function: Callable[[Batches], Iterator[Output]], columns: Mapping[str, Columns]
    ) -> tuple[dict[str, Parts], list[Problem]]:
        """Have workers apply a function to rows and write what it yields: the files of each table, and the problems."""
        targets = {name: (self.lake.storage, self.lake.stage(name), kinds) for name, kinds in columns.items()}
        parts: dict[str, list[Part]] = {name: [] for name in columns}
        problems: list[Problem] = []
        for name, *part, subject, problem in df.mapInArrow(returning(targets, function), ddl(RETURNED)).collect():
            if name == PROBLEMS:
                problems.append((subject, problem))
            else:
                parts[name].append(Part(*part))
        return {name: tuple(sorted(files)) for name, files in parts.items()}, problems

    def ask(
        self, kind: type[TableFrame], given: DataFrame, question: Callable[[DuckDBPyConnection], pa.Table]
    ) -> DataFrame:
        """Run a query function in the tasks of `given`; returns its rows, with the columns of a table.

        In each task the function gets a connection of DuckDB. The connection has the tables of the lake as they stand,
        and the rows of the task as `given`.
        """
        storage, columns, tables = self.lake.storage, dict(given.dtypes), self._tables(TABLES)

        def answers(batches: Batches) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            rows = pa.Table.from_batches(batches, arrow_schema(columns))
            if rows.num_rows:
                beyond_memory = str(scratch() / f"duckdb-{os.getpid()}")
                with connected(storage, tables, temp_directory=beyond_memory, threads=1) as duck:
                    duck.register("given", rows)
                    yield from question(duck).cast(arrow_schema(kind.COLUMNS)).to_batches()

        return given.mapInArrow(leaving_nothing(answers), ddl(kind.COLUMNS))

    @property
    def is_local(self) -> bool:
        """Whether all work is done on this machine, which then sees what this process has unpacked."""
        return not self._is_remote and str(self.spark.sparkContext.master).startswith("local")

    @property
    def _is_remote(self) -> bool:
        return type(self.spark).__module__.startswith("pyspark.sql.connect")

    @cached_property
    def parallelism(self) -> int:
        """How many tasks can run at once, as far as can be known: a cluster's machines may have yet to come."""
        configured = int(self.spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or 0)
        if self._is_remote:
            return configured or A_CLUSTER
        return max(configured, 2 if self.is_local else A_CLUSTER, self.spark.sparkContext.defaultParallelism)

    def spread(self, df: DataFrame, items: int) -> DataFrame:
        """About so many rows over enough partitions for all cores: small tables are read as a single one."""
        return df.repartition(self.tasks(items))

    def tasks(self, items: int) -> int:
        """How many tasks share so many files, sets or pairs: none for a handful, and each of a bounded size."""
        return max(min(self.parallelism, -(-items // A_HANDFUL)), -(-items // A_TASK), 1)

    def shares(self, tasks: int) -> int:
        """How many tasks do the work of these when it comes in pieces of unequal size."""
        return max(tasks, min(tasks * EVENLY, self.parallelism * A_CORE)) if tasks > 1 else 1

    def put(
        self, kind: type[TableFrame], rows: DataFrame | pa.Table | Iterable[tuple[object, ...]], *, more: bool = False
    ) -> None:
        """Give a table rows of Spark's or of this process; `more` adds them to those it has."""
        if hasattr(rows, "sparkSession"):
            parts = self.stage(kind.NAME, kind(cast("DataFrame", rows)).df)
        else:
            parts = self._write(kind.COLUMNS, rows, kind.NAME)
        self.add(kind.NAME, parts, more=more)

    def add(self, name: str, parts: Parts, *, more: bool = True) -> None:
        """Give a table files, besides those that it has; all but these with `more` false."""
        self.written[name] = (*self.parts(TABLES[name]), *parts) if more else parts

    def _write(self, columns: Columns, rows: Any, name: str) -> Parts:
        made = rows if hasattr(rows, "num_rows") else table(columns, rows)
        return write_table(made, self.lake.storage, self.lake.stage(name)) if made.num_rows else ()

    def note(self, stage: str, problems: Iterable[tuple[str, str]], *, anew: bool) -> None:
        """Record problems of a stage, as subject and text; `anew` forgets those it had before."""
        before = self.query("SELECT * FROM problems").to_pylist()
        known = {tuple(row.values()) for row in before}
        kept = {row for row in known if not (anew and row[0] == stage)} | {(stage, *problem) for problem in problems}
        if kept != known or Problems.NAME not in self.snapshot.tables:
            self.put(Problems, sorted(kept))
