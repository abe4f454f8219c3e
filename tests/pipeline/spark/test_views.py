"""Each view of several tables has the same rows in Spark's SQL and in DuckDB's."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.query import make_views
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import VIEWS
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.stage import Work


@pytest.fixture(scope="module")
def reader(lake: Lake, spark: SparkSession) -> Reader:
    """The sample's lake, with its views in the session."""
    make_views(Work(spark, lake, lake.snapshot()))
    return Reader(lake)


@pytest.mark.parametrize("name", ["runs", *VIEWS])
def test_each_view_is_the_same(name: str, reader: Reader, spark: SparkSession) -> None:
    by_spark, by_duckdb = spark.table(name).toArrow(), reader.duck.table(f"SELECT * FROM {name}")
    assert by_spark.column_names == by_duckdb.column_names
    assert sorted(map(repr, by_spark.to_pylist())) == sorted(map(repr, by_duckdb.to_pylist()))
    assert by_duckdb.num_rows
