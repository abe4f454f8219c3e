"""One Spark session for all tests of the pipeline, and the lake of Kafka's own history, made once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.answers.spark_query import make_views
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import Done, Request, Watcher, run
from kiplint.pipeline.session import make_session
from kiplint.pipeline.work import Work
from pipeline.support import QUICK

from .thinned import WHOLE, thinned


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
def bundle(corpus: Path) -> str:
    """Kafka's own history."""
    return str(corpus / "kafka-schema-history.bundle")


@pytest.fixture(scope="session")
def trunk(bundle: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A repository with Kafka's own trunk: of all its commits, those that are in the lake of most runs."""
    return bundle if WHOLE else str(thinned(bundle, tmp_path_factory.mktemp("thinned") / "kafka.git"))


@pytest.fixture(scope="session")
def kafka(
    bundle: str, trunk: str, corpus: Path, spark: SparkSession, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Work:
    """The tables of Kafka's own history, and of three forks; the whole one is made with the settings that users have."""
    made = Lake(tmp_path_factory.mktemp("kafka") / "lake")
    forks = [f"{fork}={corpus / 'kafka-forks.bundle'}#{fork}" for fork in ("automq", "redpanda", "linkedin")]
    sources = (f"kafka={trunk}#trunk", f"kafka={bundle}#tags", *forks)
    with _unhurried(spark) if WHOLE else nullcontext():
        snapshot = run(made, Request(sources), engine, lambda: spark, SILENT)
    work = Work(spark, made, snapshot)
    make_views(work)
    return work


@contextmanager
def _unhurried(spark: SparkSession) -> Iterator[None]:
    interpreted = {name: value for name, value in QUICK.items() if ".codegen." in name}
    for name in interpreted:
        spark.conf.unset(name)
    yield
    for name, value in interpreted.items():
        spark.conf.set(name, value)


def _ignore(*_: object) -> None:
    pass


SILENT = Watcher(_ignore, _ignore)


def heard(into: list[Done]) -> Watcher:
    """A watcher that keeps what it is told."""
    return Watcher(_ignore, into.append)
