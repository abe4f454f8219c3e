"""One Spark session, and one lake of the sample history, for all tests of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from benchmarks.sample import make_history, sources_of
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from kiplint.pipeline.answers import Answers
from kiplint.pipeline.run import run
from kiplint.pipeline.session import open_session
from kiplint.pipeline.tables import TABLES

RELEASES = "tags=*[!3].[04].0"
"""Those of Kafka's releases that are in its lake."""
MASTER = os.environ.get("KIPLINT_SPARK_MASTER", "local[2]")
"""Where the session of the tests runs; each night it is a cluster of two executors."""
NIGHTLY = "KIPLINT_NIGHTLY" in os.environ
"""Whether the tests run that take minutes."""
Run = Callable[..., list[str]]
Content = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of all tests."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    with open_session(MASTER, [f"spark.sql.warehouse.dir={warehouse}"]) as session:
        yield session


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample history as a repository, which no test writes."""
    place = tmp_path_factory.mktemp("history") / "sample"
    make_history(place)
    return place


@pytest.fixture(scope="session")
def run_lake(spark: SparkSession) -> Run:
    """A run in the session: `run_lake(path, *sources, **request)`; the stages that it had to do."""

    @contextmanager
    def session() -> Iterator[SparkSession]:
        yield spark

    def make(path: Path, *sources: str, **request: Any) -> list[str]:
        stages: list[str] = []
        run(path, session, lambda stage, *_: stages.append(stage), sources=sources, **request)
        return stages

    return make


@pytest.fixture(scope="session")
def kafka_lake(run_lake: Run, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of some of Kafka's releases."""
    path = tmp_path_factory.mktemp("kafka") / "lake"
    run_lake(path, f"kafka={corpus / 'kafka-schema-history.bundle'}#{RELEASES}")
    return path


@pytest.fixture(scope="session")
def lake(run_lake: Run, history: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of the sample history, which no test writes."""
    path = tmp_path_factory.mktemp("lakes") / "lake"
    run_lake(path, *sources_of(history))
    return path


@pytest.fixture(scope="session")
def answers(lake: Path) -> Answers:
    """The same, to be asked."""
    return Answers(lake)


def content(path: Path, tables: Sequence[str] = tuple(TABLES)) -> Content:
    """The rows of each table of a lake in an order of their own."""
    duck = duckdb.connect()
    rows: Content = {}
    for name in tables:
        duck.register(name, DeltaTable(path / name).to_pyarrow_dataset())
        rows[name] = sorted(duck.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
    return rows
