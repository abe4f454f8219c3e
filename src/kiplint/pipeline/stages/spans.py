"""Spans: findings and changes in time, on every line of history."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.changes import Changes, changes_in_sets
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.findings import Findings, found_in_sets
from kiplint.pipeline.tables.sets import LINE, Sets
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

NAME = "spans"
LONGEST_CHAIN = 1000


def run(work: Work, _: Context) -> None:
    """Make the spans anew: that is columns only, and cheap beside what it is made of."""
    sets = work.frame(Sets).df
    changes = changes_in_sets(work.frame(Changes).df, sets)
    found = found_in_sets(work.frame(Findings).df, work.frame(Files).df, work.frame(Trees).df, sets)
    findings = finding_spans(found, sets, work.local(RENAMES, _last_names(changes)))
    findings = findings.withColumns({"what": f.lit(FINDING), "breaks": f.lit(None).cast("string"), "field": f.lit("")})
    changed = change_spans(changes)
    never = {"fixed_position": "int", "fixed_commit": "string", "fixed_time": "timestamp", "fixed_release": "string"}
    nulls = {name: f.lit(None).cast(kind) for name, kind in {**never, "open": "boolean"}.items()}
    changed = changed.withColumns({"what": f.lit(CHANGE), **nulls})
    spans = work.read({**dict(findings.dtypes)}, work.stage("in-time", findings.unionByName(changed)))
    work.replace(Spans(with_releases(spans, _releases(spans, sets)).coalesce(work.few)))


def _releases(spans: DataFrame, sets: DataFrame) -> DataFrame:
    """The spans on lines of releases, with the time of the last release that has them."""
    shipped = spans.where("introduced_release is not null")
    until = sets.where("release is not null").select(*LINE, "position", f.col("time").alias("shipped"))
    inside = (until.position >= shipped.introduced_position) & (
        (until.position < shipped.fixed_position)
        | (shipped.fixed_position.isNull() & (shipped.what == FINDING))
        | ((shipped.what == CHANGE) & (until.position == shipped.introduced_position))
    )
    on = (until.source == shipped.source) & (until.lineage == shipped.lineage) & inside
    keys = ["source", "key", "introduced_position", "introduced_release", "fixed_release"]
    return shipped.join(until, on).groupBy(*(shipped[name] for name in keys)).agg(f.max("shipped").alias("last_time"))


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
    (Sets.NAME, Files.NAME, Trees.NAME, Findings.NAME, Changes.NAME),
    (Spans.NAME,),
    run,
)
