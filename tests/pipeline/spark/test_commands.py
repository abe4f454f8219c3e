"""Runs over a lake that is up to date already, and queries of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.sample import arguments
from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.query import spark_query as query
from kiplint.pipeline.lake.lake import Lake
from pipeline.support import ask, printed


def test_a_second_run_has_nothing_to_do(lake: Lake, sources: tuple[str, ...]) -> None:
    told = printed("run", *arguments(sources), "--out", str(lake.path))
    assert told.splitlines()[:2] == [
        "ingest    up to date  19 sets, 40 blobs, 29 trees",
        "lint      up to date  12 findings",
    ]
    assert [line.split()[1:4] for line in told.splitlines()] == [["up", "to", "date"]] * 7
    assert printed("run", "--resume", "--out", str(lake.path)) == told


def test_resume_is_no_way_to_read_something_else(lake: Lake, history: Path) -> None:
    done = ask("run", "--resume", "--source", f"x={history}#main", "--out", str(lake.path))
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: --resume goes on with the sources of the run before; leave the others out\n"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT nope FROM sets", r"the query fails: \[UNRESOLVED_COLUMN.*`nope` cannot be resolved"),
        ("SELEC 1", r"the query fails: Invalid expression / Unexpected token. Line 1, Col: 7."),
        ("SELECT * FROM text.`/etc/hostname`", r"there is no table 'text.`/etc/hostname`' in the lake; there are "),
    ],
)
def test_a_query_that_fails(spark: SparkSession, lake: Lake, sql: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        query(spark, lake, lake.snapshot(), sql, 10)
    assert "\n" not in str(caught.value)


def test_a_query_shows_so_many_rows(spark: SparkSession, lake: Lake) -> None:
    found = query(spark, lake, lake.snapshot(), "SELECT position, headers FROM sets, messages LIMIT 100", 3)
    assert (len(found.rows), found.truncated) == (3, True)
    assert found.columns == ("position", "headers")
