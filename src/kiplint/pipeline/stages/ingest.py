"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import ddl
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.listing import Line, Source, list_source
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import READ, Blobs, wanted_blobs
from kiplint.pipeline.tables.files import Files, files_of
from kiplint.pipeline.tables.problems import PROBLEM
from kiplint.pipeline.tables.sets import LISTED, Roots, Sets, sets_of
from kiplint.pipeline.tables.sources import Sources
from kiplint.pipeline.tables.trees import WALKED, Trees, definitions_of, folder_files, roots_and_trees, tree_ids
from kiplint.pipeline.walking import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow
from kiplint.pipeline.work import Work
from kiplint.sources.schema_files import SourceError

A_TASK = 64
"""The revisions that one task walks: neighbours share most of their folders."""

Problem = tuple[str, str]


def list_all(sources: Iterable[Source], lake: Lake, patterns: tuple[str, ...]) -> tuple[list[Line], list[Problem]]:
    """The lines of history of all sources, and what is wrong with those that cannot be listed."""
    lines: list[Line] = []
    problems: list[Problem] = []
    for source in sources:
        try:
            line = list_source(source, lake.path / "repositories", patterns)
        except (SourceError, OSError) as error:
            problems.append((source.name, str(error)))
            continue
        if any((one.source, one.lineage) == (line.source, line.lineage) for one in lines):
            raise UsageError(f"two sources are called {line.source} and have {line.lineage or 'no history'}")
        lines.append(line)
    return lines, problems


def run(work: Work, context: Context) -> None:
    """Bring the lake's sets, trees, files and blobs up to the lines of history."""
    lines, patterns = context.lines, context.paths
    known = {row.key for row in work.frame(Roots).df.select("key").collect()}
    staged = work.stage("walked", _walk(work, lines, known, patterns))
    walked = work.read("walked", WALKED, [staged])
    read = _read(work, walked, lines)
    work.append(Blobs(read.where("problem is null").select(*Blobs.COLUMNS)))
    _settle(work, walked)
    _sets(work, lines)
    listed = work.local(PROBLEM, context.problems)
    unwalked = walked.where("problem is not null").select(f.col("key").alias("subject"), "problem")
    unread = read.where("problem is not null").select(f.col("blob").alias("subject"), "problem")
    work.note("sources", listed, anew=True)
    work.note("ingest", unwalked.unionByName(unread), anew=False)


def _walk(work: Work, lines: Sequence[Line], known: set[str], patterns: tuple[str, ...]) -> DataFrame:
    tasks = list(_tasks(lines, known))
    walks = work.local(TO_WALK, tasks).repartition(max(1, min(len(tasks), work.parallelism * 4)))
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
    read = work.spread(tasks.select(*TO_READ)).mapInArrow(read_in_arrow, ddl(READ))
    return work.read("read", READ, [work.stage("read", read)])


def _settle(work: Work, walked: DataFrame) -> None:
    """Add the contents that are new: what folders hold is only known now that their files are."""
    definitions = definitions_of(folder_files(walked), work.frame(Blobs).df)
    ids = tree_ids(definitions)
    staged = work.stage("placed", roots_and_trees(walked, ids))
    placed = work.read("placed", {"key": "string", **Trees.COLUMNS}, [staged])
    files, trees = work.frame(Files).df, work.frame(Trees).df
    new_files = files_of(definitions, ids).join(files.select("tree").distinct(), "tree", "anti")
    new_trees = placed.where("tree is not null").select(*Trees.COLUMNS).distinct()
    work.append(Files(new_files.select(*Files.COLUMNS).coalesce(work.few)))
    work.append(Trees(new_trees.join(trees.select("root").distinct(), "root", "anti").coalesce(1)))
    work.append(Roots(placed.select("key", "root").distinct().coalesce(1)))


def _sets(work: Work, lines: Sequence[Line]) -> None:
    rows = (
        (line.source, line.lineage, position, one.commit, one.time, one.release, one.key)
        for line in lines
        for position, one in enumerate(line.revisions)
    )
    told = ((line.source, line.lineage, line.kind, line.path, len(line.revisions)) for line in lines)
    work.replace(Sets(sets_of(work.local(LISTED, rows), work.frame(Roots).df).coalesce(1)))
    work.replace(Sources(work.local(Sources.COLUMNS, told)))


def _listing(context: Context) -> dict[str, str]:
    told = repr((context.lines, sorted(context.problems), context.paths))
    return {"ingest": sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16]}


STAGE = Stage("ingest", (), (Sets.NAME, Blobs.NAME, Trees.NAME), _listing, run)
