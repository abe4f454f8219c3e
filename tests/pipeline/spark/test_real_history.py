"""A slice of Kafka's own history comes to the same by Spark and without it: each table, and each view of several.

What the rest of that history comes to is tried without Spark, by the tests beside this one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.spark_query import make_views
from kiplint.pipeline.answers.views import VIEWS
from kiplint.pipeline.catalog import TABLES
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.reader import Reader
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.work import Work
from pipeline.support import content

from .conftest import SILENT, run_here
from .thinned import thinned

TOKENS = ("694cae17ab", "8be79c8cc1")
"""The commits between which a definition could be read by some."""


@pytest.fixture(scope="module")
def lakes(
    bundle: str, corpus: Path, spark: SparkSession, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, Lake]:
    """The same by Spark and without it: some commits, the two releases between which they are, and a fork."""
    place = tmp_path_factory.mktemp("slice")
    trunk = thinned(bundle, place / "thinned.git", TOKENS, 1_000)
    fork = f"linkedin={corpus / 'kafka-forks.bundle'}#linkedin"
    request = Request((f"kafka={trunk}#trunk", f"kafka={bundle}#tags=2.8.0,3.0.0", fork))
    by_spark, here = Lake(place / "spark"), Lake(place / "here")
    run(by_spark, request, engine, lambda: spark, SILENT)
    run_here(here, request, engine)
    return by_spark, here


def test_each_table_is_the_same(lakes: tuple[Lake, Lake]) -> None:
    told, expected = (content(lake.path) for lake in lakes)
    assert set(told) == {kind.NAME for kind in TABLES}
    assert [name for name, rows in told.items() if rows != expected[name]] == []
    assert {name for name, rows in told.items() if not rows} <= {"problems"}


def test_each_view_is_the_same(lakes: tuple[Lake, Lake], spark: SparkSession) -> None:
    lake, _ = lakes
    duck = Reader(lake).duck
    make_views(Work(spark, lake, lake.snapshot()))
    for name in VIEWS:
        told, expected = spark.table(name).toArrow(), duck.table(f"SELECT * FROM {name}")
        assert told.column_names == expected.column_names
        rows = (sorted(map(repr, table.to_pylist())) for table in (told, expected))
        assert next(rows) == next(rows), name
        assert expected.num_rows
