"""A run of the pipeline: finds the lines of history that have something new, and runs the stages for them.

The table `sources` is the last commit of a run. After a run that was killed it has the old states, so that the next run
does the rest.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from kiplint.engine.errors import UsageError
from kiplint.pipeline.history import Line, read_source, with_state
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.tables import NO_RETRY, RUN_PREFIX, TABLES, has_table
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.stages import OnStage, Problems

MARK: Final = "KIPLINT-LAKE"
"""The file that makes a directory a lake, and that a run locks. Nothing is written or removed in other directories."""
Lines = dict[tuple[str, str], Line]
"""Lines of history by source and lineage."""


def run(
    path: Path,
    session: Callable[[], AbstractContextManager[SparkSession]],
    on_stage: OnStage,
    sources: Sequence[str] = (),
    drop: Sequence[str] = (),
    upstream: str = "",
    config: str = "",
) -> Problems:
    """Bring a lake up to date. Returns why lines of history could not be read; the lake keeps these as they were.

    `sources` are arguments such as `kafka=../kafka#trunk`, which join those of the lake; the names in `drop` leave it.
    The session is opened only where there is something new. Raises UsageError and OSError.
    """
    rules = Rules.of(config)
    new_lines = [read_source(argument) for argument in sources]
    with locked(path):
        drop_sources(path, drop)
        old_lines = read_sources(path)
        if not all(has_table(path, name) for name in TABLES):  # a new lake, or somebody has deleted a table
            old_lines = {key: line._replace(state="", rules_id="") for key, line in old_lines.items()}
        all_lines = _join(old_lines, new_lines)
        upstream = _find_upstream(all_lines, upstream)
        lines = {key: line._replace(upstream=line.source == upstream, problem=None) for key, line in all_lines.items()}

        readable_lines, problems = _read_states(lines.values(), rules.id)
        changed_lines = [line for line in readable_lines if line != old_lines.get(line.key)]
        if changed_lines:
            from kiplint.pipeline.lake import Lake  # imports Spark
            from kiplint.pipeline.stages import run_stages

            old_states = {key: line.state for key, line in old_lines.items()}
            unread_lines = [line for line in changed_lines if line.state != old_states.get(line.key)]
            with session() as spark:
                lake = Lake(path, spark, list(lines.values()), upstream)
                problems |= run_stages(lake, changed_lines, unread_lines, rules, on_stage)
                lake.compact()

        # The other lines keep the old state, so that the next run reads what this one could not.
        lines |= {line.key: line for line in changed_lines if line.key not in problems}
        final_lines = {key: line._replace(problem=problems.get(key)) for key, line in lines.items()}
        if final_lines != old_lines:
            write_sources(path, final_lines.values())
    return problems


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a lake, or a new or empty directory for one, so that no other run writes to it.

    Raises UsageError while another run has the lock, and for a directory with other files; OSError where it cannot be
    written.
    """
    path.mkdir(parents=True, exist_ok=True)
    if not (path / MARK).exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not a lake and has other files; name a new or an empty directory")
    with open(path / MARK, "a", encoding="utf-8") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the file is closed, or the process ends
        except BlockingIOError:
            raise UsageError(f"another run is writing to {path}: wait until it ends") from None
        _remove_uncommitted_folders(path)
        yield


def _remove_uncommitted_folders(path: Path) -> None:
    """Remove the folders of commits (`run-...`) without a file of their table: of killed runs and of replaced rows."""
    for name in TABLES:
        files = DeltaTable(path / name).file_uris() if has_table(path, name) else []
        for folder in (path / name).glob(f"{RUN_PREFIX}*"):
            if not any(folder.name in file for file in files):
                shutil.rmtree(folder)


def read_sources(path: Path) -> Lines:
    """The lines of a lake, none where there is no lake."""
    rows = DeltaTable(path / "sources").to_pyarrow_table().to_pylist() if has_table(path, "sources") else ()
    lines = [Line(**row) for row in rows]
    return {line.key: line for line in lines}


def write_sources(path: Path, lines: Iterable[Line]) -> None:
    """Replace all rows of the table `sources`, which exists."""
    table = DeltaTable(path / "sources")
    rows = pa.Table.from_pylist([line._asdict() for line in lines], pa.schema(table.schema().to_arrow()))
    write_deltalake(table, rows, mode="overwrite", commit_properties=NO_RETRY)


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
        for table in ("revisions", "spans", "drift"):
            if has_table(path, table):
                DeltaTable(path / table).delete(f"source = '{name}'")
        write_sources(path, [line for line in lines if line.source != name])


def _join(old_lines: Lines, new_lines: Iterable[Line]) -> Lines:
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
    return lines


def _find_upstream(lines: Lines, name: str) -> str:
    """The source to compare the others with: the one called `name`, else that of the last run, else the first."""
    sources = [line.source for line in lines.values()]
    if name and name not in sources:
        raise UsageError(f"--upstream {name} is not one of the sources{did_you_mean(name, sources)}")
    if name:
        return name
    old_upstreams = [line.source for line in lines.values() if line.upstream]  # as the last run set it
    return old_upstreams[0] if old_upstreams else sources[0]


def _read_states(lines: Iterable[Line], rules_id: str) -> tuple[list[Line], Problems]:
    """The readable lines with their present state and the id of the rules, and why the others cannot be read.

    Raises UsageError where no line can be read.
    """
    readable_lines: list[Line] = []
    problems: Problems = {}
    for line in lines:
        try:
            readable_lines.append(with_state(line)._replace(rules_id=rules_id))
        except (SourceError, OSError) as error:
            problems[line.key] = str(error)
    if not readable_lines:
        raise UsageError(next(iter(problems.values())))
    return readable_lines, problems
