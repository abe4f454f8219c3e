"""When each finding came and went, and each change came in, on every line of history, and which releases have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, cast

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from kiplint.pipeline.attribution import attribute
from kiplint.pipeline.changes import neighbours
from kiplint.pipeline.rows import Row, map_cogroups, map_groups, spread

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kiplint.pipeline.lake import Lake

LINE: Final = ["source", "lineage"]
RPC: Final = ("request", "response")
PATH: Final = "concat_ws('/', nullif(directory, ''), name)"


def spans(lake: Lake, sources: Collection[str]) -> DataFrame:
    """The spans of sources."""
    revisions = neighbours(lake.read("revisions", sources), lake.read("sets"))
    contents = spread(number_contents(revisions), *LINE).persist()
    changes = contents.join(lake.read("changes").where("rule IS NOT NULL"), ["old_root", "root"])
    names = last_names(changes)
    numbered_lives = findings_in_time(lake, contents, names).unionByName(changes_in_time(changes, names), True)
    dated_lives = at(at(numbered_lives, contents, "first", "introduced", "inner"), contents, "after", "fixed", "left")
    lives = spread(dated_lives, *LINE, "key").persist()
    lives_with_ends = lives.join(endings(lake, lives, changes), [*LINE, "key", "first"], "left")
    repositories = [(*line.key, line.location) for line in lake.lines]
    locations = lake.spark.createDataFrame(repositories, "source STRING, lineage STRING, location STRING")
    history = revisions.join(F.broadcast(locations), LINE).select(
        *LINE, "position", "commit", "time", "release", "location"
    )
    return map_cogroups(lives_with_ends, history, attribute, lake.schemas["spans"], "source")


def number_contents(revisions: DataFrame) -> DataFrame:
    """Of neighbours with the same content the first, with its rank on the line."""
    along = Window.partitionBy(*LINE).orderBy("position")
    return revisions.where("NOT old_root <=> root").withColumn("rank", F.row_number().over(along))


def identify(kind: str) -> Column:
    """What a message is known by: an RPC by its API key, any other by its name, or the last one that it got."""
    is_rpc = F.col(kind).isin(*RPC) & F.col("api_key").isNotNull()
    return F.when(is_rpc, F.concat_ws(" ", kind, "api_key")).otherwise(F.coalesce("last", "message_name"))


def key(kind: str, *columns: str) -> Column:
    """The same for a finding or change wherever its file lies, and whatever its message is called."""
    return F.substring(F.sha2(F.concat_ws("\0", "rule", identify(kind), *columns), 256), 1, 32)


def last_names(changes: DataFrame) -> DataFrame:
    """By source, the last name of messages that were renamed, but for RPCs."""
    renames = changes.where("kind = 'message-renamed'").where(~F.col("message_type").isin(*RPC))
    old = F.get_json_object("old", "$.name").alias("old")
    names = renames.select("source", "time", "position", old, F.col("message_name").alias("new"))
    schema = StructType.fromDDL("source STRING, message_name STRING, last STRING")
    return F.broadcast(map_groups(names, last_of_chain, cast(StructType, schema), "source"))


def last_of_chain(renames: Sequence[Row]) -> Iterator[Row]:
    """Old and new names of one source, each with the last name of its chain."""
    import networkx as nx

    rows = sorted(renames, key=itemgetter("time", "position"))
    newest = {row["new"]: at for at, row in enumerate(rows)}
    for names in nx.connected_components(nx.Graph([(row["old"], row["new"]) for row in rows])):
        last = max(names, key=lambda name: newest.get(name, -1))
        yield from ({"source": rows[0]["source"], "message_name": name, "last": last} for name in names)


def findings_in_time(lake: Lake, contents: DataFrame, names: DataFrame) -> DataFrame:
    """The lives of findings: from the `first` rank that has one to the one `after` the last."""
    files, findings = lake.read("files"), lake.read("findings").where("rule IS NOT NULL")
    alone = findings.where("tree IS NULL").drop("tree").join(files, ["name", "blob"])
    kinds = lake.read("messages").select("blob", "type", "api_key")
    by_tree = alone.unionByName(findings.where("tree IS NOT NULL")).join(kinds, "blob", "left")
    hint = F.when(F.col("instead") == "", "").otherwise(F.concat(F.lit("; write "), "instead"))
    shown = F.struct(
        F.expr(PATH).alias("path"),
        "rule",
        "severity",
        "message_name",
        F.concat("message", hint).alias("message"),
        "blob",
    )
    rows = contents.join(lake.read("sets"), "root").join(by_tree, "tree")
    rows = rows.join(names, ["source", "message_name"], "left")
    rows = rows.select(*LINE, "rank", key("type", "place").alias("key"), shown.alias("shown"))
    along = Window.partitionBy(*LINE, "key").orderBy("rank")
    newest = F.min(F.struct(-F.col("rank"), "shown")).getField("shown").alias("shown")
    islands = rows.withColumn("island", F.col("rank") - F.dense_rank().over(along)).groupBy(*LINE, "key", "island")
    lives = islands.agg(F.min("rank").alias("first"), (F.max("rank") + 1).alias("after"), newest)
    return lives.select(
        *LINE, F.lit("finding").alias("what"), "key", "first", "after", F.lit("").alias("field"), "shown.*"
    )


def changes_in_time(changes: DataFrame, names: DataFrame) -> DataFrame:
    """Changes: each is the step to a rank, and has no end."""
    rows = changes.join(names, ["source", "message_name"], "left")
    about = ("rule", "severity", "breaks", "message_name", "field", "path", "message")
    identity = key("message_type", "kind", "versions", "field").alias("key")
    return rows.select(*LINE, F.lit("change").alias("what"), identity, F.col("rank").alias("first"), *about)


def at(lives: DataFrame, contents: DataFrame, rank: str, event: str, how: str) -> DataFrame:
    """Lives with the revision at a rank."""
    columns = (F.col(name).alias(f"{event}_{name}") for name in ("position", "commit", "time", "release", "root"))
    return lives.join(contents.select(*LINE, F.col("rank").alias(rank), *columns), [*LINE, rank], how)


def endings(lake: Lake, lives: DataFrame, changes: DataFrame) -> DataFrame:
    """How findings ended, by what the first revision without them has under their path or message."""
    messages = lake.read("messages").select("blob", F.col("message_name").alias("there"), "ignores")
    there = lake.read("sets").join(lake.read("files"), "tree").join(messages, "blob", "left")
    there = there.select(
        F.col("root").alias("fixed_root"),
        F.expr(PATH).alias("place"),
        "there",
        "ignores",
        F.lit(True).alias("is_there"),
    )
    before = messages.select("blob", F.col("ignores").alias("ignored_before"))
    dropped = changes.where("rule = 'compat/version-dropped'").select(
        *LINE, F.col("position").alias("fixed_position"), "message_name", F.lit(True).alias("is_dropped")
    )
    fixed = lives.where("what = 'finding' AND fixed_root IS NOT NULL").alias("life")
    same = F.expr(
        "life.fixed_root = there.fixed_root AND (path = place OR message_name = there AND message_name <> '')"
    )
    rows = fixed.join(there.alias("there"), same, "left").join(before, "blob", "left")
    rows = rows.join(dropped.distinct(), [*LINE, "fixed_position", "message_name"], "left")
    is_hidden = F.expr("array_contains(ignores, rule) AND NOT array_contains(coalesce(ignored_before, array()), rule)")
    ended = (
        F.when(~F.coalesce(F.bool_or("is_there"), F.lit(False)), "message removed")
        .when(F.bool_or("is_dropped"), "version removed")
        .when(F.bool_or(is_hidden), "suppressed")
        .otherwise("fixed")
    )
    return rows.groupBy(*LINE, "key", "first").agg(ended.alias("ended"))
