"""Small frames for tests of transforms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kiplint.pipeline.lake.schema import Columns, ddl, table


def frame(spark: SparkSession, columns: Columns, rows: Iterable[tuple[Any, ...]]) -> DataFrame:
    """Rows as a DataFrame."""
    return (
        spark.createDataFrame(table(columns, rows)).select(*columns)
        if rows
        else spark.createDataFrame([], ddl(columns))
    )


def rows(df: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    """Some columns of a DataFrame, in the order of their values."""
    return sorted(tuple(row) for row in (df.select(*names) if names else df).collect())
