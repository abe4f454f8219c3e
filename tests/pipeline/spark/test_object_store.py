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
from pipeline.support import content, stdout

from .conftest import SILENT


def test_from_a_store_into_a_store(
    sources_uri: str,
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
    bundle = f"{sources_uri}/sample.bundle"
    request = Request((f"sample={bundle}#main", f"sample={bundle}#tags", f"fork={bundle}#fork"))
    remote_lake = Lake(f"{bucket.replace('s3:', 's3a:')}/lakes/history")
    run(remote_lake, request, engine, lambda: spark, SILENT, ("ingest", "lint"))
    there, here = content(str(remote_lake)), content(lake.path)
    assert {name for name, rows in there.items() if rows != here[name]} == {"sources"}
    assert {row[3] for row in there["sources"]} == {bundle}
    assert there["findings"]
    query = ("query", str(remote_lake), "SELECT count(*) AS n FROM set_findings", "--output-format", "json")
    assert json.loads(stdout(*query)) == json.loads(stdout("query", str(lake.path), *query[2:]))
    assert optimize(remote_lake, 0).files == 0
    assert content(str(remote_lake)) == there
    assert os.listdir(tmp_path) == []
