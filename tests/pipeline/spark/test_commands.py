"""Runs over a lake that is up to date already, and queries of it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.sample import arguments
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.query import spark_query as query
from kiplint.pipeline.lake.lake import Lake
from pipeline.support import ask, printed
from tools import complaint


def test_a_second_run_has_nothing_to_do(lake: Lake, sources: tuple[str, ...]) -> None:
    text = printed("run", *arguments(sources), "--out", str(lake.path))
    assert text.splitlines()[:2] == [
        "ingest    up to date  19 sets, 40 blobs, 29 trees",
        "lint      up to date  12 findings",
    ]
    assert [line.split()[1:4] for line in text.splitlines()] == [["up", "to", "date"]] * 7
    assert printed("run", "--resume", "--out", str(lake.path)) == text


def test_resume_cannot_read_something_else(lake: Lake, history: Path) -> None:
    done = ask("run", "--resume", "--source", f"x={history}#main", "--out", str(lake.path))
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: --resume continues with the sources of the previous run; leave the others out\n"


def test_a_query_that_fails(spark: SparkSession, lake: Lake) -> None:
    error = complaint(lambda: query(spark, lake, lake.snapshot(), "SELECT nope FROM sets", 10))
    assert error.startswith("the query fails: [UNRESOLVED_COLUMN")
    assert "`nope` cannot be resolved" in error
    assert "\n" not in error


def test_a_query_shows_so_many_rows(spark: SparkSession, lake: Lake) -> None:
    result = query(spark, lake, lake.snapshot(), "SELECT position, headers FROM sets, messages LIMIT 100", 3)
    assert (len(result.rows), result.truncated) == (3, True)
    assert result.columns == ("position", "headers")
