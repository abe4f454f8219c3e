"""Texts for executors, in the order in which sets need them: no row holds more than one, no text comes twice.

A row is a text with its uses in one chunk: the trees that hold it, its name in each, and whether that use is the one
by which it is checked alone. Rows of a chunk follow one another, so that a worker holds one chunk at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.late import Window, f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SENT_EVERYWHERE = 1 << 16
"""So many rows without texts are sent to where the texts are; more and they meet halfway."""

ROWS: Columns = {
    "chunk": "bigint",
    "blob": "string",
    "data": "binary",
    "tree": "array<string>",
    "name": "array<string>",
    "fresh": "array<boolean>",
}


class Use(NamedTuple):
    """One file of a set; `fresh` says that it is checked alone here, and nowhere else."""

    name: str
    blob: str
    data: bytes
    fresh: bool


def near(df: DataFrame, rows: int) -> DataFrame:
    """The side of a join with about so many rows: if these are few, they are sent to the other side."""
    return f.broadcast(df) if rows <= SENT_EVERYWHERE else df


def first_uses(files: DataFrame, tasks: int) -> DataFrame:
    """The rows with a column `fresh`: true in one of all uses of a text under a name. Brings texts together."""
    order = Window.partitionBy("blob", "name").orderBy("tree")
    return files.repartition(tasks, "blob").withColumn("fresh", f.row_number().over(order) == 1)


def tree_sizes(files: DataFrame, blobs: DataFrame, rows: int, tasks: int) -> DataFrame:
    """The trees of files, about so many rows: tree, and the bytes of its texts as `size`."""
    sized = join_blobs(files.select("tree", "blob"), blobs, "size", rows, tasks)
    return sized.groupBy("tree").agg(f.sum("size").alias("size"))


def texts_by_chunk(uses: DataFrame, blobs: DataFrame, rows: int, tasks: int, shares: int) -> DataFrame:
    """Texts with their uses in so many shares: the columns `ROWS`, those of one chunk together.

    `uses` has chunk (bigint), tree, name, blob and fresh, about so many `rows`.
    """
    lists = (f.collect_list(name).alias(name) for name in ("tree", "name", "fresh"))
    listed = uses.repartition(tasks, "blob").groupBy("blob", "chunk").agg(*lists)
    joined = join_blobs(listed, blobs, "data", rows, tasks)
    return joined.select(*ROWS).repartition(shares, "chunk").sortWithinPartitions("chunk")


def join_blobs(wanted: DataFrame, blobs: DataFrame, told: str, rows: int, tasks: int) -> DataFrame:
    """The wanted rows, about so many, with the column `told`; blobs are moved at most once, and never sorted."""
    known = blobs.select("blob", told)
    if rows <= SENT_EVERYWHERE:
        return known.join(f.broadcast(wanted), "blob")
    wanted = wanted.repartition(tasks, "blob").hint("shuffle_hash")
    return known.repartition(tasks, "blob").join(wanted, "blob")


def sets_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[Use]]]:
    """The sets out of such rows: tree and files in the order of their names."""
    current: int | None = None
    trees: dict[str, list[Use]] = {}
    for one in batches:
        for chunk, blob, data, *uses in zip(*(column.to_pylist() for column in one.columns), strict=True):
            if chunk != current:
                yield from _sorted(trees)
                current, trees = chunk, {}
            for tree, name, fresh in zip(*uses, strict=True):
                trees.setdefault(tree, []).append(Use(name, blob, data, fresh))
    yield from _sorted(trees)


def _sorted(trees: dict[str, list[Use]]) -> Iterator[tuple[str, list[Use]]]:
    for tree, files in trees.items():
        yield tree, sorted(files)
