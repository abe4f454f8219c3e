"""A run in an object store: a bundle is its source, and the lake lies beside it."""

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
    run(made, request, engine, lambda: spark, SILENT, ("ingest", "lint"))
    there, here = content(str(made)), content(lake.path)
    assert {name for name, rows in there.items() if rows != here[name]} == {"sources"}
    assert {row[3] for row in there["sources"]} == {bundle}
    assert there["findings"]
    requested = ("query", str(made), "SELECT count(*) AS n FROM set_findings", "--output-format", "json")
    assert json.loads(printed(*requested)) == json.loads(printed("query", str(lake.path), *requested[2:]))
    assert optimize(made, 0).files == 0
    assert content(str(made)) == there
    assert os.listdir(tmp_path) == []
