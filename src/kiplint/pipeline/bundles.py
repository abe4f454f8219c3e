"""Work for executors that needs several texts at once: a row holds some sets or pairs, each distinct text once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kiplint.pipeline.late import Window, f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


MOST_BYTES = 16 << 20
"""What the sets of one row may have together, each counted in full: neighbours share most of their files."""


def chunks(work: DataFrame, line: tuple[str, ...], size: str) -> DataFrame:
    """The rows with a column `chunk`: neighbours along a line, ordered by position, up to a sum of sizes."""
    order = Window.partitionBy(*line).orderBy("position").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    number = f.floor(f.sum(size).over(order) / MOST_BYTES)
    return work.withColumn("chunk", f.concat_ws("\0", *line, number.cast("string")))


def with_texts(chosen: DataFrame, files: DataFrame, blobs: DataFrame) -> DataFrame:
    """Rows of chunk, files and texts.

    `chosen` says which trees a chunk needs (chunk, tree). `files` become a list of (tree, name, blob), `texts` one of
    (blob, data).
    """
    placed = chosen.distinct().join(files, "tree")
    listed = placed.groupBy("chunk").agg(f.collect_list(f.struct("tree", "name", "blob")).alias("files"))
    needed = placed.select("chunk", "blob").distinct().join(blobs.select("blob", "data"), "blob")
    texts = needed.groupBy("chunk").agg(f.collect_list(f.struct("blob", "data")).alias("texts"))
    return listed.join(texts, "chunk")


def trees_of(row: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """The trees of one such row, as (name, blob, data) in the order of names."""
    texts = {one["blob"]: one["data"] for one in row["texts"]}
    trees: dict[str, list[tuple[str, str, bytes]]] = {}
    for one in row["files"]:
        if one["blob"] in texts:
            trees.setdefault(one["tree"], []).append((one["name"], one["blob"], texts[one["blob"]]))
    for tree, files in trees.items():
        yield tree, sorted(files)
