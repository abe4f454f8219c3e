"""What is linted again, in whichever way, comes to the same rows as what was linted at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.reader import Reader
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.tables.findings import Findings

from .conftest import SILENT


def findings(lake: Lake) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in Reader(lake).rows(Findings))


@pytest.mark.parametrize("changed", ["lint", "lint-sets"])
def test_changed_rules(
    changed: str,
    lake: Lake,
    sources: tuple[str, ...],
    spark: SparkSession,
    engine: Engine,
    tmp_path: Path,
) -> None:
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    snapshot = copy.snapshot()
    stages = {name: replace(one, engine="other") if name == changed else one for name, one in snapshot.stages.items()}
    with copy.writing():
        copy.publish(replace(snapshot, stages=stages))
    run(copy, Request(sources), engine, lambda: spark, SILENT, ("lint",))
    assert findings(copy) == findings(lake)
