"""Spans: findings and changes in time, on every line of history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.pipeline.fetching import on_this_machine
from kiplint.pipeline.functions import f, pc
from kiplint.pipeline.lake.delta import Parts
from kiplint.pipeline.lake.schema import Columns, text
from kiplint.pipeline.stage import Context, Stage, Work
from kiplint.pipeline.tables.contents import LINE, ORDER, PLACE, STEPS, Blobs, Files, Sets, Trees, runs, steps_of
from kiplint.pipeline.tables.findings import Changes, Findings, changes_in_sets, found_in_sets
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.spans import (
    CHANGE,
    FINDING,
    LIFE,
    RENAMES,
    Spans,
    change_spans,
    endings,
    finding_spans,
    places,
    with_releases,
)
from kiplint.sources.git import open_repository
from kiplint.sources.history import inner_commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "spans"
_IN_ORDER = [(name, "ascending") for name in (*LINE, "position")]
LONGEST_CHAIN = 1000
ON = ("source", "lineage", "introduced_commit", "path")
INNER: Columns = dict.fromkeys((*ON, "inner_commit", "inner_author", "inner_subject"), "string")


def run(work: Work, context: Context) -> None:
    """Make the spans anew, without a plan for what has no rows: renames, releases, endings, merges."""
    sets = work.lake.read(work.parts(Sets.NAME), Sets.COLUMNS, None, list(PLACE)).sort_by(_IN_ORDER)
    order, steps = work.of(ORDER, runs(sets)), work.of(STEPS, steps_of(sets))
    changes = changes_in_sets(work.frame(Changes).df, steps)
    contents = work.frame(Files).df, work.frame(Trees).df
    renames = list(_last_names(work, sets))
    known = work.local(RENAMES, renames) if renames else None
    spans = in_time(found_in_sets(work.frame(Findings).df, *contents, order), changes, order, known)
    kinds = dict(spans.dtypes)
    parts = work.stage("in-time", spans)
    staged = work.read(kinds, parts)
    over = pc.field("fixed_position").is_valid() & (pc.field("what") == FINDING)
    whole = _with_nulls(staged, {"ended": "string"})
    if work.lake.dataset(parts, kinds).count_rows(filter=over):
        there = places(work.frame(Trees).df, work.frame(Files).df, work.frame(Messages).df)
        ended = endings(staged, order, there, changes, work.frame(Blobs).df)
        whole = staged.join(ended, list(LIFE), "left")
    inner = list(_inner(work, context, parts))
    whole = whole.join(work.local(INNER, inner), list(ON), "left") if inner else _with_nulls(whole, INNER)
    if pc.any(sets["release"].is_valid()).as_py():
        revisions = work.of(PLACE, sets)
        whole = with_releases(whole, shipped(staged, revisions), revisions)
    else:
        nothing = {"first_release": "string", "fixed_release": "string"}
        whole = _with_nulls(whole.drop("fixed_release"), nothing).withColumn("before_first_release", f.lit(False))
    work.replace(Spans(whole.select(*Spans.COLUMNS).coalesce(work.few)))


def _with_nulls(df: DataFrame, columns: Columns) -> DataFrame:
    """The rows with those of the columns that they do not have, all null."""
    return df.withColumns({name: f.lit(None).cast(kind) for name, kind in columns.items() if name not in df.columns})


def _inner(work: Work, context: Context, spans: Parts) -> Iterator[tuple[object, ...]]:
    """Rows of `INNER`: the commits behind the merges that brought spans, as far as sources can be read here."""
    merges = _merges(work)
    columns = {name: INNER[name] for name in ON}
    rows = work.gather(columns, spans, pc.field("introduced_commit").isin(list(merges))) if merges else []
    by_line: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in rows:
        by_line.setdefault((row["source"], row["lineage"]), set()).add((row["introduced_commit"], row["path"]))
    for line in context.lines:
        if places := by_line.get(line[:2]):
            objects = open_repository(on_this_machine(line.location))
            for place in sorted(places):
                if inner := inner_commit(objects, *place):
                    yield (*line[:2], *place, *map(text, inner))
            objects.close()


def _merges(work: Work) -> set[str]:
    merged = pc.list_value_length(pc.field("parents")) > 1
    columns = {"commit": "string", "parents": "array<string>"}
    return {row["commit"] for row in work.gather(columns, work.parts(Sets.NAME), merged)}


def in_time(findings_of_sets: DataFrame, changes: DataFrame, order: DataFrame, renames: DataFrame | None) -> DataFrame:
    """The spans of findings and of changes on each line, without the releases of other lines; see `finding_spans`."""
    findings = finding_spans(findings_of_sets, order, renames)
    findings = findings.withColumns({"what": f.lit(FINDING), "breaks": f.lit(None).cast("string"), "field": f.lit("")})
    never = {
        "blob": "string",
        "fixed_position": "int",
        "fixed_commit": "string",
        "fixed_time": "timestamp",
        "fixed_release": "string",
    }
    nulls = {name: f.lit(None).cast(kind) for name, kind in {**never, "open": "boolean"}.items()}
    since = {"what": f.lit(CHANGE), "from_beginning": f.lit(False), **nulls}
    return findings.unionByName(change_spans(changes).withColumns(since))


def shipped(spans: DataFrame, sets: DataFrame) -> DataFrame:
    """Which releases have what: for a finding all from the first to the last of a life, for a change the one it led to.

    The columns: source, what, key, the release as at_lineage, at_position, at_commit, at_time and at_release, and the
    first one after that life as gone_release.
    """
    begun = spans.where("introduced_release is not null").select(
        *LINE, "what", "key", "introduced_position", "fixed_position", f.col("fixed_release").alias("gone_release")
    )
    releases = sets.where("release is not null").select(
        *LINE, *(f.col(name).alias(f"at_{name}") for name in ("position", "commit", "time", "release"))
    )
    inside = (f.col("at_position") >= f.col("introduced_position")) & (
        (f.col("at_position") == f.col("introduced_position"))
        | (
            (f.col("what") == FINDING)
            & (f.col("fixed_position").isNull() | (f.col("at_position") < f.col("fixed_position")))
        )
    )
    placed = begun.join(releases, list(LINE)).where(inside)
    return placed.withColumnRenamed("lineage", "at_lineage").drop("introduced_position", "fixed_position")


def _last_names(work: Work, sets: pa.Table) -> Iterator[tuple[str, str, str, str]]:
    """Rows of `RENAMES`: the names that messages have in the end, by those they had."""
    columns = {name: Changes.COLUMNS[name] for name in ("old_root", "root", "old", "message_name", "kind")}
    renamed: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in work.gather(columns, work.parts(Changes.NAME), pc.field("kind") == "message-renamed"):
        old = json.loads(row["old"])["name"]
        renamed.setdefault((row["old_root"], row["root"]), []).append((old, row["message_name"]))
    if not renamed:
        return
    heirs: dict[tuple[str, str], dict[str, str]] = {}
    for step in steps_of(sets).to_pylist():
        for old, new in renamed.get((step["old_root"], step["root"]), ()):
            heirs.setdefault((step["source"], step["lineage"]), {})[old] = new
    for (source, lineage), names in heirs.items():
        for first in names:
            last = first
            for _ in range(LONGEST_CHAIN):  # a name that came back makes a circle
                last = names.get(last, last)
            yield source, lineage, first, last


STAGE = Stage(
    NAME,
    (Sets.NAME, Files.NAME, Trees.NAME, Blobs.NAME, Messages.NAME, Findings.NAME, Changes.NAME),
    (Spans.NAME,),
    run,
)
