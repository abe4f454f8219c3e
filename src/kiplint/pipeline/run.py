"""A run of the pipeline: finds the lines of history with something new, and runs the stages for them.

The table `sources` and the states in the settings are the last that a run writes. After a run that was killed, the
lines that it worked on have no state, so that the next run does the rest.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import write_deltalake

from kiplint.engine.errors import UsageError
from kiplint.pipeline.directory import FORMAT, Settings, locked, read_settings, write_settings
from kiplint.pipeline.history import Line, Lines, read_source, with_states
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.tables import NO_RETRY, TABLES, has_table, open_table
from kiplint.text.words import did_you_mean, first_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.stages import OnStage, Problems


def run(
    path: Path,
    session: Callable[[], AbstractContextManager[SparkSession]],
    on_stage: OnStage,
    sources: Sequence[str] = (),
    drop: Sequence[str] = (),
    upstream: str = "",
    config: str = "",
    note: Callable[[str], None] = lambda text: None,
) -> Problems:
    """Update a lake. Returns why lines of history could not be read; these do not change in the lake.

    `sources` are arguments such as `kafka=../kafka#trunk`, which join those of the lake; the names in `drop` leave it.
    `config` is the path of a configuration, `none` for the default rules, or empty for the configuration of the lake.
    The session is opened only where there is something new; `note` is called before, with what a user would not expect.
    Raises UsageError and OSError.
    """
    new_lines = [read_source(argument) for argument in sources]
    with locked(path):
        drop_sources(path, drop)
        settings = _configure(path, config)
        rules = Rules.of(settings.config)
        old_lines = _read_lines(path, settings, rules, note)
        all_lines = _join(old_lines, new_lines, upstream)

        readable_lines, problems = _read_states(all_lines.values(), rules.id, old_lines)
        changed_lines = [line for line in readable_lines if line != old_lines.get(line.key)]
        if changed_lines:
            from kiplint.pipeline.lake import Lake  # imports Spark
            from kiplint.pipeline.stages import run_stages

            # The lake will have rows of these lines that are not of their old state. Were this run killed, and the
            # branch or the rules as before, the next run would otherwise find nothing new.
            unfinished_lines = {line.key: line._replace(state="", rules_id="") for line in changed_lines}
            settings = settings._replace(lines=_rows((all_lines | old_lines | unfinished_lines).values()))
            write_settings(path, settings)
            with session() as spark:
                lake = Lake(path, spark, list(all_lines.values()))
                if settings.format != FORMAT:
                    lake.empty()
                problems |= run_stages(lake, changed_lines, old_lines, rules, on_stage)
                lake.compact()
            settings = settings._replace(format=FORMAT)

        # The other lines keep the old state, so that the next run reads what this one could not.
        all_lines |= {line.key: line for line in changed_lines if line.key not in problems}
        final_lines = {key: line._replace(problem=problems.get(key)) for key, line in all_lines.items()}
        if changed_lines or final_lines != old_lines:
            write_sources(path, final_lines.values(), settings)
    return problems


def _configure(path: Path, config: str) -> Settings:
    """The settings of a lake, with the configuration of the option `config` if it has a value."""
    settings = read_settings(path)
    if config:
        settings = settings._replace(config="" if config == "none" else os.path.abspath(config))
        Rules.of(settings.config)  # which raises UsageError for a mistake
        write_settings(path, settings)
    return settings


def _read_lines(path: Path, settings: Settings, rules: Rules, note: Callable[[str], None]) -> Lines:
    """The lines as they are in the tables of a lake: without a state where all has to be read again.

    Raises UsageError for a damaged table, even if nothing would be read from it.
    """
    tables = [open_table(path, name) for name in TABLES if has_table(path, name)]
    lines = read_sources(path)
    if settings.format != FORMAT:
        note(f"the lake was written by an older kiplint (format {settings.format}, not {FORMAT}); all is read again")
    elif any(line.rules_id not in ("", rules.id) for line in lines.values()):
        note(f"kiplint or the rules have changed; all is checked again with {settings.config or 'the default rules'}")
    if settings.format == FORMAT and len(tables) == len(TABLES):
        return lines
    return {key: line._replace(state="", rules_id="") for key, line in lines.items()}  # also where a table was deleted


def read_sources(path: Path) -> Lines:
    """The lines of a lake, none where there is no lake."""
    rows = read_settings(path).lines
    if not rows and has_table(path, "sources"):  # the settings are gone, or the lake is of format 1, without them
        rows = open_table(path, "sources").to_pyarrow_table().to_pylist()
    lines = [Line(**{name: row[name] for name in Line._fields if name in row}) for row in rows]
    return {line.key: line for line in lines}


def write_sources(path: Path, lines: Iterable[Line], settings: Settings | None = None) -> None:
    """Replace all rows of the table `sources`, which exists, and the lines in the settings of the lake."""
    rows = _rows(lines)
    table = open_table(path, "sources")
    batch = pa.Table.from_pylist(rows, pa.schema(table.schema().to_arrow()))
    write_deltalake(table, batch, mode="overwrite", commit_properties=NO_RETRY)
    write_settings(path, (settings or read_settings(path))._replace(lines=rows))


def _rows(lines: Iterable[Line]) -> list[dict[str, Any]]:
    return [line._asdict() for line in lines]


def drop_sources(path: Path, names: Sequence[str]) -> None:
    """Remove the lines, revisions, spans and drift of sources, but not the contents, which sources share.

    Raises UsageError for a name that no source has, and for upstream.
    """
    for name in names:
        lines = read_sources(path).values()
        sources = {line.source for line in lines}
        if name not in sources:
            raise UsageError(f"the lake has no source {name}{did_you_mean(name, sources)}")
        if any(line.source == name and line.upstream for line in lines):
            raise UsageError(f"the forks are compared with {name}: run with --upstream NAME first, or delete {path}")
        # Were this killed, the next run would read the source again.
        write_sources(path, [line._replace(state="") if line.source == name else line for line in lines])
        for table in ("revisions", "spans", "drift"):
            if has_table(path, table):
                open_table(path, table).delete(f"source = '{name}'")
        write_sources(path, [line for line in lines if line.source != name])


def _join(old_lines: Lines, new_lines: Iterable[Line], upstream: str) -> Lines:
    """The lines of the lake and the new ones. A line that the lake has already gets the location of the new one.

    Raises UsageError where there is no line, and for two new ones with the same source and lineage.
    """
    lines = {**old_lines}
    new_keys = set[tuple[str, str]]()
    for line in new_lines:
        if line.key in new_keys:
            raise UsageError(f"two sources are named {line.source} with the line {line.lineage}")
        new_keys.add(line.key)
        lines[line.key] = lines.get(line.key, line)._replace(location=line.location)
    if not lines:
        raise UsageError("nothing to read: name a source, as in kafka=../kafka#trunk")
    upstream = _find_upstream(lines, upstream)
    return {key: line._replace(upstream=line.source == upstream, problem=None) for key, line in lines.items()}


def _find_upstream(lines: Lines, name: str) -> str:
    """The source to compare the others with: the one named `name`, that of the last run, or the first."""
    sources = [line.source for line in lines.values()]
    if name and name not in sources:
        raise UsageError(f"--upstream {name} is not one of the sources{did_you_mean(name, sources)}")
    old_upstreams = [line.source for line in lines.values() if line.upstream]  # as the last run set it
    return name or next(iter(old_upstreams or sources))


def _read_states(lines: Iterable[Line], rules_id: str, old_lines: Lines) -> tuple[list[Line], Problems]:
    """The readable lines with their present state and the id of the rules, and why the others cannot be read.

    Raises UsageError where a line cannot be read that the lake does not have yet, and where no line can be read.
    """
    lines_by_location: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        lines_by_location[line.location].append(line)
    with ThreadPoolExecutor() as pool:
        new_lines = list(chain.from_iterable(pool.map(with_states, lines_by_location.values())))
    problems = {line.key: line.problem for line in new_lines if line.problem}
    readable_lines = [line._replace(rules_id=rules_id) for line in new_lines if not line.problem]
    mistakes = [problem for key, problem in problems.items() if key not in old_lines or not readable_lines]
    if mistakes:
        raise UsageError(first_of(mistakes, 3))
    return readable_lines, problems
