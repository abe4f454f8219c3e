"""Python functions over the rows of a DataFrame, by partition or by group. Rows reach tasks and return as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Row = Mapping[str, Any]
"""The values of a row by column; columns that a row lacks are null."""
BATCH_ROWS: Final = 200


def map_rows(rows: DataFrame, function: Callable[[Iterable[Row]], Iterable[Row]], schema: StructType) -> DataFrame:
    """The rows that a function makes of all rows of a partition, which are sent in batches."""
    arrow_schema = _arrow_schema(schema)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        results = iter(function(row for batch in batches for row in batch.to_pylist()))
        while batch_rows := list(islice(results, BATCH_ROWS)):
            yield pa.RecordBatch.from_pylist(batch_rows, arrow_schema)

    return rows.mapInArrow(run, schema)


def map_groups(
    rows: DataFrame, function: Callable[[Sequence[Row]], Iterable[Row]], schema: StructType, key: str
) -> DataFrame:
    """The rows that a function makes of the rows of each group."""
    arrow_schema = _arrow_schema(schema)

    def run(group: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([*function(group.to_pylist())], arrow_schema)

    return rows.groupBy(key).applyInArrow(run, schema)


def map_cogroups(
    left: DataFrame,
    right: DataFrame,
    function: Callable[[Sequence[Row], Sequence[Row]], Iterable[Row]],
    schema: StructType,
    *keys: str,
) -> DataFrame:
    """The rows that a function makes of the rows of two frames with the same keys."""
    arrow_schema = _arrow_schema(schema)

    def run(left_group: pa.Table, right_group: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([*function(left_group.to_pylist(), right_group.to_pylist())], arrow_schema)

    right = right.toDF(*right.columns)  # new ids for columns that both frames may have from one table
    groups = left.groupBy(*keys).cogroup(right.groupBy(*keys))
    return groups.applyInArrow(run, schema)


def escape_non_utf8(text: str) -> str:
    """A text of git, with escapes for bytes that are not UTF-8: as surrogates, Arrow would reject them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _arrow_schema(schema: StructType) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")
