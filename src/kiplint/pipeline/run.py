"""A run: the lines of history that have something new, and the stages for them.

The rows of `sources` are the last commit of a run. One that was killed has everything to do that is not there: running
again continues it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line, read_source, with_state
from kiplint.pipeline.lake import Lake, has_table, writing
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.sources import drop_sources, read_sources, write_sources
from kiplint.pipeline.tables import TABLES
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.stages import Problems, Tell

THREADS: Final = 8
"""How many lines are looked at at once; most of the time git is waited for."""


def run(
    path: Path,
    session: Callable[[], AbstractContextManager[SparkSession]],
    on_start: Callable[[Sequence[Line]], None],
    on_stage: Tell,
    *,
    sources: Sequence[str] = (),
    drop: Sequence[str] = (),
    upstream: str = "",
    config: str = "",
) -> Problems:
    """Bring a lake up to date, and return why lines could not be read, which stay as they were.

    The sources join those of the lake, and those to `drop` leave it. `on_start` is called with the lines that the run
    will read. A session is opened only where there is something new. Raises UsageError and OSError.
    """
    rules = Rules.of(config)
    given = [read_source(argument) for argument in sources]
    with writing(path):
        if drop:
            drop_sources(path, drop)
        before = read_sources(path)
        if not all(has_table(path, name) for name in TABLES):  # a new lake, or somebody has deleted a table
            before = {key: line._replace(state="", rules_id="") for key, line in before.items()}
        lines = _merge(before, given)
        upstream = _upstream(lines.values(), upstream)
        on_start([*lines.values()])
        found, problems = _look([*lines.values()])
        found = [line._replace(rules_id=rules.id, upstream=line.source == upstream) for line in found]
        changed = [line for line in found if not _is_finished(line, before.get(line.key))]
        if changed:
            from kiplint.pipeline.stages import run_stages

            unread = [line for line in changed if line.key not in before or before[line.key].state != line.state]
            with session() as spark:
                lake = Lake(path, spark, found, upstream)
                problems |= run_stages(lake, changed, unread, rules, on_stage)
                lake.compact()
        now = datetime.now(UTC)
        lines |= {line.key: line._replace(as_of=now) for line in changed if line.key not in problems}
        after = {
            key: line._replace(upstream=line.source == upstream, problem=problems.get(key))
            for key, line in lines.items()
        }
        if after != before:
            write_sources(path, after.values())
    return problems


def _is_finished(line: Line, before: Line | None) -> bool:
    return before is not None and line._replace(as_of=None, problem=None) == before._replace(as_of=None, problem=None)


def _merge(before: Mapping[tuple[str, str], Line], given: Iterable[Line]) -> dict[tuple[str, str], Line]:
    """The lines of the lake and the given ones. Raises UsageError where there is none, and for two equal ones."""
    lines = {**before}
    keys = set[tuple[str, str]]()
    for line in given:
        if line.key in keys:
            raise UsageError(f"two sources are called {line.source} and have {line.lineage or 'no history'}")
        keys.add(line.key)
        lines[line.key] = lines.get(line.key, line)._replace(kind=line.kind, location=line.location)
    if not lines:
        raise UsageError("nothing to read: name a source, as in kafka=../kafka#trunk")
    return lines


def _upstream(lines: Collection[Line], wanted: str) -> str:
    names = [line.source for line in lines]
    if wanted and wanted not in names:
        raise UsageError(f"--upstream {wanted} is none of the sources{did_you_mean(wanted, names)}")
    return wanted or next((line.source for line in lines if line.upstream), names[0])


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
