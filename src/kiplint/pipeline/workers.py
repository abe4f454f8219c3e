"""What the workers of stages get, chunk by chunk: the texts of sets, each with all its uses in the chunk."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from kiplint.pipeline.lake.schema import Columns, columns
from kiplint.pipeline.tables import Blobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.stage import Work


MOST_BYTES = 16 << 20
"""The sum of the sizes of a chunk's sets, each counted in full."""
SENT_EVERYWHERE = 1 << 16
"""Up to so many rows without texts are broadcast to the tasks that read texts; more are shuffled."""
USES = columns("chunk bigint, blob, tree array<string>, name array<string>, fresh array<boolean>")
ROWS: Columns = {"chunk": "bigint", "blob": "string", "data": "binary", **dict(list(USES.items())[2:])}
USES_OF = """
SELECT c.chunk, f.blob, list(f.tree) AS tree, list(f.name) AS name, list(f.fresh) AS fresh
FROM placed f JOIN chunks c USING (tree) GROUP BY ALL ORDER BY ALL
"""


class Use(NamedTuple):
    """One file of a set; `fresh` states that it is checked alone here, and nowhere else."""

    name: str
    blob: str
    data: bytes
    fresh: bool


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected.

    Spark collects after each task all the same. What has outlived one, the compiled rules above all, is put aside, so
    that it is not looked through again. Only there: a process that ends by itself would complain of what is left.
    """
    gc.disable()
    if in_a_task():
        gc.freeze()


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    known = sys.modules.get("pyspark.taskcontext")
    return bool(known and known.TaskContext.get())


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


def texts_by_chunk(work: Work, placed: pa.Table, chunks: pa.Table, items: int) -> DataFrame:
    """Texts with their uses: the columns `ROWS`, those of one chunk together, in shares for so many items.

    `placed` are files of trees (tree, name, blob, fresh), `chunks` the trees of each (chunk, tree).
    """
    uses = work.query(USES_OF, placed=placed, chunks=chunks)
    tasks = work.tasks(items)
    joined = join_blobs(work, work.local(USES, uses), uses.num_rows, tasks)
    return joined.select(*ROWS).repartition(work.shares(tasks), "chunk").sortWithinPartitions("chunk")


def join_blobs(work: Work, rows: DataFrame, count: int, tasks: int) -> DataFrame:
    """The rows, about so many, with the column `data`; blobs are moved at most once, and never sorted."""
    from pyspark.sql.functions import broadcast

    known = work.frame(Blobs).select("blob", "data")
    if count <= SENT_EVERYWHERE:
        return known.join(broadcast(rows), "blob")
    return known.repartition(tasks, "blob").join(rows.repartition(tasks, "blob").hint("shuffle_hash"), "blob")


def sets_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, dict[str, list[Use]]]]:
    """The chunks in these rows: the number of each, and the files of its trees in the order of their names."""
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
