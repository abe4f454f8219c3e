"""When each finding came in and went, and when each change came in: by commit, and by the release that shipped it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.functions import Window, f
from kiplint.pipeline.lake.schema import Columns, TableFrame
from kiplint.pipeline.tables.contents import LINE, path_in_revision

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


FINDING, CHANGE = "finding", "change"


class Spans(TableFrame):
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


def finding_spans(findings: DataFrame, order: DataFrame, renames: DataFrame | None) -> DataFrame:
    """The islands of each finding on each line of history.

    `order` are the revisions whose content is another than that of the one before, with a `rank` that counts them
    without gaps (`tables.sets.runs`), `findings` what is found in each of these.
    """
    name = f.col("message_name")
    if renames is not None:
        findings = findings.join(renames.withColumnRenamed("old", "message_name"), [*LINE, "message_name"], "left")
        name = f.coalesce("last", "message_name")
    key = _key("rule", name, "place")
    once = findings.withColumn("key", key).groupBy(*LINE, "key", "rank").agg(f.min(f.struct(*_SHOWN)).alias("shown"))
    run = Window.partitionBy(*LINE, "key").orderBy("rank")
    islands = once.withColumn("island", f.col("rank") - f.row_number().over(run))
    spans = islands.groupBy(*LINE, "key", "island").agg(
        f.min("rank").alias("first"), (f.max("rank") + 1).alias("after"), f.max_by("shown", "rank").alias("shown")
    )
    begun = _places(order, "first", "introduced")
    ended = _places(order, "after", "fixed")
    placed = spans.join(begun, [*LINE, "first"]).join(ended, [*LINE, "after"], "left")
    first = (f.col("first") == 1).alias("from_beginning")
    return placed.select(*LINE, "key", "shown.*", "introduced.*", "fixed.*", first).withColumn(
        "open", f.col("fixed_position").isNull()
    )


_SHOWN = ("path", "rule", "severity", "message_name", "message", "blob")


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
    own = [name for name in Spans.COLUMNS if name in spans.columns and name not in made]
    whole = spans.join(owner.groupBy(*life).agg(first), life, "left").join(
        _first_releases(sets, places), [*LINE], "left"
    )
    early = (f.col("what") == CHANGE) & f.col("shipped").isNull() & _by_then("at_time")
    return whole.select(
        *own,
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
    release = f.min_by(f.struct("commit", "time"), order).alias("release")
    first = sets.where("release is not null").groupBy("source").agg(release)
    known = first.select("source", f.col("release.commit").alias("at_commit"), f.col("release.time").alias("at_time"))
    lines = sets.select(*LINE).distinct().join(known, "source")
    return lines.join(places, [*LINE, "at_commit"], "left").select(*LINE, "at_time", "place")


def _places(order: DataFrame, rank: str, prefix: str) -> DataFrame:
    taken = [f.col(name).alias(f"{prefix}_{name}") for name in ("position", "commit", "time", "release")]
    return order.select(*LINE, f.col("rank").alias(rank), f.struct(*taken).alias(prefix))


def _key(*parts: str | Column) -> Column:
    return f.substring(f.sha2(f.concat_ws("\0", *parts), 256), 1, 32)


MENDED, SUPPRESSED, MESSAGE_GONE, VERSION_GONE = "mended", "suppressed", "message gone", "version gone"
LIFE = (*LINE, "key", "introduced_position")
_SELECTORS = r"kiplint:[ \t]*ignore(?:-file)?[ \t]*\[([^\]]*)\]"


def places(trees: DataFrame, files: DataFrame, messages: DataFrame) -> DataFrame:
    """Where contents have what: root, `who` (the name of a message, and the path of each file), and the blob."""
    placed = trees.join(files, "tree").select("root", "blob", path_in_revision().alias("path"))
    named = placed.join(messages.select("blob", "message_name"), "blob").select(
        "root", f.col("message_name").alias("who"), "blob"
    )
    return named.unionByName(placed.select("root", f.col("path").alias("who"), "blob")).distinct()


def endings(spans: DataFrame, sets: DataFrame, there: DataFrame, changes: DataFrame, blobs: DataFrame) -> DataFrame:
    """For each life of a finding that has an end the columns `LIFE`, and how it `ended`.

    `spans` tell with the `blob` which text had the finding last; `there` is what `places` gives, `changes` are those of
    every step. A finding was suppressed when a comment speaks of its rule that did not do so before.
    """
    over = spans.where("what = 'finding' AND fixed_position IS NOT NULL")
    at = over.join(sets.select(*LINE, f.col("position").alias("fixed_position"), "root"), [*LINE, "fixed_position"])
    who = f.explode(f.array_distinct(f.array("message_name", "path"))).alias("who")
    sought = at.select(*LIFE, "rule", "root", f.col("blob").alias("old_blob"), who).where("who <> ''")
    marks = (
        blobs.where(f.col("data").isNotNull()).select("blob", _selectors().alias("marks")).where(f.size("marks") > 0)
    )
    old = marks.select(f.col("blob").alias("old_blob"), f.col("marks").alias("old_marks"))
    met = sought.join(there, ["root", "who"], "left").join(marks, "blob", "left").join(old, "old_blob", "left")
    ends = met.groupBy(*LIFE).agg(
        f.max(f.col("blob").isNotNull()).alias("is_there"),
        f.max(f.coalesce(_count("marks") > _count("old_marks"), f.lit(False))).alias("is_hidden"),
    )
    dropped = changes.where("rule = 'compat/version-dropped'").select(
        *LINE, f.col("position").alias("fixed_position"), "message_name", f.lit(True).alias("is_dropped")
    )
    narrower = over.join(dropped.distinct(), [*LINE, "fixed_position", "message_name"]).select(*LIFE, "is_dropped")
    ended = (
        f.when(~f.col("is_there"), MESSAGE_GONE)
        .when(f.col("is_dropped"), VERSION_GONE)
        .when(f.col("is_hidden"), SUPPRESSED)
        .otherwise(MENDED)
    )
    return ends.join(narrower, list(LIFE), "left").select(*LIFE, ended.alias("ended"))


def _selectors() -> Column:
    """What the comments of a text name that speak of rules."""
    text = f.try_validate_utf8("data")
    inside = f.regexp_extract_all(text, f.lit(_SELECTORS), f.lit(1))
    return f.transform(f.split(f.array_join(inside, ","), ","), lambda selector: f.trim(selector, f.lit(" \t")))


def _count(side: str) -> Column:
    return f.when(f.col(side).isNull(), f.lit(0)).otherwise(f.size(f.filter(side, _matches)))


def _matches(selector: Column) -> Column:
    """Whether a selector means the rule: its id, its pack, or a glob over ids (brackets end where a comment's do)."""
    pack = f.split_part("rule", f.lit("/"), f.lit(1))
    form = selector
    for sign, escaped in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
        form = f.replace(form, f.lit(sign), f.lit(escaped))
    return (f.col("rule") == selector) | (pack == selector) | (selector == f.lit("all")) | f.like("rule", form)
