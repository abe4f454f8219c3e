"""The Python workers of a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession


def test_workers_do_not_import_from_the_working_directory(spark: SparkSession) -> None:
    def work(batches: object) -> Iterator[pa.RecordBatch]:
        del batches
        yield pa.RecordBatch.from_pydict({"safe": [sys.flags.safe_path]})

    (row,) = spark.range(1).coalesce(1).mapInArrow(work, "safe boolean").collect()
    assert row.safe
