"""Forks beside upstream: which versions of which messages are the same, only in the fork, or in collision."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.functions import Window, f
from kiplint.pipeline.lake.schema import Columns, TableFrame
from kiplint.pipeline.tables.contents import LINE, path_in_revision
from kiplint.pipeline.tables.matrix import RPC

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_WON = (
    *("same", "renamed", "new_tags", "where", "release", "up_message_name", "untagged"),
    *("field", "layout_text", "up_layout_text"),
)
"""What is kept of upstream's layout that is the most alike."""
SAME, ONLY, COLLISION = "same", "only-in-fork", "collision"


class Drift(TableFrame):
    """One row for each range of versions of a message in the newest set of a fork's line of history.

    Requests and responses meet by the API key that they claim, others by their names, so `upstream_name` may be
    another one; `difference` says what collides, `field` the first that travels otherwise, `layout` and
    `upstream_layout` all that travels. `same`: upstream has, or had, these versions with this layout.
    `collision`: it has them with other layouts only, and never had this one. `only-in-fork`: it never had these
    versions. `renamed` says of the same bytes that fields have other names, `new_tags` are tags that upstream's layout
    has not, which breaks nobody. The upstream columns name the last revision, and the last release, that has the
    layout, or the one that collides.
    """

    NAME = "drift"
    ABOUT = "For each message and version of each fork: same as upstream, only in the fork, or a collision."
    COLUMNS: ClassVar[Columns] = {
        "source": "string",
        "lineage": "string",
        "commit": "string",
        "message_name": "string",
        "type": "string",
        "lowest": "int",
        "highest": "int",
        "status": "string",
        "renamed": "boolean",
        "new_tags": "array<int>",
        "path": "string",
        "upstream_lineage": "string",
        "upstream_commit": "string",
        "upstream_release": "string",
        "api_key": "int",
        "upstream_name": "string",
        "difference": "string",
        "field": "string",
        "layout": "string",
        "upstream_layout": "string",
    }


MESSAGE = ("type", "claim")
"""What makes two messages rivals: their type, and the API key that they claim; without one their name."""
FORK = (*LINE, "commit", "path", "message_name", *MESSAGE)


def laid_out(sets: DataFrame, trees: DataFrame, files: DataFrame, layouts: DataFrame, messages: DataFrame) -> DataFrame:
    """The layouts of sets, with the path of the definition, and what each message claims."""
    placed = (
        sets.join(trees, "root").join(files, "tree").select(*sets.columns, "blob", path_in_revision().alias("path"))
    )
    keys = messages.select("blob", "api_key")
    return placed.join(layouts, "blob").join(keys, "blob").select("*", _claim().alias("claim")).drop("blob", "root")


def _claim() -> Column:
    rpcs = f.when(f.col("type").isin(*RPC), f.col("api_key").cast("string"))
    return f.coalesce(rpcs, "message_name")


def last_laid_out(
    sets: DataFrame, trees: DataFrame, files: DataFrame, layouts: DataFrame, messages: DataFrame
) -> DataFrame:
    """The layouts that sets have or had, each with the last of them that has it: no more rows than definitions have."""
    roots = _last(
        sets.select(
            "root",
            f.struct("lineage", "commit").alias("where"),
            "release",
            f.when(f.col("release").isNotNull(), f.col("time")).alias("released"),
            f.col("time").alias("last"),
        ),
        "root",
    )
    blobs = _last(_last(trees.join(roots, "root"), "tree").join(files, "tree"), "blob")
    claims = messages.select("blob", "api_key")
    claimed = blobs.join(layouts, "blob").join(claims, "blob").select("*", _claim().alias("claim"))
    return _last(claimed, *MESSAGE, "message_name", "lowest", "highest", "layout", "names", "tags", "shape")


def _last(rows: DataFrame, *columns: str) -> DataFrame:
    """For each value of columns the last place that has it, and the last release."""
    return rows.groupBy(*columns).agg(
        f.max_by("where", f.struct("last", "where")).alias("where"),
        f.max_by("release", f.struct("released", "release")).alias("release"),
        f.max("released").alias("released"),
        f.max("last").alias("last"),
    )


_RANGES = (*FORK, "lowest", "highest")


def drift_of(forks: DataFrame, known: DataFrame) -> DataFrame:
    """The drift of the forks' layouts from upstream's: as `laid_out` and `last_laid_out` give them."""
    theirs = known.select(
        *MESSAGE,
        *(
            f.col(name).alias(f"up_{name}")
            for name in ("message_name", "lowest", "highest", "layout", "names", "tags", "shape")
        ),
        "where",
        "release",
        "last",
    )
    pieces = _pieces(forks, theirs)
    status = f.when(f.col("won").isNull(), ONLY).when(f.col("won.same"), SAME).otherwise(COLLISION)
    columns = {
        "status": status,
        "renamed": f.coalesce("won.renamed", f.lit(False)),
        "new_tags": f.coalesce("won.new_tags", f.array().cast("array<int>")),
        "upstream_lineage": f.col("won.where.lineage"),
        "upstream_commit": f.col("won.where.commit"),
        "upstream_release": f.col("won.release"),
        "api_key": _api_key(),
        "upstream_name": f.col("won.up_message_name"),
        "difference": _difference(),
        "field": f.when(~f.col("won.same"), f.col("won.field")),
        "layout": f.when(~f.col("won.same"), f.col("won.layout_text")),
        "upstream_layout": f.when(~f.col("won.same"), f.col("won.up_layout_text")),
    }
    beside = pieces.select(*_RANGES).join(_closest(pieces, theirs), list(_RANGES), "left")
    return beside.select(*(columns[name].alias(name) if name in columns else f.col(name) for name in Drift.COLUMNS))


def _closest(pieces: DataFrame, theirs: DataFrame) -> DataFrame:
    """For each piece that upstream has or had the versions of, what it `won`: of upstream's layouts the most alike."""
    met = pieces.join(theirs, list(MESSAGE), "left").where(
        "up_lowest is null or (up_lowest <= lowest and up_highest >= highest)"
    )
    judged = met.where("up_lowest is not null").withColumns(
        {
            "same": _is_same(),
            "named": f.col("message_name") == f.col("up_message_name"),
            "renamed": f.col("names") != f.col("up_names"),
            "new_tags": _new_tags(),
            "untagged": f.col("layout") == f.col("up_layout"),
            "field": _field(),
            "layout_text": f.array_join("shape", "; "),
            "up_layout_text": f.array_join("up_shape", "; "),
        }
    )
    certain = "where", "up_message_name", "up_layout"
    best = f.struct("same", "named", ~f.col("renamed"), -f.size("new_tags"), "last", *certain)
    return judged.groupBy(*_RANGES).agg(f.max_by(f.struct(*_WON), best).alias("won"))


def _api_key() -> Column:
    return f.when(f.col("type").isin(*RPC), f.col("claim").try_cast("int"))


def _difference() -> Column:
    """What collides, in words: the key that both claim, the bytes, or what one tag holds."""
    other = f.col("won.up_message_name") != f.col("message_name")
    words = f.lit("API key "), f.col("claim"), f.lit(" is upstream's "), f.col("won.up_message_name")
    what = f.when(f.col("won.untagged"), "a tag holds something else").otherwise("the bytes differ")
    return f.when(~f.col("won.same"), f.when(other, f.concat_ws("", *words)).otherwise(what))


def _field() -> Column:
    """The first field that does not travel as upstream's in its place: a shape has its path, a blank, and how."""
    pairs = f.arrays_zip("shape", "up_shape")
    differs = f.get(f.filter(pairs, lambda pair: ~_how(pair["shape"]).eqNullSafe(_how(pair["up_shape"]))), 0)
    return f.substring_index(f.coalesce(differs["shape"], differs["up_shape"]), " ", 1)


def _how(text: Column) -> Column:
    return f.substr(text, f.instr(text, " "))


def _pieces(forks: DataFrame, theirs: DataFrame) -> DataFrame:
    """The forks' ranges, cut where upstream's begin or end, so that no piece is met halfway."""
    cuts = theirs.select(*MESSAGE, f.explode(f.array("up_lowest", f.col("up_highest") + 1)).alias("cut")).distinct()
    own = [*FORK, "lowest", "highest", "layout", "names", "tags", "shape"]
    inner = forks.join(cuts, list(MESSAGE), "left").where("cut is null or (cut > lowest and cut <= highest)")
    starts = forks.select(*own, f.col("lowest").alias("cut")).unionByName(
        inner.where("cut is not null").select(*own, "cut")
    )
    along = Window.partitionBy(*FORK, "lowest").orderBy("cut")
    return (
        starts.withColumn("next", f.lead("cut").over(along))
        .withColumn("piece_end", f.coalesce(f.col("next") - 1, f.col("highest")))
        .select(
            *FORK, f.col("cut").alias("lowest"), f.col("piece_end").alias("highest"), "layout", "names", "tags", "shape"
        )
    )


def _is_same() -> Column:
    """Whether bytes are equal: the layouts, and what each tag that both have holds (KIP-482)."""

    def differs(ours: Column) -> Column:
        return f.exists("up_tags", lambda theirs: _is_same_tag(ours, theirs) & (ours["layout"] != theirs["layout"]))

    return (f.col("layout") == f.col("up_layout")) & ~f.exists("tags", differs)


def _new_tags() -> Column:
    new = f.filter("tags", lambda ours: ~f.exists("up_tags", lambda theirs: _is_same_tag(ours, theirs)))
    return f.transform(new, lambda tag: tag["tag"])


def _is_same_tag(ours: Column, theirs: Column) -> Column:
    return (ours["path"] == theirs["path"]) & (ours["tag"] == theirs["tag"])
