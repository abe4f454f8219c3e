"""A run: the lines of history that have something new, and the stages for them.

The rows of `sources` are the last commit of a run. One that was killed has everything to do that is not there: running
again continues it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line, read_source, with_state
from kiplint.pipeline.lake import ONCE, Lake, has_table, writing
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.tables import TABLES
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.stages import Problems, Tell

THREADS: Final = 8
"""How many lines are looked at at once; most of the time git is waited for."""
Lines = dict[tuple[str, str], Line]
"""Lines of history by source and lineage."""


def run(
    path: Path,
    session: Callable[[], AbstractContextManager[SparkSession]],
    on_start: Callable[[Sequence[Line]], None],
    on_stage: Tell,
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
    new_lines = [read_source(argument) for argument in sources]
    with writing(path):
        drop_sources(path, drop)
        before = read_sources(path)
        if not all(has_table(path, name) for name in TABLES):  # a new lake, or somebody has deleted a table
            before = {key: line._replace(state="", rules_id="") for key, line in before.items()}
        lines = _merge(before, new_lines)
        upstream = _upstream([*lines.values()], upstream)
        lines = {key: line._replace(upstream=line.source == upstream, problem=None) for key, line in lines.items()}
        on_start([*lines.values()])
        readable, problems = _look([*lines.values()])
        readable = [line._replace(rules_id=rules.id) for line in readable]
        finished_lines = {key: line._replace(problem=None) for key, line in before.items()}
        changed_lines = [line for line in readable if line != finished_lines.get(line.key)]
        if changed_lines:
            from kiplint.pipeline.stages import run_stages

            unread_lines = [
                line for line in changed_lines if line.key not in before or before[line.key].state != line.state
            ]
            with session() as spark:
                lake = Lake(path, spark, [*lines.values()], upstream)
                problems |= run_stages(lake, changed_lines, unread_lines, rules, on_stage)
                lake.compact()
        lines |= {line.key: line for line in changed_lines if line.key not in problems}
        after = {key: line._replace(problem=problems.get(key)) for key, line in lines.items()}
        if after != before:
            write_sources(path, after.values())
    return problems


def read_sources(path: Path) -> Lines:
    """The lines of a lake, none where there is no lake."""
    rows = DeltaTable(path / "sources").to_pyarrow_table().to_pylist() if has_table(path, "sources") else ()
    return {line.key: line for line in (Line(**row) for row in rows)}


def write_sources(path: Path, lines: Iterable[Line]) -> None:
    """Replace all lines of a lake, which has the table."""
    table = DeltaTable(path / "sources")
    data = pa.Table.from_pylist([line._asdict() for line in lines], pa.schema(table.schema().to_arrow()))
    write_deltalake(table, data, mode="overwrite", commit_properties=ONCE)


def drop_sources(path: Path, names: Sequence[str]) -> None:
    """Remove the revisions, spans and drift of sources; contents stay. Raises UsageError for one that cannot go."""
    for name in names:
        lines = read_sources(path).values()
        sources = {line.source for line in lines}
        if name not in sources:
            raise UsageError(f"the lake has no source {name}{did_you_mean(name, sources)}")
        if any(line.source == name and line.upstream for line in lines):
            raise UsageError(f"the forks are compared with {name}: run with --upstream NAME first, or delete {path}")
        for table in ("revisions", "spans", "drift"):
            if has_table(path, table):
                DeltaTable(path / table).delete(f"source = '{name}'")
        write_sources(path, [line for line in lines if line.source != name])


def _merge(before: Mapping[tuple[str, str], Line], new_lines: Iterable[Line]) -> Lines:
    """The lines of the lake and the new ones. Raises UsageError where there is none, and for two equal ones."""
    lines = {**before}
    keys = set[tuple[str, str]]()
    for line in new_lines:
        if line.key in keys:
            raise UsageError(f"two sources are called {line.source} and have {line.lineage}")
        keys.add(line.key)
        lines[line.key] = lines.get(line.key, line)._replace(location=line.location)
    if not lines:
        raise UsageError("nothing to read: name a source, as in kafka=../kafka#trunk")
    return lines


def _upstream(lines: Sequence[Line], name: str) -> str:
    names = [line.source for line in lines]
    if name and name not in names:
        raise UsageError(f"--upstream {name} is none of the sources{did_you_mean(name, names)}")
    return name or next((line.source for line in lines if line.upstream), names[0])


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
