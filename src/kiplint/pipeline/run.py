"""A run: the lines of history that have something new, and the stages for them.

The rows of `sources` are the last commit of a run. One that was killed has everything to do that is not there: running
again continues it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line, read_source, with_state
from kiplint.pipeline.lake import Lake, writing
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.sources import Sources, begin_again_without, drop_sources, read_sources, write_sources
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.stages import Done, Problems

THREADS: Final = 8
"""How many lines are looked at at once; most of the time git is waited for."""


class Request(NamedTuple):
    """What a run is asked for: sources to add, or with none those of the lake; names to drop; the rules."""

    sources: Sequence[str] = ()
    drop: Sequence[str] = ()
    upstream: str = ""
    config: str = ""


class Watcher(NamedTuple):
    """Called with the lines that a run will read, before it reads them, and after each stage."""

    on_start: Callable[[Sequence[Line]], None]
    on_stage: Callable[[Done], None]


def run(
    path: Path, request: Request, session: Callable[[], AbstractContextManager[SparkSession]], watcher: Watcher
) -> Problems:
    """Bring a lake up to date, and return why lines could not be read, which stay as they were.

    A session is opened only where there is something new. Raises UsageError and OSError.
    """
    rules = Rules.of(request.config)
    given = [read_source(argument) for argument in request.sources]
    with writing(path):
        if request.drop:
            drop_sources(path, request.drop)
        before = begin_again_without(path, read_sources(path))
        lines = _merge(before, given)
        upstream = _upstream(before, lines, request.upstream)
        watcher.on_start(lines)
        found, problems = _look(lines)
        changed = [line for line in found if not _is_finished(line, before.get(line.key), rules, upstream)]
        if changed:
            problems |= _bring_up_to_date(path, changed, found, before, rules, upstream, session, watcher)
        finished = [line for line in changed if line.key not in problems]
        after = _rows(before, lines, finished, problems, rules, upstream)
        if after != before:
            write_sources(path, after.values())
    return problems


def _merge(before: Sources, given: Iterable[Line]) -> list[Line]:
    """The lines of the lake and the given ones. Raises UsageError where there is none, and for two equal ones."""
    lines = {key: Line(*key, row["kind"], row["location"]) for key, row in before.items()}
    keys = set[tuple[str, str]]()
    for line in given:
        if line.key in keys:
            raise UsageError(f"two sources are called {line.source} and have {line.lineage or 'no history'}")
        keys.add(line.key)
        lines[line.key] = line
    if not lines:
        raise UsageError("nothing to read: name a source, as in kafka=../kafka#trunk")
    return list(lines.values())


def _upstream(before: Sources, lines: Sequence[Line], wanted: str) -> str:
    names = [line.source for line in lines]
    if wanted and wanted not in names:
        raise UsageError(f"--upstream {wanted} is none of the sources{did_you_mean(wanted, names)}")
    return wanted or next((row["source"] for row in before.values() if row["upstream"]), names[0])


def _look(lines: Sequence[Line]) -> tuple[list[Line], Problems]:
    """The lines with their states, and why the others cannot be read. Raises UsageError where none can."""

    def look(line: Line) -> Line | str:
        try:
            return with_state(line)
        except (SourceError, OSError) as error:
            return str(error)

    with ThreadPoolExecutor(THREADS) as pool:
        results = dict(zip(lines, pool.map(look, lines), strict=True))
    problems = {line.key: result for line, result in results.items() if isinstance(result, str)}
    if len(problems) == len(lines):
        raise UsageError(next(iter(problems.values())))
    return [result for result in results.values() if isinstance(result, Line)], problems


def _is_finished(line: Line, row: dict[str, Any] | None, rules: Rules, upstream: str) -> bool:
    wanted = (line.state, line.location, rules.id, line.source == upstream)
    return bool(row) and (row["state"], row["location"], row["rules_id"], row["upstream"]) == wanted  # type: ignore[index]


def _bring_up_to_date(
    path: Path,
    changed: Sequence[Line],
    found: Sequence[Line],
    before: Sources,
    rules: Rules,
    upstream: str,
    session: Callable[[], AbstractContextManager[SparkSession]],
    watcher: Watcher,
) -> Problems:
    from kiplint.pipeline.stages import Task, run_stages

    unread = [line for line in changed if before.get(line.key, {}).get("state") != line.state]
    with session() as spark:
        lake = Lake(path, spark)
        problems = run_stages(lake, Task(changed, unread, found, upstream), rules, watcher.on_stage)
        lake.compact()
    return problems


def _rows(
    before: Sources, lines: Sequence[Line], finished: Sequence[Line], problems: Problems, rules: Rules, upstream: str
) -> Sources:
    """The rows after a run: a line that cannot be read has the row that it had, and why."""
    never = {"state": "", "rules_id": "", "is_shallow": False, "as_of": None}
    now = {"rules_id": rules.id, "as_of": datetime.now(UTC)}
    rows = {line.key: {**never, **before.get(line.key, {}), **_place(line)} for line in lines}
    rows |= {line.key: {**_place(line), "state": line.state, "is_shallow": line.is_shallow, **now} for line in finished}
    return {key: {**row, "upstream": key[0] == upstream, "problem": problems.get(key)} for key, row in rows.items()}


def _place(line: Line) -> dict[str, Any]:
    return {"source": line.source, "lineage": line.lineage, "kind": line.kind, "location": line.location}
