"""Rows on their way to Python, where a task has them as Arrow, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, PandasCogroupedOps, SparkSession
    from pyspark.sql.types import StructType

Row = Mapping[str, Any]


def spread(rows: DataFrame, *keys: str) -> DataFrame:
    """Rows over partitions for all cores: by itself Spark joins small ones, however much work they are for Python."""
    return rows.repartition(4 * _cores(rows.sparkSession), *keys)


def cogroup(left: DataFrame, right: DataFrame, *keys: str) -> PandasCogroupedOps:
    """The groups of two frames; `toDF` tells columns apart that both have from one table."""
    return spread(left, *keys).groupBy(*keys).cogroup(spread(right.toDF(*right.columns), *keys).groupBy(*keys))


def arrow(schema: StructType) -> pa.Schema:
    """The Arrow schema of a Spark schema."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def table(schema: pa.Schema, rows: Iterable[Row]) -> pa.Table:
    """Rows as Arrow; columns that a row lacks are null."""
    return pa.Table.from_pylist([*rows], schema)


def batches(schema: pa.Schema, rows: Iterable[Row], size: int = 1000) -> Iterator[pa.RecordBatch]:
    """The same as a stream of batches with `size` rows each."""
    remaining = iter(rows)
    while some := list(islice(remaining, size)):
        yield pa.RecordBatch.from_pylist(some, schema)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """The rows of batches."""
    return (row for batch in batches for row in batch.to_pylist())


def text(value: str) -> str:
    """Text in which bytes that are no UTF-8 are escapes: Python has them as lone surrogates, which Arrow refuses."""
    return value.encode("utf-8", "backslashreplace").decode()


def _cores(spark: SparkSession) -> int:
    if type(spark).__module__.startswith("pyspark.sql.connect"):  # which cannot tell
        return int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    return spark.sparkContext.defaultParallelism
