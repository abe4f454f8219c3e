"""Executors list sources, as those of a cluster do where there are many: the lake is that of any other run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kiplint.pipeline import listing
from kiplint.pipeline import run as running
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.listing import list_all, read_source
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.stage import Engine, Work
from kiplint.pipeline.tables import Problems
from pipeline.support import content

from .conftest import SILENT


def test_executors_list_the_sources_of_a_cluster(
    lake: Lake,
    sources: tuple[str, ...],
    engine: Engine,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = (*sources, f"gone={tmp_path / 'gone'}")
    made = Lake(tmp_path / "lake")
    listed = []

    def noted(*words: object) -> object:
        listed.append(list_all(*words))  # type: ignore[arg-type]
        return listed[-1]

    monkeypatch.setattr(listing, "A_JOB", 3)
    monkeypatch.setattr(running, "list_all", noted)
    monkeypatch.setattr(running, "MANY", len(asked))
    monkeypatch.setattr(Work, "is_local", False)
    monkeypatch.setattr(Work, "parallelism", 2)
    run(made, Request(asked), engine, lambda: spark, SILENT, ("ingest",), far=True)
    assert listed == [list_all([read_source(one) for one in asked], ())]
    told, whole = content(made.path), content(lake.path)
    assert {name for name, rows in told.items() if rows != whole[name]} == {"problems"}
    assert [(row["stage"], row["subject"]) for row in Reader(made).rows(Problems)] == [("sources", "gone")]
