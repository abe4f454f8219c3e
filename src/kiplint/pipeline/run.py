"""A run: the stages in order, each published when it is done, none done that has nothing new to see."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline import late
from kiplint.pipeline.delta import rows_in
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake, Seen, Snapshot
from kiplint.pipeline.listing import Line, read_source
from kiplint.pipeline.little import is_little, own_session
from kiplint.pipeline.many import MANY, Problem, list_all
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.stages import compare, describe, drift, ingest, lint, matrix, spans
from kiplint.pipeline.upkeep import needs_upkeep, optimize
from kiplint.pipeline.work import Work
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


MOST_TOLD = 20
"""The sources of which is said why they cannot be read, when none can."""


class Request(msgspec.Struct, frozen=True):
    """What a run is asked for; kept in the lake, so that `--resume` can go on with it."""

    sources: tuple[str, ...]
    paths: tuple[str, ...] = ()
    upstream: str = ""
    config: str = ""
    across: bool = False


class Done(NamedTuple):
    """A stage that was done: the rows of the tables that it writes, and its time in seconds; None when skipped."""

    stage: str
    rows: dict[str, int]
    seconds: float | None


class Watcher(NamedTuple):
    """Who is told of a run: `begun` with the name of a stage, and Spark's session if it is done by it; `done` after."""

    begun: Callable[[str, SparkSession | None], None]
    done: Callable[[Done], None]


STAGES = (ingest.STAGE, lint.STAGE, describe.STAGE, compare.STAGE, spans.STAGE, matrix.STAGE, drift.STAGE)
NAMES = tuple(stage.name for stage in STAGES)


def check_stages(names: Iterable[str]) -> tuple[str, ...]:
    """The stages that are asked for, in their order; all when none is. Raises UsageError for another word."""
    asked = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in asked:
        if name not in NAMES:
            raise UsageError(f"there is no stage {name}{did_you_mean(name, NAMES) or ': ' + ', '.join(NAMES)}")
    return tuple(name for name in NAMES if not asked or name in asked)


def run(
    lake: Lake,
    request: Request,
    engine: Engine,
    session: Callable[[], SparkSession],
    watcher: Watcher,
    stages: Sequence[str] = NAMES,
    *,
    here: bool = False,
    far: bool = False,
) -> Snapshot:
    """Bring a lake up to date; the session is only made when a stage has something to do. Raises UsageError.

    With `here` it is none of Spark's where there is little to do: this process does that sooner than a JVM starts.
    With `far` it may be a cluster's, whose executors list the sources where there are many.
    """
    sources = [read_source(text) for text in request.sources]
    names = [one.name for one in sources]
    upstream = request.upstream or names[0]
    if upstream not in names:
        raise UsageError(f"--upstream {upstream} is none of the sources{did_you_mean(upstream, names)}")
    with lake.writing():
        cluster = _cluster(lake, session) if far and len(sources) >= MANY else None
        with _told_plainly("listing", here=False) if cluster else nullcontext():
            listed = list_all(sources, request.paths, cluster)
        context = _context(engine, request, upstream, *listed)
        snapshot = _remember(lake, request)
        asked = [stage for stage in STAGES if stage.name in stages]
        begun = snapshot

        @cache
        def chosen() -> SparkSession:
            return own_session() if here and is_little(lake, begun, context, asked) else session()

        for stage in asked:
            snapshot = _attend(lake, snapshot, stage, context, chosen, watcher)
    if needs_upkeep(lake, snapshot):
        optimize(lake)
        snapshot = lake.snapshot()
    return snapshot


def _cluster(lake: Lake, session: Callable[[], SparkSession]) -> Work | None:
    """The executors of other machines, None where Spark works on this one after all."""
    work = Work(session(), lake, lake.snapshot())
    return None if work.is_local else work


def _context(
    engine: Engine, request: Request, upstream: str, lines: list[Line], problems: list[Problem], lost: list[Problem]
) -> Context:
    if not lines:
        told = [f"{name}: {said}" for name, said in problems[:MOST_TOLD]]
        more = len(problems) - len(told)
        raise UsageError("no source can be read: " + "; ".join([*told, *([f"and {more:,} more"] if more else [])]))
    cut = tuple(sorted({line.source for line in lines if line.shallow}))
    return Context(engine, tuple(lines), tuple(problems), request.paths, upstream, tuple(lost), cut, request.across)


def requested(snapshot: Snapshot) -> Request | None:
    """What the last run of a lake was asked for, None for a new lake."""
    return msgspec.convert(snapshot.request, Request) if snapshot.request else None


def _remember(lake: Lake, request: Request) -> Snapshot:
    snapshot = lake.snapshot()
    if requested(snapshot) == request:
        return snapshot
    return lake.publish(replace(snapshot, request=msgspec.to_builtins(request)), {}, "request")


def _attend(
    lake: Lake,
    snapshot: Snapshot,
    stage: Stage,
    context: Context,
    session: Callable[[], SparkSession],
    watcher: Watcher,
) -> Snapshot:
    inputs = {table: snapshot.tables[table] for table in stage.reads if table in snapshot.tables}
    seen = {name: Seen(found, inputs) for name, found in stage.ids(context).items()}
    if all(snapshot.stages.get(name) == one for name, one in seen.items()):
        watcher.done(Done(stage.name, _rows(lake, snapshot, stage.writes), None))
        return snapshot
    for table in stage.reads:
        if table not in snapshot.tables:
            raise UsageError(f"stage {stage.name} needs the table {table}: run the stages before it first")
    spark = session()
    work = Work(spark, lake, snapshot)
    watcher.begun(stage.name, None if work.here else spark)
    started = time.perf_counter()
    with _told_plainly(f"stage {stage.name}", here=work.here), late.engine(here=work.here):
        stage.run(work, context)
    snapshot = lake.publish(replace(snapshot, stages={**snapshot.stages, **seen}), work.given, stage.name)
    watcher.done(Done(stage.name, _rows(lake, snapshot, stage.writes), time.perf_counter() - started))
    return snapshot


@contextmanager
def _told_plainly(what: str, *, here: bool) -> Iterator[None]:
    """What engines complain of, in one line."""
    try:
        yield
    except Exception as error:
        if said := _complaint(error, here=here):
            raise UsageError(f"{what} fails: {said}") from error
        raise


def _complaint(error: Exception, *, here: bool) -> str:
    if here:
        from kiplint.pipeline.local.session import Session

        return Session.complaint(error)
    from kiplint.pipeline.session import complaint

    return complaint(error)


def _rows(lake: Lake, snapshot: Snapshot, tables: Iterable[str]) -> dict[str, int]:
    return {table: rows_in(lake.parts(table, snapshot.tables.get(table))) for table in tables}
