"""Queries in DuckDB's SQL: what they may read, what is refused, and how mistakes are told."""

from __future__ import annotations

import re

import duckdb
import pytest

from kiplint.pipeline.answers.query import query, stream
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import QUESTIONS, VIEWS
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.tables import TABLES, Sources
from pipeline.support import put
from tools import complaint

ROWS = [("kafka", f"1.{position}", "git", "/kafka", position, None, "s") for position in range(5)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    lake = Lake(tmp_path_factory.mktemp("query") / "lake")
    with lake.writing():
        sources = put(lake, Sources, ROWS)
        lake.publish(lake.snapshot(), {"sources": sources}, "ingest")
    return Reader(lake)


def first(reader: Reader, sql: str) -> object:
    return next(iter(query(reader, sql, 10, 60).rows[0].values()))


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT count(*) FROM sources", 5),
        ("select max(lineage) from SOURCES", "1.4"),
        ("WITH a AS (SELECT 1 AS b) SELECT b FROM a", 1),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) FROM t", 10),
        ("SELECT count(*) FROM set_findings", 0),
        ("SELECT 'INSERT INTO x; read_text(''/etc'')'", "INSERT INTO x; read_text('/etc')"),
        ("FROM sources SELECT revisions ORDER BY revisions", 0),
        ("VALUES (7)", 7),
        ("SHOW VIEWS;", "behind_upstream"),
        ("DESCRIBE Sources", "source"),
    ],
)
def test_what_reads_the_tables(reader: Reader, sql: str, answer: object) -> None:
    assert first(reader, sql) == answer


def test_all_tables_and_views_can_be_queried(reader: Reader) -> None:
    names = [row["viewName"] for row in query(reader, "SHOW VIEWS", 100, 60).rows]
    assert names == sorted([*(kind.NAME for kind in TABLES.values()), "runs", *VIEWS, *QUESTIONS])
    for name in names:
        assert len(query(reader, f"SELECT * FROM {name}", 3, 60).columns) > 1


CLOSED = "disabled by configuration|disabled through configuration|has been locked"
REFUSAL = "a query is one SELECT"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM '/etc/passwd'", "there is no table /etc/passwd in the lake"),
        ("SELECT * FROM read_text('/etc/passwd')", CLOSED),
        ("SELECT * FROM sources WHERE 1 IN (SELECT 1 FROM read_csv('/etc/passwd'))", CLOSED),
        ("SELECT * FROM glob('/etc/*')", CLOSED),
        ("SELECT * FROM parquet_metadata('x.parquet')", CLOSED),
        ("WITH a AS (SELECT * FROM read_json('/x')) SELECT * FROM a", CLOSED),
        ("SELECT * FROM query('COPY (SELECT 1) TO ' || '/tmp/x')", "Expected a single SELECT|query"),
        ("SELECT * FROM python_arrow_scan(1, 2, 3)", "No function matches"),
        ("COPY sources TO '/tmp/kiplint-test.csv'", REFUSAL),
        ("ATTACH '/tmp/kiplint-test.db'", REFUSAL),
        ("INSTALL httpfs", REFUSAL),
        ("INSERT INTO sources SELECT 1", REFUSAL),
        ("CREATE TABLE x AS SELECT 1", REFUSAL),
        ("SET threads = 1", REFUSAL),
        ("", REFUSAL),
        ("SELECT 1; SELECT 2", REFUSAL),
        ("SELECT $1", "Values were not provided"),
        ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "Max expression depth"),
        ("SELECT '" + "x" * 100_000 + "'", "the query has more than 100,000 characters"),
        ("SELEC 1", 'the query fails: syntax error at or near "SELEC", at \\^SELEC 1$'),
        ("SELECT 1\nFRM sets", 'the query fails: syntax error at or near "sets", at SELECT 1 FRM \\^sets$'),
        (
            "SELECT *\nFROM set_finding",
            r"there is no table set_finding in the lake; did you mean set_findings\?, at SELECT \* FROM \^set_finding$",
        ),
    ],
)
def test_what_does_more_or_is_wrong_is_refused_in_one_line(reader: Reader, sql: str, expected: str) -> None:
    error = complaint(lambda: query(reader, sql, 10, 60))
    assert re.search(expected, error)
    assert "\n" not in error
    assert len(error) < 600


@pytest.mark.parametrize("sql", ["COPY sources TO '/tmp/kiplint-test.csv'", "SET threads = 1", "ATTACH '/tmp/x.db'"])
def test_the_connection_is_closed_by_itself(reader: Reader, sql: str) -> None:
    """Also for what is no query, which is refused before."""
    with pytest.raises(duckdb.Error, match=CLOSED):
        reader.duck._connection.execute(sql)


def test_time_has_an_end(reader: Reader) -> None:
    sql = "SELECT sum(a.range + b.range) FROM range(100000000) a, range(100000) b"
    assert complaint(lambda: query(reader, sql, 10, 0.5)) == "the query takes more than 0.5 seconds"
    assert first(reader, "SELECT 1") == 1


def test_a_column_that_is_misspelt(reader: Reader) -> None:
    error = complaint(lambda: query(reader, "SELECT source, nope\nFROM sources", 10, 60))
    assert error.startswith('the query fails: Referenced column "nope" not found')
    assert error.endswith(", at SELECT source, ^nope FROM sources")


def test_so_many_rows_and_no_more(reader: Reader) -> None:
    result = query(reader, "SELECT source, lineage FROM sources", 3, 60)
    assert (len(result.rows), result.truncated) == (3, True)


def test_rows_come_as_a_stream(reader: Reader) -> None:
    with stream(reader, "SELECT range AS n FROM range(100000)", 60) as batches:
        sizes = [batch.num_rows for batch in batches]
    assert (sum(sizes), max(sizes) < 10_000) == (100_000, True)


def test_a_query_without_an_end_ends_with_its_rows(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupts: list[str] = []
    interrupt = reader.duck.interrupt

    def count_interrupt() -> None:
        interrupts.append("interrupt")
        interrupt()

    monkeypatch.setattr(reader.duck, "interrupt", count_interrupt)
    sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) FROM t"
    result = query(reader, sql, 3, 60)
    assert (result.rows, result.truncated, len(interrupts)) == (({"n": 1}, {"n": 2}, {"n": 3}), True, 1)
    assert first(reader, "SELECT 7") == 7
