"""The tables of the sample history: what any reader of Delta sees, and the same rows on a cluster."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from kiplint.pipeline.lake import Lake
from kiplint.pipeline.tables import TABLES

COMMENT = re.compile(r"^ {8}(\w+) [^']* COMMENT '([^']*)'", re.MULTILINE)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_comments_and_statistics(name: str, lake: Path) -> None:
    table = DeltaTable(lake / name)
    comments = {field.name: field.metadata.get("comment") for field in table.schema().fields}
    assert comments == dict(COMMENT.findall(TABLES[name]))
    actions = table.get_add_actions(flatten=True).column_names
    columns = [field.name for field in table.schema().fields if str(field.type) == 'PrimitiveType("string")']
    assert "num_records" in actions
    assert any(f"min.{column}" in actions for column in columns)


@pytest.mark.parametrize("name", TABLES)
def test_spark_and_delta_rs_read_the_same_rows(name: str, lake: Path, spark: SparkSession) -> None:
    rows = DeltaTable(lake / name).to_pyarrow_table()
    numbers = DeltaTable(lake / name).get_add_actions(flatten=True)["num_records"].to_pylist()
    assert rows.num_rows == sum(numbers) == Lake(lake, spark).read(name).count()


def test_many_files_are_merged(lake: Path, spark: SparkSession, tmp_path: Path) -> None:
    rows = Lake(lake, spark).read("files").limit(3).coalesce(1)
    many = Lake(tmp_path / "many", spark)
    many.add("files", rows.repartition(3))
    before = many.tables["files"].to_pyarrow_table().to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kiplint.pipeline.lake.MANY_FILES", 1)
        many.compact()
    table = DeltaTable(tmp_path / "many" / "files")
    assert len(table.file_uris()) == 1
    assert sorted(map(str, table.to_pyarrow_table().to_pylist())) == sorted(map(str, before))


def test_a_path_is_no_pattern(lake: Path, spark: SparkSession, tmp_path: Path) -> None:
    rows = Lake(lake, spark).read("revisions").limit(3)
    odd = Lake(tmp_path / "la{ke} *?", spark)
    odd.replace("revisions", rows)
    assert odd.read("revisions", {"sample", "fork"}).count() == 3


def test_files_stay_for_a_week(lake: Path, spark: SparkSession, tmp_path: Path) -> None:
    """A table has its rows of last week, and no run removes the files that another one is about to commit."""
    rows = Lake(lake, spark).read("drift")
    first, folder = Lake(tmp_path / "lake", spark), tmp_path / "lake" / "drift"
    first.replace("drift", rows)
    first.replace("drift", rows.limit(1))
    for file in folder.glob("run-*/*"):
        os.utime(file, (0, 0))  # a removed file goes by the time when it was removed
    files = [folder / "run-new" / "part.parquet", folder / "run-old" / "part.parquet"]
    for file in files:
        file.parent.mkdir()
        file.touch()
    os.utime(files[1], (0, 0))
    first.compact()
    assert DeltaTable(folder, version=0).to_pyarrow_table().num_rows == rows.count()
    assert [file.exists() for file in files] == [True, False]
