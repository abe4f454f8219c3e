"""The stage `drift`: whether the versions of messages of a fork are the same in upstream, only there, or collide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_cogroups
from kiplint.pipeline.spans import PATH, RPC_TYPES

MESSAGE_KEY: Final = ["type", "identity"]
"""Messages of a fork and upstream are compared if both are equal. The identity is the API key, otherwise the name."""


def drift(lake: Lake) -> DataFrame:
    """All rows of the table `drift`, of all sources but upstream.

    Reads `revisions`, `sets`, `files` and `messages`. The key is (source, lineage, path, lowest).
    """
    revisions = lake.read("revisions")
    files = lake.read("sets").join(lake.read("files"), "tree")
    api_key = F.when(F.col("type").isin(*RPC_TYPES), F.col("api_key"))
    identity = F.coalesce(F.col("api_key").cast("string"), "message_name").alias("identity")
    messages = (
        lake.read("messages")
        .where("layouts IS NOT NULL")
        .withColumn("api_key", api_key)
        .select("blob", "type", identity, "message_name", "api_key", "layouts")
    )
    is_upstream = F.col("source") == lake.upstream

    # The messages of the newest revision of each fork
    newest_commit = F.max_by("commit", "position").alias("commit")
    newest_root = F.max_by("root", "position").alias("root")
    fork_tips = revisions.where(~is_upstream).groupBy("source", "lineage").agg(newest_commit, newest_root)
    fork_files = fork_tips.join(files, "root").select("source", "lineage", "commit", F.expr(PATH).alias("path"), "blob")
    fork_files = fork_files.where("path NOT LIKE '%src/test/%'")
    fork_messages = fork_files.select("blob").distinct().join(messages, "blob")  # forks have most of them in common

    # The layouts that upstream has or had, with the last revision and release that have each
    release = F.when(F.col("release").isNotNull(), F.struct("version", "release"))
    last_revision = F.max(F.struct("time", "lineage", "commit")).alias("last_revision")
    last_release = F.max(release).alias("last_release")
    upstream_files = revisions.where(is_upstream).join(files, "root")
    upstream_blobs = upstream_files.groupBy("blob").agg(last_revision, last_release)
    upstream_layouts = (
        upstream_blobs.join(messages, "blob")
        .withColumn("layout", F.explode("layouts"))
        .groupBy(*MESSAGE_KEY, "message_name", "layout")
        .agg(F.max("last_revision").alias("last_revision"), F.max("last_release").alias("last_release"))
    )
    fields = [field for field in lake.schemas["drift"] if field.name not in fork_files.columns]
    schema = StructType([StructField("blob", StringType()), *fields])
    comparisons = map_cogroups(fork_messages, upstream_layouts, find_drift, schema, *MESSAGE_KEY)
    return fork_files.join(comparisons, "blob")


def find_drift(fork_messages: Sequence[Row], upstream_layouts: Sequence[Row]) -> Iterator[Row]:
    """What the table `drift` has of contents of forks, compared with upstream's layouts of the same MESSAGE_KEY."""
    upstream = [{**row, **row["layout"]} for row in upstream_layouts]
    for fork in fork_messages:
        yield from ({**fork, **columns} for columns in compare_layouts(fork, upstream))


def compare_layouts(fork: Row, upstream: Sequence[Row]) -> Iterator[Row]:
    """The columns of a message of a fork, for each range of its versions in which no layout of either side changes.

    `upstream` has the layouts of all revisions of upstream, so several may have a version: the closest one counts.
    """
    starts = {start for theirs in upstream for start in (theirs["lowest"], theirs["highest"] + 1)}
    for ours in fork["layouts"]:
        inner_starts = sorted(start for start in starts if ours["lowest"] < start <= ours["highest"])
        for lowest, next_lowest in pairwise([ours["lowest"], *inner_starts, ours["highest"] + 1]):
            highest = next_lowest - 1
            candidates = [row for row in upstream if row["lowest"] <= lowest and highest <= row["highest"]]
            if candidates:
                closest = max(candidates, key=lambda theirs: _likeness(fork["message_name"], ours, theirs))
                columns = _comparison(fork, ours, closest)
            else:
                columns = {"status": "only-in-fork", "new_tags": []}
            yield {**columns, "lowest": lowest, "highest": highest}


def _likeness(message_name: str, ours: Row, theirs: Row) -> tuple[Any, ...]:
    """A sort key of upstream's layouts: the greatest is the most like ours, and of equally like ones the newest."""
    return (
        _has_same_bytes(ours, theirs),
        message_name == theirs["message_name"],
        ours["names"] == theirs["names"],
        -len(_new_tags(ours, theirs)),
        *theirs["last_revision"].values(),
        theirs["message_name"],
    )


def _tags(layout: Row) -> dict[tuple[str, int], str]:
    """The digests of the tagged fields of a layout, by the path of their struct and by tag."""
    return {(tag["path"], tag["tag"]): tag["layout"] for tag in layout["tags"]}


def _has_same_bytes(ours: Row, theirs: Row) -> bool:
    """Whether two layouts are the same, apart from tags that only one of them has."""
    their_tags = _tags(theirs)
    has_same_tags = all(their_tags.get(tag, digest) == digest for tag, digest in _tags(ours).items())
    return has_same_tags and bool(ours["layout"] == theirs["layout"])


def _new_tags(ours: Row, theirs: Row) -> list[int]:
    """Our tags that upstream's layout lacks."""
    their_tags = _tags(theirs)
    return [tag["tag"] for tag in ours["tags"] if (tag["path"], tag["tag"]) not in their_tags]


def _comparison(fork: Row, ours: Row, theirs: Row) -> Row:
    """The columns that compare a layout of a message of a fork with the closest of upstream."""
    columns = {
        "status": "same",
        "new_tags": _new_tags(ours, theirs),
        "upstream_name": theirs["message_name"],
        "upstream_commit": theirs["last_revision"]["commit"],
        "upstream_release": theirs["last_release"]["release"] if theirs["last_release"] else None,
    }
    if _has_same_bytes(ours, theirs):
        return columns
    if theirs["message_name"] != fork["message_name"]:
        difference = f"API key {fork['identity']} is upstream's {theirs['message_name']}"
    elif ours["layout"] == theirs["layout"]:
        difference = "a tag has another meaning"
    else:
        difference = "the bytes differ"
    field = _first_difference(ours["shape"], theirs["shape"])
    return {**columns, "status": "collision", "difference": difference, "field": field}


def _first_difference(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """The path of the first field whose type differs, in two lists of lines such as `Topics.Name compact string`."""
    for our_line, their_line in zip_longest(ours, theirs, fillvalue=""):
        our_path, _, our_type = our_line.partition(" ")
        their_path, _, their_type = their_line.partition(" ")
        if our_type != their_type:
            return our_path or their_path
    return None
