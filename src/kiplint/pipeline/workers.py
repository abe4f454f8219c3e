"""The process of an executor that works for a stage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from kiplint.pipeline.functions import f, pc
from kiplint.pipeline.lake.schema import Columns, arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


PUT_ASIDE = 1 << 14
"""So many objects take longer to look through than ten definitions."""


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected.

    Spark collects after each task all the same. What has outlived one, the compiled rules above all, is put aside, so
    that it is not looked through again. Only there: a process that ends by itself would complain of what is left.
    """
    gc.disable()
    if in_a_task() and len(gc.get_objects()) > PUT_ASIDE:
        gc.freeze()


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    known = sys.modules.get("pyspark.taskcontext")
    return bool(known and known.TaskContext.get())


MOST_BYTES = 16 << 20
"""The sum of the sizes of a chunk's sets, each counted in full."""
SENT_EVERYWHERE = 1 << 16
"""Up to so many rows without texts are broadcast to the tasks that read texts; more are shuffled."""
USES: Columns = {
    "chunk": "bigint",
    "blob": "string",
    "tree": "array<string>",
    "name": "array<string>",
    "fresh": "array<boolean>",
}
ROWS: Columns = {"chunk": "bigint", "blob": "string", "data": "binary", **dict(list(USES.items())[2:])}


class Use(NamedTuple):
    """One file of a set; `fresh` states that it is checked alone here, and nowhere else."""

    name: str
    blob: str
    data: bytes
    fresh: bool


def tree_sizes(files: pa.Table, blobs: pa.Table) -> pa.Table:
    """For each tree of `files` the bytes of its texts: tree, size. `blobs` has blob and size."""
    at = pc.index_in(files["blob"], value_set=blobs["blob"].combine_chunks())
    sizes = pc.fill_null(blobs["size"].take(at), 0).cast(pa.int64())
    summed = pa.table([files["tree"], sizes], ["tree", "size"]).group_by("tree").aggregate([("size", "sum")])
    return summed.select(["tree", "size_sum"]).rename_columns(["tree", "size"])


def chunk_numbers(groups: Iterable[object], sizes: Iterable[int]) -> list[int]:
    """The numbers of chunks for rows in order: neighbours of one group, up to `MOST_BYTES` together."""
    numbers: list[int] = []
    number, filled, before = -1, 0, object()
    for group, size in zip(groups, sizes, strict=True):
        filled += size
        if group != before or filled > MOST_BYTES:
            number, filled, before = number + 1, size, group
        numbers.append(number)
    return numbers


def uses_of(files: pa.Table, chunks: pa.Table) -> pa.Table:
    """The rows `USES` of the files (tree, name, blob, fresh) of trees in chunks (chunk, tree)."""
    placed = files.join(chunks, "tree", join_type="inner")
    lists = [("tree", "list"), ("name", "list"), ("fresh", "list")]
    grouped = placed.group_by(["chunk", "blob"]).aggregate(lists)
    columns = [grouped["chunk"], grouped["blob"], *(grouped[f"{name}_list"] for name in ("tree", "name", "fresh"))]
    return pa.table(columns, list(USES)).cast(arrow_schema(USES))


def texts_by_chunk(uses: DataFrame, blobs: DataFrame, rows: int, tasks: int, shares: int) -> DataFrame:
    """Texts with their uses in so many shares: the columns `ROWS`, those of one chunk together.

    `uses` are about so many `rows` of `USES`.
    """
    joined = join_blobs(uses, blobs, rows, tasks)
    return joined.select(*ROWS).repartition(shares, "chunk").sortWithinPartitions("chunk")


def join_blobs(uses: DataFrame, blobs: DataFrame, rows: int, tasks: int) -> DataFrame:
    """The wanted rows, about so many, with the column `data`; blobs are moved at most once, and never sorted."""
    known = blobs.select("blob", "data")
    if rows <= SENT_EVERYWHERE:
        return known.join(f.broadcast(uses), "blob")
    uses = uses.repartition(tasks, "blob").hint("shuffle_hash")
    return known.repartition(tasks, "blob").join(uses, "blob")


def sets_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, dict[str, list[Use]]]]:
    """The chunks out of such rows: the number, and the files of each tree in the order of their names."""
    current = -1
    trees: dict[str, list[Use]] = {}
    for rows in batches:
        for chunk, blob, data, *uses in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            if chunk != current:
                if trees:
                    yield current, _sorted(trees)
                current, trees = chunk, {}
            for tree, name, fresh in zip(*uses, strict=True):
                trees.setdefault(tree, []).append(Use(name, blob, data, fresh))
    if trees:
        yield current, _sorted(trees)


def _sorted(trees: dict[str, list[Use]]) -> dict[str, list[Use]]:
    return {tree: sorted(files) for tree, files in trees.items()}
