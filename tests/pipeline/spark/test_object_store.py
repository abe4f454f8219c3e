"""A whole run in an object store: a bundle and an archive are its sources, and the lake lies beside them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.upkeep import optimize
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.stage import Engine
from pipeline.support import content, printed

from .conftest import SILENT


def test_from_a_store_into_a_store(
    stored: str,
    bucket: str,
    lake: Lake,
    engine: Engine,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in filter(lambda name: name.startswith("AWS_"), os.environ):
        monkeypatch.setitem(spark.sparkContext.environment, name, os.environ[name])  # as if Spark had started with it
    monkeypatch.chdir(tmp_path)
    bundle = f"{stored}/sample.bundle"
    request = Request((f"sample={bundle}#main", f"sample={bundle}#tags", f"fork={bundle}#fork"))
    made = Lake(f"{bucket.replace('s3:', 's3a:')}/lakes/history")
    run(made, request, engine, lambda: spark, SILENT)
    there, here = content(str(made)), content(lake.path)
    assert {name for name, rows in there.items() if rows != here[name]} == {"sources"}
    assert {row[3] for row in there["sources"]} == {bundle}
    told = [json.loads(printed("report", str(place), "--output-format", "json")) for place in (made, lake.path)]
    assert told[0].pop("sources") != told[1].pop("sources")
    assert told[0] == told[1]
    assert optimize(made, 0).removed == 0
    assert content(str(made)) == there
    assert os.listdir(tmp_path) == []
