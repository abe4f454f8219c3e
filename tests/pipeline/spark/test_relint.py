"""Linting again, in any way, makes the same rows as linting at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import Done, Request, run
from kiplint.pipeline.stage import Engine, undone
from kiplint.pipeline.tables import Findings
from pipeline.support import content

from .conftest import SILENT, make_watcher, never


def findings(lake: Lake) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in Reader(lake).rows(Findings))


@pytest.mark.parametrize("stage_name", ["lint"])
def test_changed_rules(
    stage_name: str,
    lake: Lake,
    sources: tuple[str, ...],
    spark: SparkSession,
    engine: Engine,
    tmp_path: Path,
) -> None:
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    snapshot = copy.snapshot()
    stages = {
        name: replace(stage, engine="other") if name == stage_name else stage for name, stage in snapshot.stages.items()
    }
    with copy.writing():
        copy.publish(replace(snapshot, stages=stages), {}, "test")
    run(copy, Request(sources), engine, lambda: spark, SILENT, ("lint",))
    assert findings(copy) == findings(lake)


def test_the_stages_of_damaged_tables_run_again(
    lake: Lake, sources: tuple[str, ...], engine: Engine, tmp_path: Path
) -> None:
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    for part in copy.parts("findings", copy.snapshot().tables["findings"]):
        (copy.path / part.name).write_bytes(b"")
    stages: list[Done] = []
    with pytest.raises(AssertionError, match="this needs no session"):
        run(copy, Request(sources), engine, never, make_watcher(stages), repair=True)
    assert [stage.stage for stage in stages] == ["ingest"]
    after = undone(lake.snapshot(), ["findings"])
    assert lake.snapshot().stages.keys() - after.stages.keys() == {"lint"}
    assert lake.snapshot().tables.keys() - after.tables.keys() == {"findings"}


def test_sources_that_are_read_otherwise(
    lake: Lake, sources: tuple[str, ...], spark: SparkSession, engine: Engine, tmp_path: Path
) -> None:
    """All contents are read anew, and what is made of them after them."""
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    snapshot = copy.snapshot()
    stages = {**snapshot.stages, "ingest-walking": replace(snapshot.stages["ingest-walking"], engine="other")}
    with copy.writing():
        copy.publish(replace(snapshot, stages=stages), {}, "test")
    stage_log: list[Done] = []
    stage_names = ("ingest", "lint", "describe", "compare")
    after = run(copy, Request(sources), engine, lambda: spark, make_watcher(stage_log), stage_names)
    assert tuple(stage.stage for stage in stage_log if stage.seconds is not None) == stage_names
    assert set(copy.parts("blobs", after.tables["blobs"])).isdisjoint(copy.parts("blobs", snapshot.tables["blobs"]))
    assert content(copy.path) == content(lake.path)
