"""A query over the tables of a lake in Spark's SQL, where a cluster is to answer it."""

from __future__ import annotations

import json
import logging
from itertools import islice

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.confine import confined
from kiplint.pipeline.answers.views import definitions
from kiplint.pipeline.catalog import TABLES
from kiplint.pipeline.grid import Answer, Grid
from kiplint.pipeline.lake import Lake, Snapshot
from kiplint.pipeline.work import Work


def spark_query(spark: SparkSession, lake: Lake, snapshot: Snapshot, sql: str, limit: int) -> Answer:
    """The rows of a query, at most `limit`; raises UsageError for one that is refused or fails."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it would say the same, with the stack
    views = make_views(Work(spark, lake, snapshot))
    written = confined(sql, views)
    try:
        found = spark.sql(written)
        rows = found.limit(limit + 1).toArrow().to_pylist()
    except PySparkException as error:
        raise UsageError(_said(error)) from None
    columns = tuple(found.columns)
    told = list(islice(rows, limit))
    note = f"only the first {limit:,} rows; --limit shows more" if len(rows) > limit else ""
    texts = [tuple("" if value is None else _text(value) for value in row.values()) for row in told]
    document = {"version": 1, "columns": list(columns), "rows": json.loads(json.dumps(told, default=str))}
    return Answer(document, [Grid(f"{len(told):,} {'row' if len(told) == 1 else 'rows'}", columns, texts, note)])


def make_views(work: Work) -> tuple[str, ...]:
    """Name the tables of a lake for queries, and those that put things together; the names of all."""
    for kind in TABLES:
        work.frame(kind).df.createOrReplaceTempView(kind.NAME)
    views = definitions("`")
    for name, text in views.items():
        work.spark.sql(text).createOrReplaceTempView(name)
    return (*(kind.NAME for kind in TABLES), *views)


def _text(value: object) -> str:
    return json.dumps(value, default=str) if isinstance(value, (dict, list)) else str(value)


def _said(error: PySparkException) -> str:
    """The first lines of Spark's message, without the plan and the stack, which Connect announces."""
    lines = [line.strip() for line in str(error).partition("JVM stacktrace:")[0].splitlines()]
    kept = list(islice((line for line in lines if line and not line.startswith(("'", "+-", "==", "at "))), 2))
    return "the query fails: " + " ".join(kept).rstrip(";")
