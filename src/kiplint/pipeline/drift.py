"""The newest revision of each fork beside all that upstream has, or had: the same, only in the fork, or a collision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from kiplint.pipeline.rows import Row, arrow, cogroup, table
from kiplint.pipeline.spans import RPC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake

RIVALS: Final = ["type", "claim"]
"""Messages of a type meet by the API key that they claim, those without one by their names."""
NEVER: Final = datetime(1, 1, 1, tzinfo=UTC)


def drift(lake: Lake) -> DataFrame:
    """The drift of all sources but upstream."""
    is_rpc = F.col("type").isin(*RPC)
    claim = F.when(is_rpc, F.coalesce(F.col("api_key").cast("string"), "message_name")).otherwise(F.col("message_name"))
    messages = lake.read("messages").where("layouts IS NOT NULL").withColumn("claim", claim)
    messages = messages.select("blob", *RIVALS, "message_name", "api_key", "layouts")
    files = lake.read("sets").join(lake.read("files"), "tree")
    revisions = lake.read("revisions")
    revision, released = F.struct("time", "lineage", "commit"), F.struct("time", "release")
    theirs = (
        revisions.where(F.col("source") == lake.upstream)
        .join(files, "root")
        .groupBy("blob")
        .agg(F.max(revision).alias("last"), F.max(F.when(F.col("release").isNotNull(), released)).alias("released"))
    )
    newest = (
        revisions.where(F.col("source") != lake.upstream)
        .groupBy("source", "lineage")
        .agg(F.max_by("commit", "position").alias("commit"), F.max_by("root", "position").alias("root"))
    )
    path = F.concat_ws("/", F.expr("nullif(directory, '')"), "name")
    ours = newest.join(files, "root").select("source", "lineage", "commit", path.alias("path"), "blob")
    schema = lake.schemas["drift"]
    rivals = cogroup(ours.join(messages, "blob"), theirs.join(messages, "blob"), *RIVALS)
    return rivals.applyInArrow(find_drift_in_arrow(arrow(schema)), schema)


def find_drift_in_arrow(schema: pa.Schema) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The function that turns the rival messages of forks and upstream into drift."""

    def run(forks: pa.Table, upstream: pa.Table) -> pa.Table:
        theirs = list(_newest(upstream.to_pylist()))
        by_blob: dict[str, list[Row]] = {}
        rows = []
        for fork in forks.to_pylist():
            if fork["blob"] not in by_blob:
                by_blob[fork["blob"]] = list(drift_of(fork, theirs))
            api_key = int(fork["claim"]) if fork["type"] in RPC and fork["claim"].lstrip("-").isdigit() else None
            rows += [{**fork, **row, "api_key": api_key} for row in by_blob[fork["blob"]]]
        return table(schema, rows)

    return run


def _newest(messages: Iterable[Row]) -> Iterator[Row]:
    """The layouts of upstream, each with the last revision and the last release that has it."""
    layouts: dict[str, dict[str, Any]] = {}
    for message in messages:
        for layout in message["layouts"]:
            row = layouts.setdefault(
                repr((message["message_name"], layout)), {**layout, "name": message["message_name"]}
            )
            for column in ("last", "released"):
                row[column] = max(row.get(column), message[column], key=_age)
    return iter(layouts.values())


def _age(revision: Row | None) -> tuple[Any, ...]:
    values = (value or NEVER if name == "time" else value for name, value in (revision or {}).items())
    return (revision is not None, *values)


def drift_of(fork: Row, upstream: Sequence[Row]) -> Iterator[Row]:
    """A row for each range of versions of a message of a fork, by the layouts of upstream."""
    for mine in fork["layouts"]:
        edges = {edge for theirs in upstream for edge in (theirs["lowest"], theirs["highest"] + 1)}
        cuts = [mine["lowest"], *sorted(edge for edge in edges if mine["lowest"] < edge <= mine["highest"])]
        for lowest, after in pairwise([*cuts, mine["highest"] + 1]):
            rivals = (theirs for theirs in upstream if theirs["lowest"] <= lowest and theirs["highest"] >= after - 1)
            closest = max(rivals, key=lambda theirs: _likeness(fork["message_name"], mine, theirs), default=None)
            status = _status(fork, mine, closest) if closest else {"status": "only-in-fork"}
            yield {"renamed": False, "new_tags": [], **status, "lowest": lowest, "highest": after - 1}


def _likeness(name: str, mine: Row, theirs: Row) -> tuple[Any, ...]:
    """The order in which layouts of upstream are like one of a fork: the last of the closest counts."""
    is_named, is_kept = name == theirs["name"], mine["names"] == theirs["names"]
    return (
        _is_same(mine, theirs),
        is_named,
        is_kept,
        -len(_new_tags(mine, theirs)),
        _age(theirs["last"]),
        theirs["name"],
    )


def _tags(layout: Row) -> dict[tuple[str, int], str]:
    return {(tag["path"], tag["tag"]): tag["layout"] for tag in layout["tags"]}


def _is_same(mine: Row, theirs: Row) -> bool:
    """Whether all bytes are the same, but for tags that only one of them has."""
    other = _tags(theirs)
    return mine["layout"] == theirs["layout"] and all(other.get(tag, what) == what for tag, what in _tags(mine).items())


def _new_tags(mine: Row, theirs: Row) -> list[int]:
    return [tag["tag"] for tag in mine["tags"] if (tag["path"], tag["tag"]) not in _tags(theirs)]


def _status(fork: Row, mine: Row, theirs: Row) -> Row:
    same = _is_same(mine, theirs)
    row = {
        "status": "same" if same else "collision",
        "renamed": mine["names"] != theirs["names"],
        "new_tags": _new_tags(mine, theirs),
        "upstream_name": theirs["name"],
        "upstream_lineage": theirs["last"]["lineage"],
        "upstream_commit": theirs["last"]["commit"],
        "upstream_release": theirs["released"]["release"] if theirs["released"] else None,
    }
    if same:
        return row
    if theirs["name"] != fork["message_name"]:
        difference = f"API key {fork['claim']} is upstream's {theirs['name']}"
    else:
        difference = "a tag holds something else" if mine["layout"] == theirs["layout"] else "the bytes differ"
    pairs = zip_longest(mine["shape"], theirs["shape"], fillvalue="")
    other = next((ours or their for ours, their in pairs if ours.partition(" ")[2] != their.partition(" ")[2]), "")
    return {
        **row,
        "difference": difference,
        "field": other.partition(" ")[0] or None,
        "layout": "; ".join(mine["shape"]),
        "upstream_layout": "; ".join(theirs["shape"]),
    }
