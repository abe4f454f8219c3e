"""Queries in DuckDB's SQL: what they may read, what is refused, and how mistakes are told."""

from __future__ import annotations

import duckdb
import pytest

from kiplint.pipeline.answers.query import query, stream
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import QUESTIONS, VIEWS
from kiplint.pipeline.lake.delta import write_table
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.schema import table
from kiplint.pipeline.tables import TABLES, Sets
from tools import complaint

ROWS = [
    ("kafka", "tags", position, f"c{position}", None, f"1.{position}", "r", *[None] * (len(Sets.COLUMNS) - 7))
    for position in range(5)
]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    lake = Lake(tmp_path_factory.mktemp("query") / "lake")
    with lake.writing():
        sets = write_table(table(Sets.COLUMNS, ROWS), lake.storage, lake.stage("sets"))
        lake.publish(lake.snapshot(), {"sets": sets}, "ingest")
    return Reader(lake)


def first(reader: Reader, sql: str) -> object:
    return next(iter(query(reader, sql, 10).rows[0].values()))


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT count(*) FROM sets", 5),
        ("select max(release) from SETS", "1.4"),
        ("WITH a AS (SELECT 1 AS b) SELECT b FROM a", 1),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) FROM t", 10),
        (
            "SELECT count(*) FROM sets a JOIN releases b USING (source) WHERE EXISTS (SELECT 1 FROM findings) IS FALSE",
            25,
        ),
        ("SELECT count(*) FROM set_findings", 0),
        ("SELECT len(list(x)) FROM unnest([1, 2]) AS t(x)", 2),
        ("SELECT 'INSERT INTO x; read_text(''/etc'')'", "INSERT INTO x; read_text('/etc')"),
        ("FROM sets SELECT position ORDER BY position", 0),
        ("SELECT 1 -- read_text('/etc/passwd')", 1),
        ("VALUES (7)", 7),
        ("SHOW VIEWS;", "behind_upstream"),
        ("DESCRIBE TABLE Sets", "source"),
    ],
)
def test_what_reads_the_tables(reader: Reader, sql: str, answer: object) -> None:
    assert first(reader, sql) == answer


def test_all_tables_and_views_can_be_queried(reader: Reader) -> None:
    names = [row["viewName"] for row in query(reader, "SHOW VIEWS", 100).rows]
    assert names == sorted([*(kind.NAME for kind in TABLES.values()), "runs", *VIEWS, *QUESTIONS])
    for name in names:
        assert len(query(reader, f"SELECT * FROM {name}", 3).columns) > 1


@pytest.mark.parametrize(
    "sql",
    [
        # files
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM sets WHERE 1 IN (SELECT 1 FROM read_csv('/etc/passwd'))",
        "SELECT (SELECT content FROM read_blob('/etc/passwd'))",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM parquet_metadata('x.parquet')",
        "WITH a AS (SELECT * FROM read_json('/x')) SELECT * FROM a",
        "COPY sets TO '/tmp/kiplint-test.csv'",
        "EXPORT DATABASE '/tmp/kiplint-test'",
        "ATTACH '/tmp/kiplint-test.db'",
        # memory, code and other catalogs
        "SELECT * FROM python_arrow_scan(1, 2, 3)",
        "SELECT * FROM pandas_scan(1)",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM query_table(['sets'])",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM main.sets",
        "SELECT * FROM other",
        "SELECT json_execute_serialized_sql('x')",
        "SELECT getenv('HOME')",
        "SELECT current_setting('memory_limit')",
        "SELECT main.lower('A')",
        "INSTALL httpfs",
        "LOAD httpfs",
        # writes and settings
        "INSERT INTO sets SELECT 1",
        "WITH a AS (SELECT 1) INSERT INTO sets SELECT * FROM a",
        "CREATE TABLE x AS SELECT 1",
        "DROP VIEW releases",
        "DELETE FROM sets",
        "SET threads = 1",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "SELECT nextval('x')",
        "CHECKPOINT",
        # shape
        "",
        ";",
        "SELECT 1; SELECT 2",
        "EXPLAIN SELECT 1",
        "DESCRIBE other",
        "SUMMARIZE sets",
        "SELECT $1",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT '" + "x" * 100_000 + "'",
    ],
)
def test_what_does_more_is_refused(reader: Reader, sql: str) -> None:
    error = complaint(lambda: query(reader, sql, 10))
    assert "\n" not in error
    assert len(error) < 600


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM read_text('/etc/hostname')", "COPY sets TO '/tmp/kiplint-test.csv'", "SET threads = 1"]
)
def test_the_connection_is_closed_by_itself(reader: Reader, sql: str) -> None:
    """Also without a look at the query, which is the other guard."""
    with pytest.raises(duckdb.Error, match="disabled by configuration|has been locked"):
        reader.duck._connection.execute(sql)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELEC 1", 'the query fails: syntax error at or near "SELEC", at ^SELEC 1'),
        ("SELECT 1\nFRM sets", 'the query fails: syntax error at or near "sets", at SELECT 1 FRM ^sets'),
        (
            "SELECT *\nFROM set_finding",
            "there is no table 'set_finding' in the lake; did you mean set_findings?, at SELECT * FROM ^set_finding",
        ),
        ("SELECT a.b(1)", "a query calls no function 'b', at SELECT ^a.b(1)"),
    ],
)
def test_mistakes_have_a_caret(reader: Reader, sql: str, expected: str) -> None:
    assert complaint(lambda: query(reader, sql, 10)) == expected


def test_a_column_that_is_misspelt(reader: Reader) -> None:
    error = complaint(lambda: query(reader, "SELECT source, nope\nFROM sets", 10))
    assert error.startswith('the query fails: Referenced column "nope" not found')
    assert error.endswith(", at SELECT source, ^nope FROM sets")


def test_so_many_rows_and_no_more(reader: Reader) -> None:
    result = query(reader, "SELECT position, release FROM sets", 3)
    assert (len(result.rows), result.truncated) == (3, True)


def test_rows_come_as_a_stream(reader: Reader) -> None:
    with stream(reader, "SELECT range AS n FROM range(100000)") as batches:
        sizes = [batch.num_rows for batch in batches]
    assert (sum(sizes), max(sizes) < 10_000) == (100_000, True)
