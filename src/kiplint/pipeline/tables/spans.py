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
    that has it, `fixed_release` the first one after without it; both null when it was never released. A change that
    came `before_first_release` is in all releases, and between no two of them.

    `ended` says how a finding ended: `mended`, `suppressed` by a comment, `message gone`, or `version gone` where the
    step dropped versions of its message. `from_beginning` is true for what the line's first revision had. The inner
    columns name, where a merge brought it, the last commit behind that merge that touched the file.
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
        "before_first_release": "boolean",
        "from_beginning": "boolean",
        "ended": "string",
        "inner_commit": "string",
        "inner_author": "string",
        "inner_subject": "string",
    }


RENAMES: Columns = {"source": "string", "lineage": "string", "old": "string", "last": "string"}
"""By line of history: the name that a message has in the end, for each that it once had."""


def finding_spans(found: DataFrame, order: DataFrame, renames: DataFrame) -> DataFrame:
    """The islands of each finding on each line of history.

    `order` are the revisions whose content is another than that of the one before, with a `rank` that counts them
    without gaps (`tables.sets.runs`), `found` what is found in each of these.
    """
    named = found.join(renames.withColumnRenamed("old", "message_name"), [*LINE, "message_name"], "left")
    key = _key("rule", f.coalesce("last", "message_name"), "place")
    once = named.withColumn("key", key).groupBy(*LINE, "key", "rank").agg(f.min(f.struct(*_TOLD)).alias("told"))
    run = Window.partitionBy(*LINE, "key").orderBy("rank")
    islands = once.withColumn("island", f.col("rank") - f.row_number().over(run))
    spans = islands.groupBy(*LINE, "key", "island").agg(
        f.min("rank").alias("first"), (f.max("rank") + 1).alias("after"), f.max_by("told", "rank").alias("told")
    )
    begun = _places(order, "first", "introduced")
    ended = _places(order, "after", "fixed")
    placed = spans.join(begun, [*LINE, "first"]).join(ended, [*LINE, "after"], "left")
    first = (f.col("first") == 1).alias("from_beginning")
    return placed.select(*LINE, "key", "told.*", "introduced.*", "fixed.*", first).withColumn(
        "open", f.col("fixed_position").isNull()
    )


_TOLD = ("path", "rule", "severity", "message_name", "message", "blob")


def change_spans(changes: DataFrame) -> DataFrame:
    """When each change came in; `changes` are those of every step."""
    return changes.select(
        *LINE,
        _key("rule", f.col("message_name"), "kind", "versions", "field").alias("key"),
        *(name for name in ("rule", "severity", "breaks", "message_name", "field", "path", "message")),
        f.col("position").alias("introduced_position"),
        f.col("commit").alias("introduced_commit"),
        f.col("time").alias("introduced_time"),
        f.col("release").alias("introduced_release"),
    )


def with_releases(spans: DataFrame, shipped: DataFrame, sets: DataFrame) -> DataFrame:
    """The spans with their releases. `shipped` says which releases have what: a row for each key and release.

    A release has the last life of a key that had begun by then: by the places on the line where the release is one of
    its revisions, else by time. So a life that was over before, or came after, has none of its releases.
    """
    life = [*LINE, "what", "key", "introduced_position"]
    places = sets.groupBy(*LINE, f.col("commit").alias("at_commit")).agg(f.max("position").alias("place"))
    lives = spans.select(*life, "introduced_time").distinct()
    met = lives.join(shipped, ["source", "what", "key"]).join(places, [*LINE, "at_commit"], "left")
    begun = met.where(_by_then("at_time"))
    release = ["at_lineage", "at_position"]
    owner = begun.groupBy(*LINE, "what", "key", *release).agg(
        f.max("introduced_position").alias("introduced_position"),
        f.any_value("at_release").alias("first_release"),
        f.any_value("gone_release").alias("fixed_release"),
    )
    first = f.min(f.struct("at_position", "at_lineage", "first_release", "fixed_release")).alias("shipped")
    made = ("first_release", "fixed_release", "before_first_release")
    told = [name for name in Spans.COLUMNS if name in spans.columns and name not in made]
    whole = spans.join(owner.groupBy(*life).agg(first), life, "left").join(
        _first_releases(sets, places), [*LINE], "left"
    )
    early = (f.col("what") == CHANGE) & f.col("shipped").isNull() & _by_then("at_time")
    return whole.select(
        *told,
        "shipped.first_release",
        "shipped.fixed_release",
        f.coalesce(early, f.lit(False)).alias("before_first_release"),
    )


def _by_then(time: str) -> Column:
    """Whether something had come in by a release: by its place on the line, if it has one, else by time."""
    by_place = f.col("introduced_position") <= f.col("place")
    return f.when(f.col("place").isNotNull(), by_place).otherwise(f.col("introduced_time") <= f.col(time))


def _first_releases(sets: DataFrame, places: DataFrame) -> DataFrame:
    """For each line the first release of its source, and its place on the line if it has one."""
    order = f.struct("position", "lineage")
    one = f.min_by(f.struct("commit", "time"), order).alias("one")
    first = sets.where("release is not null").groupBy("source").agg(one)
    known = first.select("source", f.col("one.commit").alias("at_commit"), f.col("one.time").alias("at_time"))
    lines = sets.select(*LINE).distinct().join(known, "source")
    return lines.join(places, [*LINE, "at_commit"], "left").select(*LINE, "at_time", "place")


def _places(order: DataFrame, rank: str, prefix: str) -> DataFrame:
    taken = [f.col(name).alias(f"{prefix}_{name}") for name in ("position", "commit", "time", "release")]
    return order.select(*LINE, f.col("rank").alias(rank), f.struct(*taken).alias(prefix))


def _key(*parts: str | Column) -> Column:
    return f.substring(f.sha2(f.concat_ws("\0", *parts), 256), 1, 32)
