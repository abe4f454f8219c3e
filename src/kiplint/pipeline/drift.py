"""The newest revision of each fork beside all that upstream has, or had: the same, only in the fork, or a collision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from kiplint.pipeline.rows import Row, map_cogroups
from kiplint.pipeline.spans import PATH, RPC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake

RIVALS: Final = ["type", "claim"]
"""Messages of a type meet by the API key that they claim, those without one by their names."""


def drift(lake: Lake) -> DataFrame:
    """The drift of all sources but upstream."""
    api_key = F.when(F.col("type").isin(*RPC), F.col("api_key"))
    messages = lake.read("messages").where("layouts IS NOT NULL").withColumn("api_key", api_key)
    claim = F.coalesce(F.col("api_key").cast("string"), "message_name").alias("claim")
    messages = messages.select("blob", "type", claim, "message_name", "api_key", "layouts")
    files = lake.read("sets").join(lake.read("files"), "tree")
    revisions = lake.read("revisions")
    revision, release = F.struct("time", "lineage", "commit"), F.struct("time", "release")
    last = (
        F.max(revision).alias("last_revision"),
        F.max(F.when(F.col("release").isNotNull(), release)).alias("last_release"),
    )
    theirs = revisions.where(F.col("source") == lake.upstream).join(files, "root").groupBy("blob").agg(*last)
    theirs = theirs.join(messages, "blob").withColumn("layout", F.explode("layouts"))
    theirs = theirs.groupBy(*RIVALS, "message_name", "layout").agg(
        F.max("last_revision").alias("last_revision"), F.max("last_release").alias("last_release")
    )
    newest = (
        revisions.where(F.col("source") != lake.upstream)
        .groupBy("source", "lineage")
        .agg(F.max_by("commit", "position").alias("commit"), F.max_by("root", "position").alias("root"))
    )
    ours = newest.join(files, "root").select("source", "lineage", "commit", F.expr(PATH).alias("path"), "blob")
    return map_cogroups(ours.join(messages, "blob"), theirs, find_drift, lake.schemas["drift"], *RIVALS)


def find_drift(forks: Sequence[Row], upstream: Sequence[Row]) -> Iterator[Row]:
    """The drift of the rival messages of forks, by the layouts of upstream."""
    theirs = [{**row, **row["layout"]} for row in upstream]
    by_blob: dict[str, list[Row]] = {}
    for fork in forks:
        if fork["blob"] not in by_blob:
            by_blob[fork["blob"]] = list(drift_of(fork, theirs))
        yield from ({**fork, **row} for row in by_blob[fork["blob"]])


def drift_of(fork: Row, upstream: Sequence[Row]) -> Iterator[Row]:
    """A row for each range of versions of a message of a fork, by the layouts of upstream."""
    for mine in fork["layouts"]:
        edges = {edge for theirs in upstream for edge in (theirs["lowest"], theirs["highest"] + 1)}
        cuts = [mine["lowest"], *sorted(edge for edge in edges if mine["lowest"] < edge <= mine["highest"])]
        for lowest, after in pairwise([*cuts, mine["highest"] + 1]):
            rivals = (theirs for theirs in upstream if theirs["lowest"] <= lowest and theirs["highest"] >= after - 1)
            closest = max(rivals, key=lambda theirs: _likeness(fork["message_name"], mine, theirs), default=None)
            status = _status(fork, mine, closest) if closest else {"status": "only-in-fork", "new_tags": []}
            yield {**status, "lowest": lowest, "highest": after - 1}


def _likeness(name: str, mine: Row, theirs: Row) -> tuple[Any, ...]:
    """The order in which layouts of upstream are like one of a fork: the last of the closest counts."""
    is_named, is_kept = name == theirs["message_name"], mine["names"] == theirs["names"]
    new_tags, last = _new_tags(mine, theirs), theirs["last_revision"]
    return _is_same(mine, theirs), is_named, is_kept, -len(new_tags), *last.values(), theirs["message_name"]


def _tags(layout: Row) -> dict[tuple[str, int], str]:
    return {(tag["path"], tag["tag"]): tag["layout"] for tag in layout["tags"]}


def _is_same(mine: Row, theirs: Row) -> bool:
    """Whether all bytes are the same, but for tags that only one of them has."""
    other = _tags(theirs)
    return mine["layout"] == theirs["layout"] and all(other.get(tag, what) == what for tag, what in _tags(mine).items())


def _new_tags(mine: Row, theirs: Row) -> list[int]:
    return [tag["tag"] for tag in mine["tags"] if (tag["path"], tag["tag"]) not in _tags(theirs)]


def _status(fork: Row, mine: Row, theirs: Row) -> Row:
    row = {
        "status": "same",
        "new_tags": _new_tags(mine, theirs),
        "upstream_name": theirs["message_name"],
        "upstream_commit": theirs["last_revision"]["commit"],
        "upstream_release": theirs["last_release"]["release"] if theirs["last_release"] else None,
    }
    if _is_same(mine, theirs):
        return row
    if theirs["message_name"] != fork["message_name"]:
        difference = f"API key {fork['claim']} is upstream's {theirs['message_name']}"
    else:
        difference = "a tag holds something else" if mine["layout"] == theirs["layout"] else "the bytes differ"
    pairs = zip_longest(mine["shape"], theirs["shape"], fillvalue="")
    other = next((ours or their for ours, their in pairs if ours.partition(" ")[2] != their.partition(" ")[2]), "")
    return {**row, "status": "collision", "difference": difference, "field": other.partition(" ")[0] or None}
