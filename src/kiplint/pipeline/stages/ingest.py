"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from kiplint.pipeline.functions import pc
from kiplint.pipeline.lake.marker import STAGING
from kiplint.pipeline.lake.schema import arrow_schema, table
from kiplint.pipeline.listing import Line
from kiplint.pipeline.stage import Context, Problem, Stage, Work
from kiplint.pipeline.tables.contents import (
    WALKED,
    Blobs,
    Files,
    Roots,
    Sets,
    Sources,
    Trees,
    definitions_of,
    files_in,
    folders_in,
    roots_and_trees,
    trees_of,
)
from kiplint.pipeline.walking import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow

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
    problems: list[Problem] = []
    lines = context.lines if work.is_local else [line._replace(location=line.path) for line in context.lines]
    tasks = _tasks(lines, known)
    if tasks.num_rows:
        walks = work.of(TO_WALK, tasks).repartition(min(tasks.num_rows, work.parallelism * 4))
        made, problems = work.make(walks, walk_in_arrow(context.paths), {STAGING: WALKED})
        walked = work.lake.read(made[STAGING], WALKED)
        folders = folders_in(walked)
        problems += _read(work, folders, lines)
        _settle(work, walked, folders)
    put_lines(work, context)
    work.note("sources", context.problems, anew=True)
    work.note("history", ((name, CUT_OFF) for name in context.cut), anew=True)
    work.note(NAME, problems, anew=anew)


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
    columns = [pa.array(column, pa.string()) for column in zip(*places, strict=True)] or [[], [], []]
    return pa.table([*columns, revisions], schema=schema)


def _read(work: Work, folders: pa.Table, lines: Sequence[Line]) -> list[Problem]:
    """Read the contents that are new, each from one of the places that have it; the problems."""
    known = work.lake.read(work.parts(Blobs.NAME), {"blob": "string"})["blob"].combine_chunks()
    files = files_in(folders)
    new = files.filter(pc.invert(pc.is_in(files["blob"], value_set=known)))
    rows = new.group_by("blob").aggregate([("location", "min")]).sort_by([("location_min", "ascending")])
    kinds = {line.location: line.kind for line in lines}
    places = zip(rows["location_min"].to_pylist(), rows["blob"].to_pylist(), strict=True)
    tasks: list[tuple[str, str, list[str]]] = []
    for location, some in groupby(places, itemgetter(0)):
        blobs = [blob for _, blob in some]
        size = max(1, -(-len(blobs) // (work.parallelism * 2)))
        tasks += [(kinds[location], location, blobs[at : at + size]) for at in range(0, len(blobs), size)]
    if not tasks:
        return []
    piles = work.of(TO_READ, table(TO_READ, tasks)).repartition(min(len(tasks), work.parallelism * 2))
    made, problems = work.make(piles, read_in_arrow, {Blobs.NAME: Blobs.COLUMNS})
    work.add(Blobs.NAME, made[Blobs.NAME])
    return problems


def _settle(work: Work, walked: pa.Table, folders: pa.Table) -> None:
    """Add the contents that are new: what folders hold is only known now that their files are read."""
    kinds = work.lake.read(work.parts(Blobs.NAME), {"blob": "string", "kind": "string"})
    definitions = definitions_of(files_in(folders), kinds)
    ids = trees_of(definitions)
    old = work.lake.read(work.parts(Files.NAME), {"tree": "string"})["tree"].combine_chunks()
    files = definitions.join(ids, ["folder", "top"], join_type="inner").select(list(Files.COLUMNS))
    work.put_table(Files, _distinct(files.filter(pc.invert(pc.is_in(files["tree"], value_set=old)))), more=True)
    roots, trees = roots_and_trees(walked, folders, ids)
    known = work.lake.read(work.parts(Trees.NAME), {"root": "string"})["root"].combine_chunks()
    work.put_table(Trees, _distinct(trees.filter(pc.invert(pc.is_in(trees["root"], value_set=known)))), more=True)
    work.put_table(Roots, roots, more=True)


def _distinct(rows: pa.Table) -> pa.Table:
    """The rows, each once, in their order; no row is one of Python's, of which there can be millions."""
    names = rows.column_names
    return rows.group_by(names).aggregate([]).sort_by([(name, "ascending") for name in names])


def put_lines(work: Work, context: Context) -> None:
    """Give the lake its lines: those that were listed, and those that could not be, as they were."""
    sources: list[tuple[object, ...]] = [
        (line.source, line.lineage, line.kind, line.path, len(line.revisions), None) for line in context.lines
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
    own = {
        "source": _repeated(pa.string(), [line.source for line in lines], counts),
        "lineage": _repeated(pa.string(), [line.lineage for line in lines], counts),
        "position": pa.chunked_array([pa.array(range(count), pa.int32()) for count in counts]),
        "root": roots["root"].take(at),
    }
    columns = [own[name] if name in own else revisions[name] for name in Sets.COLUMNS]
    return pa.table(columns, schema=arrow_schema(Sets.COLUMNS)).filter(at.is_valid())


def _repeated(kind: pa.DataType, values: Sequence[object], counts: Sequence[int]) -> pa.ChunkedArray:
    pairs = zip(values, counts, strict=True)
    return pa.chunked_array([pa.repeat(pa.scalar(value, kind), count) for value, count in pairs], kind)


def _line(row: dict[str, Any]) -> tuple[str, str]:
    return row["source"], row["lineage"]


def _listing(context: Context) -> dict[str, str]:
    lines = [(*line[:4], line.digest, line.shallow) for line in context.lines]
    text = repr((lines, sorted(context.problems), sorted(context.lost), context.paths))
    return {NAME: sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16], WALKING: ""}


STAGE = Stage(NAME, (), (Sets.NAME, Blobs.NAME, Trees.NAME), run, _listing)
