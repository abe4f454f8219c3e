"""When each finding came in and went, and when each change came in: by commit, and by the release that shipped it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import Window, f
from kiplint.pipeline.tables.sets import LINE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FINDING, CHANGE = "finding", "change"


class Spans(Frame):
    """`what` is finding or change; `key` is the same for one finding wherever its file lies, and across renames.

    A finding is introduced in the first revision that has it, and fixed in the first one after that has it no more;
    without `fixed_commit` it is still open. A change has no end. `first_release` is the first release of the source
    that has it, `fixed_release` the first one after without it; both null when it was never released.
    """

    NAME = "spans"
    ABOUT = "When each finding was introduced and fixed, and when each change came in, by commit and release."
    COLUMNS: ClassVar[Columns] = {
        "source": "string",
        "lineage": "string",
        "what": "string",
        "key": "string",
        "rule": "string",
        "severity": "string",
        "breaks": "string",
        "message_name": "string",
        "field": "string",
        "path": "string",
        "message": "string",
        "introduced_position": "int",
        "introduced_commit": "string",
        "introduced_time": "timestamp",
        "fixed_position": "int",
        "fixed_commit": "string",
        "fixed_time": "timestamp",
        "open": "boolean",
        "first_release": "string",
        "fixed_release": "string",
    }


RENAMES: Columns = {"source": "string", "lineage": "string", "old": "string", "last": "string"}
"""By line of history: the name that a message has in the end, for each that it once had."""


def ranked(sets: DataFrame) -> DataFrame:
    """The revisions counted without gaps, as a revision that could not be read leaves one in `position`."""
    return sets.withColumn("rank", f.row_number().over(Window.partitionBy(*LINE).orderBy("position")))


def finding_spans(found: DataFrame, sets: DataFrame, renames: DataFrame) -> DataFrame:
    """The islands of each finding on each line of history; `found` are the findings of every revision."""
    order = ranked(sets)
    named = found.join(renames.withColumnRenamed("old", "message_name"), [*LINE, "message_name"], "left")
    key = _key("rule", f.coalesce("last", "message_name"), "place")
    seen = named.withColumn("key", key).join(order.select(*LINE, "position", "rank"), [*LINE, "position"])
    once = seen.groupBy(*LINE, "key", "rank").agg(f.min(f.struct(*_TOLD)).alias("told"))
    run = Window.partitionBy(*LINE, "key").orderBy("rank")
    islands = once.withColumn("island", f.col("rank") - f.row_number().over(run))
    spans = islands.groupBy(*LINE, "key", "island").agg(
        f.min("rank").alias("first"), (f.max("rank") + 1).alias("after"), f.max_by("told", "rank").alias("told")
    )
    begun = _places(order, "first", "introduced")
    ended = _places(order, "after", "fixed")
    placed = spans.join(begun, [*LINE, "first"]).join(ended, [*LINE, "after"], "left")
    return placed.select(*LINE, "key", "told.*", "introduced.*", "fixed.*").withColumn(
        "open", f.col("fixed_position").isNull()
    )


_TOLD = ("path", "rule", "severity", "message_name", "message")


def change_spans(changes: DataFrame) -> DataFrame:
    """When each change came in; `changes` are those of every step."""
    return changes.select(
        *LINE,
        _key("rule", f.col("message_name"), "kind", "field").alias("key"),
        *(name for name in ("rule", "severity", "breaks", "message_name", "field", "path", "message")),
        f.col("position").alias("introduced_position"),
        f.col("commit").alias("introduced_commit"),
        f.col("time").alias("introduced_time"),
        f.col("release").alias("introduced_release"),
    )


def with_releases(spans: DataFrame, releases: DataFrame) -> DataFrame:
    """The spans with `first_release` and `fixed_release`, out of the spans of the same source's releases.

    Which release first shipped something is read off the releases themselves: of their spans with the same key, the
    first that was still there when this one came in.
    """
    shipped = releases.select(
        "source",
        "key",
        f.col("introduced_position").alias("at"),
        f.col("introduced_release").alias("first_release"),
        f.col("fixed_release"),
        f.col("last_time"),
    )
    own = f.struct("at", "first_release", "fixed_release")
    line = [*LINE, "what", "key", "introduced_position"]
    later = f.col("last_time") >= f.col("introduced_time")
    best = (
        spans.select(*line, "introduced_time")
        .distinct()
        .join(shipped, ["source", "key"])
        .where(later)
        .groupBy(*line)
        .agg(f.min(own).alias("shipped"))
    )
    told = [name for name in Spans.COLUMNS if name not in ("first_release", "fixed_release")]
    return spans.join(best, line, "left").select(*told, "shipped.first_release", "shipped.fixed_release")


def _places(order: DataFrame, rank: str, prefix: str) -> DataFrame:
    taken = [f.col(name).alias(f"{prefix}_{name}") for name in ("position", "commit", "time", "release")]
    return order.select(*LINE, f.col("rank").alias(rank), f.struct(*taken).alias(prefix))


def _key(*parts: str | Column) -> Column:
    return f.substring(f.sha2(f.concat_ws("\0", *parts), 256), 1, 32)
