"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kiplint.pipeline.columns import arrow_schema, ddl
from kiplint.pipeline.delta import Parts
from kiplint.pipeline.late import f, pc
from kiplint.pipeline.listing import Line
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME, WALKING = "ingest", "ingest-walking"
"""What is remembered of the revisions that were asked for, and of how contents are read."""
A_TASK = 64
"""The revisions that one task walks: neighbours share most of their folders."""

CUT_OFF = "it is a shallow clone: its history does not go back to the beginning"


def run(work: Work, context: Context) -> None:
    """Bring the lake's sets, trees, files and blobs up to the lines of history, or read all anew."""
    if anew := work.anew(WALKING, STAGE.ids(context)[WALKING]):
        work.empty(Blobs.NAME, Files.NAME, Trees.NAME, Roots.NAME)
    known = work.lake.read(work.parts(Roots.NAME), {"key": "string"}).column(0)
    problems: list[tuple[str, str]] = []
    lines = context.lines if work.is_local else [line._replace(location=line.path) for line in context.lines]
    tasks = _tasks(lines, known)
    if tasks.num_rows:
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


def _walk(work: Work, tasks: pa.Table, patterns: tuple[str, ...]) -> DataFrame:
    walks = work.of(TO_WALK, tasks).repartition(min(tasks.num_rows, work.parallelism * 4))
    return walks.mapInArrow(walk_in_arrow(patterns), ddl(WALKED))


def _tasks(lines: Sequence[Line], known: pa.ChunkedArray) -> pa.Table:
    """What is to be walked, as rows of `TO_WALK`: each key that is not known once, with the first line that has it."""
    every = pa.concat_tables([line.revisions.table.select(["key", "tree"]) for line in lines])
    number = _repeated(pa.int32(), range(len(lines)), [len(line.revisions) for line in lines])
    every = every.append_column("line", number)
    fresh = every.filter(pc.invert(pc.is_in(every["key"], value_set=known.combine_chunks())))
    numbered = fresh.append_column("at", pa.array(range(fresh.num_rows), pa.int64()))
    first = numbered.group_by("key").aggregate([("at", "min")])["at_min"]
    taken = fresh.take(first.take(pc.sort_indices(first)))
    ends, places = [0], []
    for count in taken["line"].value_counts().to_pylist():
        line = lines[count["values"]]
        for at in range(0, count["counts"], A_TASK):
            ends.append(ends[-1] + min(A_TASK, count["counts"] - at))
            places.append((line.source, line.kind, line.location))
    pairs = [taken[name].combine_chunks() for name in ("key", "tree")]
    revisions = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.StructArray.from_arrays(pairs, ["key", "tree"]))
    schema = arrow_schema(TO_WALK)
    told = [pa.array(column, pa.string()) for column in zip(*places, strict=True)] or [[], [], []]
    return pa.table([*told, revisions], schema=schema)


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
    found = work.lake.read(work.stage("placed", roots_and_trees(walked, contents)), placed)
    known = work.lake.read(work.parts(Trees.NAME), {"root": "string"})["root"].combine_chunks()
    new = found.filter(pc.and_(found["tree"].is_valid(), pc.invert(pc.is_in(found["root"], value_set=known))))
    work.put_table(Trees, _distinct(new.select(list(Trees.COLUMNS))), more=True)
    roots = _distinct(found.select(list(Roots.COLUMNS)))
    same = work.lake.read(walks, {"key": "string", "same": "string"}, pc.field("same").is_valid())
    at = pc.index_in(same["same"], value_set=roots["key"].combine_chunks())
    others = pa.table([same["key"], roots["root"].take(at)], schema=roots.schema)
    work.put_table(Roots, pa.concat_tables([roots, others]), more=True)


def _distinct(rows: pa.Table) -> pa.Table:
    """The rows, each once, in their order; no row is one of Python's, of which there can be millions."""
    names = rows.column_names
    return rows.group_by(names).aggregate([]).sort_by([(name, "ascending") for name in names])


def put_lines(work: Work, context: Context) -> None:
    """Give the lake its lines: those that were listed, and those that could not be, as they were."""
    sources: list[tuple[object, ...]] = [
        (one.source, one.lineage, one.kind, one.path, len(one.revisions), None) for one in context.lines
    ]
    sets = _sets(context.lines, work.lake.read(work.parts(Roots.NAME), Roots.COLUMNS))
    old = [row for row in work.gather(Sources.COLUMNS, work.parts(Sources.NAME)) if _line(row) in context.lost]
    if old:
        sources += [(*list(row.values())[:-1], row["as_of"] or work.snapshot.published) for row in old]
        kept = work.lake.read(work.parts(Sets.NAME), Sets.COLUMNS)
        lost = pa.array(["\0".join(_line(row)) for row in old])
        lines = pc.binary_join_element_wise(kept["source"], kept["lineage"], "\0")
        sets = pa.concat_tables([sets, kept.filter(pc.is_in(lines, value_set=lost))])
    work.put_table(Sets, sets)
    work.put(Sources, sources)


def _sets(lines: Sequence[Line], roots: pa.Table) -> pa.Table:
    """The revisions of lines as rows of `sets`, as far as it is known what they hold."""
    revisions = pa.concat_tables([line.revisions.table for line in lines])
    at = pc.index_in(revisions["key"], value_set=roots["key"].combine_chunks())
    counts = [len(line.revisions) for line in lines]
    told = {
        "source": _repeated(pa.string(), [line.source for line in lines], counts),
        "lineage": _repeated(pa.string(), [line.lineage for line in lines], counts),
        "position": pa.chunked_array([pa.array(range(count), pa.int32()) for count in counts]),
        "root": roots["root"].take(at),
    }
    columns = [told[name] if name in told else revisions[name] for name in Sets.COLUMNS]
    return pa.table(columns, schema=arrow_schema(Sets.COLUMNS)).filter(at.is_valid())


def _repeated(kind: pa.DataType, values: Sequence[object], counts: Sequence[int]) -> pa.ChunkedArray:
    pairs = zip(values, counts, strict=True)
    return pa.chunked_array([pa.repeat(pa.scalar(value, kind), count) for value, count in pairs], kind)


def _line(row: dict[str, Any]) -> tuple[str, str]:
    return row["source"], row["lineage"]


def _listing(context: Context) -> dict[str, str]:
    lines = [(*line[:4], line.digest, line.shallow) for line in context.lines]
    told = repr((lines, sorted(context.problems), sorted(context.lost), context.paths))
    return {NAME: sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16], WALKING: ""}


STAGE = Stage(NAME, (), (Sets.NAME, Blobs.NAME, Trees.NAME), run, _listing)
