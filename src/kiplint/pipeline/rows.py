"""Rows on their way to the functions of kiplint, which tasks have as Arrow, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Row = Mapping[str, Any]


def spread(rows: DataFrame, *keys: str) -> DataFrame:
    """Rows over partitions for all cores: by itself Spark joins small ones, however much work they are for Python."""
    return rows.repartition(4 * _cores(rows.sparkSession), *keys)


def map_rows(
    rows: DataFrame, function: Callable[[Iterable[Row]], Iterable[Row]], schema: StructType, size: int
) -> DataFrame:
    """What a function makes of the rows of each partition, in batches of `size`; columns that a row lacks are null."""
    arrow_schema = _arrow(schema)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        results = iter(function(row for batch in batches for row in batch.to_pylist()))
        while some := list(islice(results, size)):
            yield pa.RecordBatch.from_pylist(some, arrow_schema)

    return rows.mapInArrow(run, schema)


def map_groups(
    rows: DataFrame, function: Callable[[Sequence[Row]], Iterable[Row]], schema: StructType, *keys: str
) -> DataFrame:
    """What a function makes of the rows of each group."""
    arrow_schema = _arrow(schema)

    def run(group: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([*function(group.to_pylist())], arrow_schema)

    return spread(rows, *keys).groupBy(*keys).applyInArrow(run, schema)


def map_cogroups(
    left: DataFrame,
    right: DataFrame,
    function: Callable[[Sequence[Row], Sequence[Row]], Iterable[Row]],
    schema: StructType,
    *keys: str,
) -> DataFrame:
    """What a function makes of the rows of each group in two frames; `toDF` tells columns of one table apart."""
    arrow_schema = _arrow(schema)

    def run(left_group: pa.Table, right_group: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([*function(left_group.to_pylist(), right_group.to_pylist())], arrow_schema)

    groups = spread(left, *keys).groupBy(*keys).cogroup(spread(right.toDF(*right.columns), *keys).groupBy(*keys))
    return groups.applyInArrow(run, schema)


def text(value: str) -> str:
    """Text in which bytes that are no UTF-8 are escapes: Python has them as lone surrogates, which Arrow refuses."""
    return value.encode("utf-8", "backslashreplace").decode()


def _arrow(schema: StructType) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def _cores(spark: SparkSession) -> int:
    if type(spark).__module__.startswith("pyspark.sql.connect"):  # which cannot tell
        return int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    return spark.sparkContext.defaultParallelism
