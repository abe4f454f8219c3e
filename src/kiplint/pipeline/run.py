"""A run: the stages in order. Each is published when it is done, and skipped if it has no new input."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.delta import rows_in
from kiplint.pipeline.lake.lake import Lake, Snapshot, StageState
from kiplint.pipeline.lake.upkeep import needs_upkeep, optimize, verify
from kiplint.pipeline.listing import Line, list_all, read_source
from kiplint.pipeline.stage import STAGES, Context, Engine, Problem, Stage, Work, undone
from kiplint.pipeline.tables import Files, Sets
from kiplint.text.words import did_you_mean, plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


MOST_REASONS = 20
"""How many sources an error names with the reason, when none can be read."""


class Request(msgspec.Struct, frozen=True):
    """The request of a run. The lake keeps it, so that `--resume` can continue with it."""

    sources: tuple[str, ...]
    paths: tuple[str, ...] = ()
    upstream: str = ""
    config: str = ""
    across: bool = False
    mail: bool = False


class Done(NamedTuple):
    """A stage that was done: the rows of the tables that it writes, and its time in seconds; None when skipped.

    `notes` are remarks for people.
    """

    stage: str
    rows: dict[str, int]
    seconds: float | None
    notes: tuple[str, ...] = ()


class Watcher(NamedTuple):
    """Callbacks of a run: `begun` with the name of a stage and Spark's session, `done` after each stage."""

    begun: Callable[[str, SparkSession], None]
    done: Callable[[Done], None]


NAMES = tuple(stage.name for stage in STAGES)


def check_stages(names: Iterable[str]) -> tuple[str, ...]:
    """The selected stages in their order, by default all. Raises UsageError for an unknown stage."""
    selected = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in selected:
        if name not in NAMES:
            raise UsageError(f"there is no stage {name}{did_you_mean(name, NAMES) or ': ' + ', '.join(NAMES)}")
    return tuple(name for name in NAMES if not selected or name in selected)


def run(
    lake: Lake,
    request: Request,
    engine: Engine,
    session: Callable[[], SparkSession],
    watcher: Watcher,
    stages: Sequence[str] = NAMES,
    *,
    repair: bool = False,
) -> Snapshot:
    """Bring a lake up to date; a session is created only if a stage has work to do. Raises UsageError.

    With `repair` every file of the lake is read, and the stages whose tables have damaged files run again.
    """
    sources = [read_source(text) for text in request.sources]
    names = [source.name for source in sources]
    upstream = request.upstream or names[0]
    if upstream not in names:
        raise UsageError(f"--upstream {upstream} is none of the sources{did_you_mean(upstream, names)}")
    with lake.writing():
        context = _context(engine, request, upstream, *list_all(sources, request.paths, mail=request.mail))
        snapshot = _remember(lake, request)
        if repair:
            snapshot = undone(snapshot, {damage.table for damage in verify(lake, snapshot)})
        for stage in STAGES:
            if stage.name in stages:
                snapshot = _attend(lake, snapshot, stage, context, session, watcher)
    if needs_upkeep(lake, snapshot):
        optimize(lake)
        snapshot = lake.snapshot()
    return snapshot


def _context(
    engine: Engine, request: Request, upstream: str, lines: list[Line], problems: list[Problem], lost: list[Problem]
) -> Context:
    if not lines:
        reasons = [f"{name}: {reason}" for name, reason in problems[:MOST_REASONS]]
        more = len(problems) - len(reasons)
        raise UsageError("no source can be read: " + "; ".join([*reasons, *([f"and {more:,} more"] if more else [])]))
    cut = tuple(sorted({line.source for line in lines if line.shallow}))
    return Context(engine, tuple(lines), tuple(problems), request.paths, upstream, tuple(lost), cut, request.across)


def requested(snapshot: Snapshot) -> Request | None:
    """The request of the last run of a lake, None for a new lake."""
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
    ids = stage.ids(context)
    done = {name: StageState(stage_id, inputs) for name, stage_id in ids.items()}
    if all(snapshot.stages.get(name) == state for name, state in done.items()):
        watcher.done(Done(stage.name, _rows(lake, snapshot, stage.writes), None))
        return snapshot
    for table in stage.reads:
        if table not in snapshot.tables:
            raise UsageError(f"stage {stage.name} needs the table {table}: run the stages before it first")
    from kiplint.pipeline.session import complaint, tuned

    spark = session()
    work = Work(spark, lake, snapshot, ids)
    watcher.begun(stage.name, spark)
    started = time.perf_counter()
    try:
        with tuned(spark, _size(lake, snapshot, context)):
            stage.run(work, context)
    except Exception as error:
        if reason := complaint(error):
            raise UsageError(f"stage {stage.name} fails: {reason}") from error
        raise
    snapshot = lake.publish(replace(snapshot, stages={**snapshot.stages, **done}), work.written, stage.name)
    seconds = time.perf_counter() - started
    watcher.done(Done(stage.name, _rows(lake, snapshot, stage.writes), seconds, _notes(stage, context)))
    return snapshot


def _notes(stage: Stage, context: Context) -> tuple[str, ...]:
    cut = {line.source: line.candidates for line in context.lines if line.candidates and stage.name == "ingest"}
    if not cut:
        return ()
    names = f"{next(iter(cut))} and {len(cut) - 1} more" if len(cut) > 1 else next(iter(cut))
    left = f"{plural(sum(cut.values()), 'tag')} of release candidates, alphas and betas"
    return (f"{names}: {left} left out; #tags=* takes all",)


def _size(lake: Lake, snapshot: Snapshot, context: Context) -> int:
    """About how many rows the largest joins of a run have: files of sets, revisions, pairs of releases."""
    known = rows_in(part for kind in (Files, Sets) for part in lake.parts(kind.NAME, snapshot.tables.get(kind.NAME)))
    revisions = sum(len(line.revisions) for line in context.lines)
    return max(known, revisions)


def _rows(lake: Lake, snapshot: Snapshot, tables: Iterable[str]) -> dict[str, int]:
    return {table: rows_in(lake.parts(table, snapshot.tables.get(table))) for table in tables}


def make_request(
    lake: Lake, request: Request, *, resume: bool = False, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Request:
    """The request of a run: new sources, or the sources of the previous run, with changes if any. Raises UsageError.

    `resume` keeps the sources and paths of the previous run; its upstream and configuration stay unless `request` names
    others.
    """
    before = requested(lake.snapshot()) if lake.exists else None
    config = os.path.abspath(request.config) if request.config else ""
    request = replace(request, sources=tuple(map(_absolute, request.sources)), config=config)
    if (add or remove) and request.sources:
        raise UsageError("--add and --remove change the sources of the previous run; leave --source out")
    if not (add or remove or resume or request.sources):
        raise UsageError("nothing to read: name a --source NAME=PATH, or --resume the run that wrote the lake")
    if before is None:
        if not request.sources:
            raise UsageError(f"there is no run to resume: {lake} is not a lake")
        return request
    if add or remove or resume:
        if (request.sources or request.paths) and (request.sources, request.paths) != (before.sources, before.paths):
            raise UsageError("--resume continues with the sources of the previous run; leave the others out")
        named = {name: value for name in ("upstream", "config", "across", "mail") if (value := getattr(request, name))}
        return _changed(replace(before, **named), tuple(map(_absolute, add)), remove)
    if set(request.sources) != set(before.sources):
        other = _difference(request.sources, before.sources)
        raise UsageError(f"{lake} was read from other sources ({other}); change them with --add and --remove")
    return request


def read_conf(pairs: Iterable[str]) -> dict[str, str]:
    """`K=V` settings as a mapping; raises UsageError for one without an equals sign."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--conf takes NAME=VALUE, such as spark.driver.memory=4g, not {pair}")
        settings[name] = value
    return settings


def _changed(before: Request, add: tuple[str, ...], remove: Sequence[str]) -> Request:
    kept = before.sources
    for name in remove:
        left = tuple(source for source in kept if source.partition("=")[0] != name and source != _absolute(name))
        if left == kept:
            raise UsageError(f"the lake has no source {name}: there are {', '.join(kept)}")
        kept = left
    sources = (*kept, *(source for source in add if source not in kept))
    if not sources:
        raise UsageError("no source would be left")
    names = {source.partition("=")[0] for source in sources}
    return replace(before, sources=sources, upstream=before.upstream if before.upstream in names else "")


def _difference(sources: tuple[str, ...], known: tuple[str, ...]) -> str:
    new = [f"{source} is new" for source in sources if source not in known]
    gone = [f"{source} is missing" for source in known if source not in sources]
    return ", ".join((*new, *gone))


def _absolute(source: str) -> str:
    """The source with an absolute path, so that it can be resumed from any directory."""
    name, equals, path = source.partition("=")
    return f"{name}={os.path.abspath(path)}" if equals and path and "://" not in path else source
