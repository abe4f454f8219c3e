"""The tables of a lake as others read them, who know nothing of kiplint."""

from __future__ import annotations

from typing import Any

import duckdb
import polars
import pytest
from deltalake import DeltaTable

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.tables import TABLES


@pytest.fixture(params=["sample", "corpus"])
def shown_lake(request: pytest.FixtureRequest) -> Lake:
    """The lake of the sample history, and that of Kafka's own with three forks."""
    result: Lake = request.getfixturevalue("lake" if request.param == "sample" else "kafka")
    return result


def test_three_readers_count_the_same(shown_lake: Lake) -> None:
    rows: list[dict[str, Any]] = DeltaTable(shown_lake.storage.inner("runs")).to_pyarrow_table().to_pylist()
    state = max(rows, key=lambda row: row["number"])
    versions = {table["table"]: table["version"] for table in state["tables"]}
    assert set(versions) == {kind.NAME for kind in TABLES.values()}
    own = Reader(shown_lake).duck
    counted = {}
    for name, version in versions.items():
        table = DeltaTable(shown_lake.storage.inner(name), version=version)
        files = table.file_uris()
        requested = duckdb.execute("SELECT count(*) FROM read_parquet($1)", [files]).fetchall() if files else [(0,)]
        lazy = polars.scan_delta(shown_lake.storage.inner(name), version=version).select(polars.len())
        here = own.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"]
        counted[name] = (table.to_pyarrow_table().num_rows, lazy.collect().item(), requested[0][0], here)
    assert {name: counts for name, counts in counted.items() if len(set(counts)) != 1} == {}
    assert min(counted["spans"]) > 0


def test_times_are_in_microseconds_of_utc(lake: Lake) -> None:
    for name, column in (("sets", "time"), ("spans", "introduced_time"), ("runs", "published")):
        kinds = polars.scan_delta(lake.storage.inner(name)).collect_schema()
        assert kinds[column] == polars.Datetime("us", "UTC")
