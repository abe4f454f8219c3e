"""How findings ended: what was different in the first revision without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiplint.pipeline.late import f
from kiplint.pipeline.tables.sets import LINE
from kiplint.pipeline.tables.trees import path_in_revision

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
    asked = at.select(*LIFE, "rule", "root", f.col("blob").alias("old_blob"), who).where("who <> ''")
    marks = (
        blobs.where(f.col("data").isNotNull()).select("blob", _selectors().alias("marks")).where(f.size("marks") > 0)
    )
    old = marks.select(f.col("blob").alias("old_blob"), f.col("marks").alias("old_marks"))
    met = asked.join(there, ["root", "who"], "left").join(marks, "blob", "left").join(old, "old_blob", "left")
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
    return f.transform(f.split(f.array_join(inside, ","), ","), lambda one: f.trim(one, f.lit(" \t")))


def _count(side: str) -> Column:
    return f.when(f.col(side).isNull(), f.lit(0)).otherwise(f.size(f.filter(side, _matches)))


def _matches(one: Column) -> Column:
    """Whether a selector means the rule: its id, its pack, or a glob over ids (brackets end where a comment's do)."""
    pack = f.split_part("rule", f.lit("/"), f.lit(1))
    form = one
    for sign, said in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
        form = f.replace(form, f.lit(sign), f.lit(said))
    return (f.col("rule") == one) | (pack == one) | (one == f.lit("all")) | f.like("rule", form)
