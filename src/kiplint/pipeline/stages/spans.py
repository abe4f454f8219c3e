"""Spans: findings and changes in time, on every line of history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kiplint.pipeline.columns import Columns, text
from kiplint.pipeline.delta import Parts
from kiplint.pipeline.fetching import on_this_machine
from kiplint.pipeline.late import f, pc
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.changes import Changes, changes_in_sets
from kiplint.pipeline.tables.endings import LIFE, endings, places
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.findings import Findings, found_in_sets
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.sets import LINE, PLACE, Sets, runs
from kiplint.pipeline.tables.spans import (
    CHANGE,
    FINDING,
    RENAMES,
    Spans,
    change_spans,
    finding_spans,
    with_releases,
)
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.work import Work
from kiplint.sources.git import open_repository
from kiplint.sources.history import inner_commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "spans"
LONGEST_CHAIN = 1000
ON = ("source", "lineage", "introduced_commit", "path")
INNER: Columns = dict.fromkeys((*ON, "inner_commit", "inner_author", "inner_subject"), "string")


def run(work: Work, context: Context) -> None:
    """Make the spans anew: that is columns only, and cheap beside what it is made of."""
    sets = work.frame(Sets).df.select(*PLACE)
    changes = changes_in_sets(work.frame(Changes).df, sets)
    order = runs(sets)
    found = found_in_sets(work.frame(Findings).df, work.frame(Files).df, work.frame(Trees).df, order)
    spans = in_time(found, changes, order, work.local(RENAMES, _last_names(changes)))
    parts = work.stage("in-time", spans)
    staged = work.read({**dict(spans.dtypes)}, parts)
    there = places(work.frame(Trees).df, work.frame(Files).df, work.frame(Messages).df)
    ended = staged.join(endings(staged, order, there, changes, work.frame(Blobs).df), list(LIFE), "left")
    whole = with_releases(_with_inner(work, context, ended, parts), shipped(staged, sets), sets)
    work.replace(Spans(whole.select(*Spans.COLUMNS).coalesce(work.few)))


def _with_inner(work: Work, context: Context, spans: DataFrame, parts: Parts) -> DataFrame:
    """The spans with the commits behind the merges that brought them, as far as the sources can be read here."""
    merges = _merges(work)
    asked = {name: INNER[name] for name in ON}
    rows = work.gather(asked, parts, pc.field("introduced_commit").isin(list(merges))) if merges else []
    asked_of: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in rows:
        asked_of.setdefault((row["source"], row["lineage"]), set()).add((row["introduced_commit"], row["path"]))
    found: list[tuple[object, ...]] = []
    for line in context.lines:
        if mine := asked_of.get(line[:2]):
            objects = open_repository(on_this_machine(line.location))
            told = ((one, inner_commit(objects, *one)) for one in sorted(mine))
            found += [(*line[:2], *one, *map(text, inner)) for one, inner in told if inner]
            objects.close()
    return spans.join(work.local(INNER, found), list(ON), "left")


def _merges(work: Work) -> set[str]:
    merged = pc.list_value_length(pc.field("parents")) > 1
    columns = {"commit": "string", "parents": "array<string>"}
    return {row["commit"] for row in work.gather(columns, work.parts(Sets.NAME), merged)}


def in_time(found: DataFrame, changes: DataFrame, order: DataFrame, renames: DataFrame) -> DataFrame:
    """The spans of findings and of changes on each line, without the releases of other lines; see `finding_spans`."""
    findings = finding_spans(found, order, renames)
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
    found = begun.join(releases, list(LINE)).where(inside)
    return found.withColumnRenamed("lineage", "at_lineage").drop("introduced_position", "fixed_position")


def _last_names(changes: DataFrame) -> Iterator[tuple[str, str, str, str]]:
    """The names that messages have in the end, by those they had; few, so this process follows the chains."""
    old = f.get_json_object("old", "$.name")
    renamed = changes.where("kind = 'message-renamed'").select(*LINE, "position", old.alias("old"), "message_name")
    heirs: dict[tuple[str, str], dict[str, str]] = {}
    for row in renamed.orderBy(*LINE, "position").collect():
        heirs.setdefault((row.source, row.lineage), {})[row.old] = row.message_name
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
