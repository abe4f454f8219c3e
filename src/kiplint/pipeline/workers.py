"""What tasks in Python get: the texts of sets, chunk by chunk, each text with all its uses in the chunk."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from kiplint.pipeline.tables import Blobs
from kiplint.pipeline.work import Work

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

MOST_BYTES = 16 << 20
"""The sum of the sizes of a chunk's sets, each counted in full."""


class Use(NamedTuple):
    """One file of a set: its name, content and bytes."""

    name: str
    blob: str
    data: bytes


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    module = sys.modules.get("pyspark.taskcontext")
    return bool(module and module.TaskContext.get())


def chunk_of(line: str, order: str, size: str) -> str:
    """The number of a row's chunk, in Spark's SQL: neighbours on a line, up to `MOST_BYTES` together."""
    return f"floor(sum({size}) OVER (PARTITION BY {line} ORDER BY {order}) / {MOST_BYTES})"


def with_texts(work: Work, uses: DataFrame) -> DataFrame:
    """Rows with the column `blob`, and the text of each in `data`."""
    return work.table(Blobs, "blob", "data").join(uses, "blob")


def rows_of(batches: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The rows of a group."""
    return zip(*(column.to_pylist() for column in batches.columns), strict=True)


def sorted_sets(uses: Iterable[tuple[Any, Use]]) -> dict[Any, list[Use]]:
    """Files by their sets, in the order of their names."""
    sets: dict[Any, list[Use]] = {}
    for key, use in uses:
        sets.setdefault(key, []).append(use)
    return {key: sorted(files) for key, files in sets.items()}
