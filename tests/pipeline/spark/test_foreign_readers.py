"""The tables of a lake as others read them, who know nothing of kiplint."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.schema import PrimitiveType
from pyspark.sql import DataFrame, SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.delta import prepare_commit, write_frame
from kiplint.pipeline.lake.lake import Lake, all_states
from kiplint.pipeline.lake.schema import ddl, table
from kiplint.pipeline.lake.storage import Storage
from kiplint.pipeline.tables import TABLES, Blobs, Findings


@pytest.fixture(params=["sample", "corpus"])
def shown_lake(request: pytest.FixtureRequest) -> Lake:
    """The lake of the sample history, and that of Kafka's own with three forks."""
    result: Lake = request.getfixturevalue("lake" if request.param == "sample" else "kafka")
    return result


def test_readers_count_the_same(shown_lake: Lake, spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = DeltaTable(shown_lake.storage.inner("runs")).to_pyarrow_table().to_pylist()
    state = max(rows, key=lambda row: row["number"])
    versions = {table["table"]: table["version"] for table in state["tables"]}
    assert set(versions) == {kind.NAME for kind in TABLES.values()}
    own = Reader(shown_lake).duck
    counts_by_name: dict[str, tuple[int, ...]] = {}
    by_spark: list[DataFrame] = []
    for name, version in versions.items():
        table = DeltaTable(shown_lake.storage.inner(name), version=version)
        files = table.file_uris()
        duckdb_rows = duckdb.execute("SELECT count(*) FROM read_parquet($1)", [files]).fetchall() if files else [(0,)]
        here = own.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"]
        if files:
            read = spark.read.option("basePath", shown_lake.storage.inner(name)).parquet(*files)
            by_spark.append(read.selectExpr(f"'{name}' AS name", "count(*) AS rows"))
        counts_by_name[name] = (table.to_pyarrow_table().num_rows, duckdb_rows[0][0], here)
    rows_by_name = {row["name"]: row["rows"] for row in reduce(DataFrame.union, by_spark).collect()}
    counts_by_name = {name: (*counts, rows_by_name.get(name, 0)) for name, counts in counts_by_name.items()}
    assert {name: counts for name, counts in counts_by_name.items() if len(set(counts)) != 1} == {}
    assert min(counts_by_name["spans"]) > 0


def test_every_version_of_a_table_is_of_a_stage_that_is_done(lake: Lake) -> None:
    """So that whoever reads the newest version of a table, at any time, sees no stage half done."""
    states = all_states(lake.storage)
    for name in TABLES:
        versions = {entry["version"] for entry in DeltaTable(lake.storage.inner(name)).history()}
        assert versions == {state.tables[name] for state in states if name in state.tables}


def test_tables_describe_themselves(lake: Lake) -> None:
    for name, kind in TABLES.items():
        table = DeltaTable(lake.storage.inner(name))
        assert (table.metadata().name, table.metadata().description) == (name, kind.ABOUT)
        assert table.metadata().partition_columns == (["source"] if kind.PARTITIONED else [])
        fields = {field.name: field for field in table.schema().fields}
        assert {name for name, field in fields.items() if not field.nullable} == kind.REQUIRED
        assert all(fields[column].metadata["comment"] == comment for column, comment in kind.COMMENTS.items())
        assert {name: name for name in fields if not kind.COMMENTS[name]} == {}


def test_the_log_has_statistics(lake: Lake) -> None:
    actions = pa.table(DeltaTable(lake.storage.inner("revisions")).get_add_actions(flatten=True)).to_pylist()
    rows = sorted(
        (row["partition.source"], row["num_records"], row["min.position"], row["max.position"]) for row in actions
    )
    assert rows == [("fork", 5, 0, 4), ("sample", 14, 0, 9)]
    (sample,) = (row for row in actions if row["partition.source"] == "sample")
    assert (sample["min.release"], sample["max.release"], sample["null_count.release"]) == ("1.0.0", "2.0.0", 10)
    assert (sample["min.time"], sample["max.time"]) == (
        datetime(2024, 1, 8, 12, tzinfo=UTC),
        datetime(2024, 10, 7, 12, 0, 0, 999, tzinfo=UTC),
    ) or sample["min.time"] < sample["max.time"]
    longest = pa.table(DeltaTable(lake.storage.inner("findings")).get_add_actions(flatten=True)).to_pylist()
    low, high = longest[0]["min.message"], longest[0]["max.message"]
    messages = [row["message"] for row in Reader(lake).rows(Findings)]
    assert len(low) <= 32 < len(min(messages))
    assert low <= min(messages)
    assert high >= max(messages)


def test_the_log_has_no_statistics_of_long_values(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes none, not even of nulls, where the least and the greatest value take more than 4 KB together."""
    texts = [character * 3_000 for character in "az"]
    rows = table(Blobs.COLUMNS, ((text, "other", 3_000, None, text) for text in texts))
    storage = Storage(tmp_path)
    parts = write_frame(spark.createDataFrame(rows, ddl(Blobs.COLUMNS)).coalesce(1), Blobs, storage, "run-1")
    prepare_commit(storage, Blobs, None, parts)()
    (action,) = pa.table(DeltaTable(storage.inner("blobs")).get_add_actions(flatten=True)).to_pylist()
    assert (action["num_records"], action["min.size"], action["null_count.data"]) == (2, 3_000, 2)
    assert (action.get("min.blob"), action.get("null_count.blob")) == (None, None)


def test_times_are_in_microseconds_of_utc(lake: Lake) -> None:
    for name, column in (("revisions", "time"), ("spans", "introduced_time"), ("runs", "published")):
        fields = {field.name: field.type for field in DeltaTable(lake.storage.inner(name)).schema().fields}
        assert fields[column] == PrimitiveType("timestamp")
