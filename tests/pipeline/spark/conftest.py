"""One Spark session for all tests of the pipeline, and lakes of Kafka's own history, made once.

Most tests read a lake of a few commits; `make equality` makes one of every commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.sample import make_history
from pyspark.sql import SparkSession

from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import Done, Request, Watcher, run
from kiplint.pipeline.session import make_session
from kiplint.pipeline.stage import Engine
from pipeline.support import QUICK

from .test_plans import recording
from .thinned import TAGS, WHOLE, thin_history


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session, set up for small runs; it finds no warehouse or cache of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("spark-cache")))
        warehouse = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
        session = make_session("local[2]", conf=QUICK | warehouse)
        yield session
        session.stop()


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine with the default rules."""
    return Engine.of(make_ruleset(Config(), load_rules(Config(), "")))


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample history, which need not wait for the guide's lake to be made."""
    place = tmp_path_factory.mktemp("history") / "sample"
    make_history(place)
    return place


@pytest.fixture(scope="session")
def lake_and_plans(
    sources: tuple[str, ...], engine: Engine, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, dict[str, list[str]]]:
    """The lake of the sample history, and the plans by which it was made."""
    lake = Lake(tmp_path_factory.mktemp("planned") / "lake")
    with pytest.MonkeyPatch.context() as patch, recording(spark, lake.path, patch) as (watcher, plans):
        run(lake, Request(sources), engine, lambda: spark, watcher)
    return lake, plans


@pytest.fixture(scope="session")
def plans(lake_and_plans: tuple[Lake, dict[str, list[str]]]) -> dict[str, list[str]]:
    return lake_and_plans[1]


@pytest.fixture(scope="session")
def lake(lake_and_plans: tuple[Lake, dict[str, list[str]]]) -> Lake:
    """The lake of the sample history, which no test writes."""
    return lake_and_plans[0]


@pytest.fixture(scope="session")
def bundle(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Kafka's own history, or a repository with fewer commits of trunk and every tag."""
    whole = str(corpus / "kafka-schema-history.bundle")
    return whole if WHOLE else thin_history(whole, tmp_path_factory.mktemp("history") / "thinned.git")


@pytest.fixture(scope="session")
def kafka(
    bundle: str,
    corpus: Path,
    engine: Engine,
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Lake:
    """The lake of Kafka's own history, and of three forks."""
    place = tmp_path_factory.mktemp("kafka")
    kafka_lake = Lake(place / "lake")
    forks = [f"{fork}={corpus / 'kafka-forks.bundle'}#{fork}" for fork in ("automq", "redpanda", "linkedin")]
    request = Request((f"kafka={bundle}#trunk", f"kafka={bundle}#{TAGS}", *forks))
    run(kafka_lake, request, engine, lambda: spark, SILENT)
    return kafka_lake


def never() -> SparkSession:
    """The session of who needs none."""
    raise AssertionError("this needs no session")


def _ignore(*_: object) -> None:
    pass


SILENT = Watcher(_ignore, _ignore, _ignore)


def make_watcher(into: list[Done]) -> Watcher:
    """A watcher that records its calls."""
    return Watcher(_ignore, _ignore, into.append)
