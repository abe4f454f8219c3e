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
from kiplint.pipeline.lake.upkeep import log_of, needs_upkeep, optimize, verify
from kiplint.pipeline.listing import all_lines, read_source
from kiplint.pipeline.stage import STAGES, Context, Engine, Stage, no_source, undone
from kiplint.pipeline.work import Work
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    """Callbacks of a run: `on_start` before its sources are looked at, `on_begin` with the name of a stage and Spark's
    session, `on_end` after each stage.
    """

    on_start: Callable[[], None]
    on_begin: Callable[[str, SparkSession], None]
    on_end: Callable[[Done], None]


NAMES = tuple(stage.name for stage in STAGES)


def check_stages(names: Iterable[str]) -> tuple[str, ...]:
    """The selected stages in their order, by default all. Raises UsageError for an unknown stage."""
    stages = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in stages:
        if name not in NAMES:
            raise UsageError(f"there is no stage {name}{did_you_mean(name, NAMES) or ': ' + ', '.join(NAMES)}")
    return tuple(name for name in NAMES if not stages or name in stages)


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
        watcher.on_start()
        lines, problems, lost_lines = all_lines(sources, request.paths, mail=request.mail)
        if not lines:
            raise UsageError(no_source(problems))
        context = Context(
            engine,
            tuple(lines),
            tuple(problems),
            request.paths,
            upstream,
            tuple(lost_lines),
            across=request.across,
            mail=request.mail,
        )
        snapshot = lake.snapshot()
        if requested(snapshot) != request:
            snapshot = lake.publish(replace(snapshot, request=msgspec.to_builtins(request)), {}, "request")
        snapshot = _usable(lake, snapshot, repair=repair)
        for stage in STAGES:
            if stage.name in stages:
                snapshot = _attend(lake, snapshot, stage, context, session, watcher)
    if needs_upkeep(lake, snapshot):
        optimize(lake)
        snapshot = lake.snapshot()
    return snapshot


def _usable(lake: Lake, snapshot: Snapshot, *, repair: bool) -> Snapshot:
    """A state without tables of an earlier kiplint's, and with `repair` without damaged ones."""
    damages = list(verify(lake, snapshot)) if repair else []
    without_log = {damage.table for damage in damages if damage.part == log_of(damage.table)}
    if unusable := without_log | lake.outdated(snapshot, without_log):
        snapshot = lake.publish(undone(lake.without(snapshot, unusable), unusable), {}, "request")
    return undone(snapshot, {damage.table for damage in damages})


def requested(snapshot: Snapshot) -> Request | None:
    """The request of the last run of a lake, None for a new lake."""
    return msgspec.convert(snapshot.request, Request) if snapshot.request else None


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
    states = {name: StageState(stage_id, inputs) for name, stage_id in ids.items()}
    if all(snapshot.stages.get(name) == state for name, state in states.items()):
        watcher.on_end(Done(stage.name, _rows(lake, snapshot, stage.writes), None))
        return snapshot
    for table in stage.reads:
        if table not in snapshot.tables:
            raise UsageError(f"stage {stage.name} needs the table {table}: run the stages before it first")
    from kiplint.pipeline.session import complaint

    spark = session()
    work = Work(spark, lake, snapshot, ids)
    watcher.on_begin(stage.name, spark)
    start = time.perf_counter()
    try:
        stage.run(work, context)
    except Exception as error:
        if reason := complaint(error):
            raise UsageError(f"stage {stage.name} fails: {reason}") from error
        raise
    snapshot = lake.publish(replace(snapshot, stages={**snapshot.stages, **states}), work.new_parts, stage.name)
    seconds = time.perf_counter() - start
    watcher.on_end(Done(stage.name, _rows(lake, snapshot, stage.writes), seconds, tuple(work.remarks)))
    return snapshot


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
        changes = {
            name: value for name in ("upstream", "config", "across", "mail") if (value := getattr(request, name))
        }
        return _with_changes(replace(before, **changes), tuple(map(_absolute, add)), remove)
    if set(request.sources) != set(before.sources):
        new = [f"{source} is new" for source in request.sources if source not in before.sources]
        missing = [f"{source} is missing" for source in before.sources if source not in request.sources]
        other = ", ".join((*new, *missing))
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


def _with_changes(before: Request, add: tuple[str, ...], remove: Sequence[str]) -> Request:
    sources = before.sources
    for name in remove:
        others = tuple(source for source in sources if source.partition("=")[0] != name and source != _absolute(name))
        if others == sources:
            raise UsageError(f"the lake has no source {name}: there are {', '.join(sources)}")
        sources = others
    sources = (*sources, *(source for source in add if source not in sources))
    if not sources:
        raise UsageError("no source would be left")
    names = {source.partition("=")[0] for source in sources}
    return replace(before, sources=sources, upstream=before.upstream if before.upstream in names else "")


def _absolute(source: str) -> str:
    """The source with an absolute path, so that it can be resumed from any directory."""
    name, equals, path = source.partition("=")
    return f"{name}={os.path.abspath(path)}" if equals and path and "://" not in path else source
