"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import ddl, text
from kiplint.pipeline.delta import Parts
from kiplint.pipeline.late import f, pc
from kiplint.pipeline.listing import Line, Listed, Source, list_source
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs, wanted_blobs
from kiplint.pipeline.tables.files import Files, files_of
from kiplint.pipeline.tables.sets import Roots, Sets
from kiplint.pipeline.tables.sources import Sources
from kiplint.pipeline.tables.trees import (
    CONTENTS,
    WALKED,
    Trees,
    definitions_of,
    folder_files,
    roots_and_trees,
    with_trees,
)
from kiplint.pipeline.walking import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow
from kiplint.pipeline.work import Work
from kiplint.sources.schema_files import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME, WALKING = "ingest", "ingest-walking"
"""What is remembered of the revisions that were asked for, and of how contents are read."""
A_TASK = 64
"""The revisions that one task walks: neighbours share most of their folders."""

Problem = tuple[str, str]
CUT_OFF = "it is a shallow clone: its history does not go back to the beginning"


def list_all(sources: Iterable[Source], patterns: tuple[str, ...]) -> tuple[list[Line], list[Problem], list[Problem]]:
    """The lines of history of all sources; what is wrong with those that cannot be listed, and their lines.

    A line that cannot be listed is told as source and lineage: those that it may have had, where it has no name.
    """
    lines: list[Line] = []
    problems: list[Problem] = []
    lost: list[Problem] = []
    for source in sources:
        try:
            line = list_source(source, patterns)
        except (SourceError, OSError) as error:
            problems.append((source.name, str(error)))
            lost += [(source.name, source.ref)] if source.ref else [(source.name, ""), (source.name, "HEAD")]
            continue
        if any((one.source, one.lineage) == (line.source, line.lineage) for one in lines):
            raise UsageError(f"two sources are called {line.source} and have {line.lineage or 'no history'}")
        lines.append(line)
    return lines, problems, lost


def run(work: Work, context: Context) -> None:
    """Bring the lake's sets, trees, files and blobs up to the lines of history, or read all anew."""
    if anew := work.anew(WALKING, STAGE.ids(context)[WALKING]):
        work.empty(Blobs.NAME, Files.NAME, Trees.NAME, Roots.NAME)
    known = {row["key"] for row in work.gather({"key": "string"}, work.parts(Roots.NAME))}
    problems: list[Problem] = []
    lines = context.lines if work.is_local else [line._replace(location=line.path) for line in context.lines]
    if tasks := list(_tasks(lines, known)):
        walks = work.stage("walked", _walk(work, tasks, context.paths))
        walked = work.read(WALKED, walks)
        blobs = work.stage(Blobs.NAME, _read(work, walked, lines))
        work.add(Blobs.NAME, blobs)
        _settle(work, walked, walks)
        problems = [*work.problems_in(walks, "key"), *work.problems_in(blobs, "blob")]
    put_lines(work, context)
    work.note("sources", context.problems, anew=True)
    work.note("history", ((name, CUT_OFF) for name in context.cut), anew=True)
    work.note(NAME, problems, anew=anew)


def _walk(work: Work, tasks: list[tuple[object, ...]], patterns: tuple[str, ...]) -> DataFrame:
    walks = work.local(TO_WALK, tasks).repartition(min(len(tasks), work.parallelism * 4))
    return walks.mapInArrow(walk_in_arrow(patterns), ddl(WALKED))


def _tasks(lines: Sequence[Line], known: set[str]) -> Iterator[tuple[object, ...]]:
    taken = set(known)
    for line in lines:
        fresh = []
        for one in line.revisions:
            if one.key not in taken:
                taken.add(one.key)
                fresh.append({"key": one.key, "tree": one.tree})
        for at in range(0, len(fresh), A_TASK):
            yield line.source, line.kind, line.location, fresh[at : at + A_TASK]


def _read(work: Work, walked: DataFrame, lines: Sequence[Line]) -> DataFrame:
    kinds = work.local({"location": "string", "kind": "string"}, sorted({(one.location, one.kind) for one in lines}))
    wanted = wanted_blobs(walked, work.frame(Blobs).df).join(kinds, "location")
    pile = f.pmod(f.hash("blob"), f.lit(work.parallelism * 2))
    tasks = wanted.groupBy("kind", "location", pile.alias("pile")).agg(f.collect_list("blob").alias("blobs"))
    return tasks.select(*TO_READ).repartition(work.parallelism).mapInArrow(read_in_arrow, ddl(Blobs.COLUMNS))


def _settle(work: Work, walked: DataFrame, walks: Parts) -> None:
    """Add the contents that are new: what folders hold is only known now that their files are."""
    definitions = definitions_of(folder_files(walked), work.frame(Blobs).df)
    contents = work.read(CONTENTS, work.stage("contents", with_trees(definitions)))
    files = work.frame(Files).df.select("tree").distinct()
    work.append(Files(files_of(contents).join(files, "tree", "anti").coalesce(work.few)))
    placed = {"key": "string", **Trees.COLUMNS}
    rows = work.gather(placed, work.stage("placed", roots_and_trees(walked, contents)))
    known = {row["root"] for row in work.gather({"root": "string"}, work.parts(Trees.NAME))}
    trees = {(row["root"], row["directory"], row["tree"]) for row in rows if row["tree"] and row["root"] not in known}
    work.put(Trees, sorted(trees), more=True)
    roots = {row["key"]: row["root"] for row in rows}
    same = work.gather({"key": "string", "same": "string"}, walks, pc.field("same").is_valid())
    roots |= {row["key"]: roots[row["same"]] for row in same}
    work.put(Roots, sorted(roots.items()), more=True)


def put_lines(work: Work, context: Context) -> None:
    """Give the lake its lines: those that were listed, and those that could not be, as they were."""
    roots = {row["key"]: row["root"] for row in work.gather(Roots.COLUMNS, work.parts(Roots.NAME))}
    rows: list[tuple[object, ...]] = [
        (line.source, line.lineage, position, one.commit, one.time, one.release, roots[one.key], *_said(one))
        for line in context.lines
        for position, one in enumerate(line.revisions)
        if one.key in roots
    ]
    sources: list[tuple[object, ...]] = [
        (one.source, one.lineage, one.kind, one.path, len(one.revisions), None) for one in context.lines
    ]
    old = [row for row in work.gather(Sources.COLUMNS, work.parts(Sources.NAME)) if _line(row) in context.lost]
    sources += [(*list(row.values())[:-1], row["as_of"] or work.snapshot.published) for row in old]
    kept = work.gather(Sets.COLUMNS, work.parts(Sets.NAME)) if old else []
    rows += [tuple(row.values()) for row in kept if _line(row) in context.lost]
    work.put(Sets, rows)
    work.put(Sources, sources)


def _said(one: Listed) -> tuple[object, ...]:
    told = one.text
    numbers = [text(number) for number in told.jiras]
    return text(told.author), text(told.subject), list(told.parents), told.pull_request, list(told.kips), numbers


def _line(row: dict[str, Any]) -> tuple[str, str]:
    return row["source"], row["lineage"]


def _listing(context: Context) -> dict[str, str]:
    lines = [line._replace(location="") for line in context.lines]
    told = repr((lines, sorted(context.problems), sorted(context.lost), context.paths))
    return {NAME: sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16], WALKING: ""}


STAGE = Stage(NAME, (), (Sets.NAME, Blobs.NAME, Trees.NAME), run, _listing)
