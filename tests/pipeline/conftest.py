"""One Spark session for all tests of the pipeline, and the lake of the sample history, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.sample import make_history
from pyspark.sql import SparkSession

from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import Done, Request, Watcher, run
from kiplint.pipeline.session import make_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session, on one core; it finds no warehouse or cache of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("spark-cache")))
        session = make_session("local[2]", conf={"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})
        yield session
        session.stop()


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine with the default rules."""
    return Engine.of(make_ruleset(Config(), load_rules(Config(), "")))


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample history as a repository."""
    place = tmp_path_factory.mktemp("history") / "sample"
    make_history(place)
    return place


@pytest.fixture(scope="session")
def sources(history: Path) -> tuple[str, ...]:
    """The sample history and its fork, as sources."""
    return (f"sample={history}#main", f"sample={history}#tags", f"fork={history}#fork")


@pytest.fixture(scope="session")
def lake(
    spark: SparkSession, engine: Engine, sources: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Lake:
    """The lake of the sample history."""
    made = Lake(tmp_path_factory.mktemp("lake") / "lake")
    run(made, Request(sources), engine, lambda: spark, SILENT)
    return made


def _ignore(*_: object) -> None:
    pass


SILENT = Watcher(_ignore, _ignore)


def heard(into: list[Done]) -> Watcher:
    """A watcher that keeps what it is told."""
    return Watcher(_ignore, into.append)
