"""The tables of the sample history: what any reader of Delta sees, and the same rows on a cluster."""

from __future__ import annotations

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
