"""Which queries of a lake's are refused, and what Spark is given of the others."""

from __future__ import annotations

import pytest

from kiplint.pipeline.answers.query import confined
from tools import complaint

TABLES = ("sets", "messages", "set_findings")


@pytest.mark.parametrize(
    ("sql", "given"),
    [
        ("show views;", "SHOW VIEWS"),
        (" DESCRIBE TABLE Sets", "DESCRIBE `Sets`"),
        ("SELECT release FROM set_findings", "SELECT `release` FROM `set_findings`"),
        ("select count(*) from SETS group by all", "SELECT COUNT(*) FROM `SETS` GROUP BY ALL"),
        ("WITH a AS (SELECT 1 AS b) SELECT b FROM a", "WITH `a` AS (SELECT 1 AS `b`) SELECT `b` FROM `a`"),
        ("SELECT 1 -- */ FROM parquet.`/etc`", "SELECT 1"),
        ("SELECT xxhash64(a) FROM sets", "SELECT XXHASH64(`a`) FROM `sets`"),
        ("SELECT a FROM sets UNION ALL SELECT a FROM messages", None),
        ("SELECT filter(a, x -> x = 'b') FROM messages WHERE EXISTS (SELECT 1 FROM sets)", None),
        ("SELECT p FROM sets LATERAL VIEW explode(parts) t AS p", None),
        ("SELECT p FROM sets, LATERAL explode(parts) AS t(p)", None),
        ("SELECT a.b.c, map_keys(d) FROM sets a JOIN messages m ON a.x = m.x", None),
        ("SELECT 'INSERT INTO x; parquet.`/etc`' FROM sets", None),
    ],
)
def test_what_reads_the_tables(sql: str, given: str | None) -> None:
    result = confined(sql, TABLES)
    assert given is None or result == given
    assert confined(result, TABLES) == result


@pytest.mark.parametrize(
    "sql",
    [
        # files and other catalogs
        "SELECT * FROM parquet.`/etc/passwd`",
        "SELECT * FROM text.`/etc/passwd` WHERE 1 IN (SELECT 1 FROM sets)",
        "SELECT (SELECT max(value) FROM text.`/etc/passwd`)",
        "SELECT * FROM sets WHERE EXISTS (SELECT 1 FROM csv.`/etc/passwd`)",
        "SELECT * FROM sets JOIN default.other",
        "SELECT * FROM other",
        "SELECT * FROM `sets`.`messages`",
        "WITH other AS (SELECT 1) SELECT * FROM sets, (SELECT * FROM json.`/x`)",
        "SELECT * FROM (WITH other AS (SELECT 1) SELECT * FROM other), other",
        "SELECT * FROM read_files('/etc')",
        "SELECT * FROM range(10)",
        "SELECT * FROM sets LATERAL VIEW explode((SELECT collect_list(v) FROM csv.`/x`)) t AS p",
        "SELECT * FROM IDENTIFIER('parquet.`/x`')",
        "TABLE parquet.`/x`",
        # code
        "SELECT reflect('java.lang.Runtime', 'getRuntime')",
        "SELECT java_method('java.lang.System', 'getenv')",
        "SELECT TRY_REFLECT('java.lang.System', 'getenv')",
        "SELECT a.b.reflect('x', 'y') FROM sets",
        "SELECT default.my_udf(1)",
        "SELECT my_udf(1)",
        "SELECT TRANSFORM(a) USING 'sh -c id' AS (b) FROM sets",
        "SELECT * FROM (SELECT TRANSFORM(a) USING 'sh' AS (b) FROM sets)",
        "ADD JAR 'x.jar'",
        "CREATE TEMPORARY FUNCTION f AS 'a.b.C'",
        # writes
        "INSERT INTO sets SELECT 1",
        "WITH a AS (SELECT 1) INSERT INTO sets SELECT * FROM a",
        "FROM sets INSERT INTO messages SELECT *",
        "INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT 1",
        "CREATE TABLE x AS SELECT 1",
        "CREATE VIEW x AS SELECT 1",
        "DROP TABLE sets",
        "TRUNCATE TABLE sets",
        "CACHE TABLE sets",
        "MERGE INTO sets USING messages ON 1 = 1 WHEN MATCHED THEN DELETE",
        "SELECT 1 INTO x",
        # settings and holes
        "SET spark.sql.warehouse.dir=/",
        "SET",
        "USE x",
        "SELECT '${env:HOME}'",
        "SELECT ${env:HOME}",
        "SELECT :a",
        # shape
        "",
        ";",
        "SELECT 1; SELECT 2",
        "SELECT (",
        "WITH RECURSIVE t(n) AS (SE0 + 1 UNION ALL SELECT n + 1 FROM t) SELECT sum(n) FROM t",
        "SELECT regexp_replace('a', 'b') FROM sets",
        "EXPLAIN SELECT 1",
        "DESCRIBE other",
        "DESCRIBE EXTENDED sets",
        "SHOW TABLES IN x",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT '" + "x" * 100_000 + "'",
    ],
)
def test_what_does_more_is_refused(sql: str) -> None:
    error = complaint(lambda: confined(sql, TABLES))
    assert "\n" not in error
    assert len(error) < 400


def test_a_table_that_is_misspelt() -> None:
    assert complaint(lambda: confined("SELECT * FROM set_finding", TABLES)) == (
        "there is no table 'set_finding' in the lake; did you mean set_findings?"
    )
    assert complaint(lambda: confined("SELECT * FROM text.`/etc/hostname`", TABLES)).startswith(
        "there is no table 'text.`/etc/hostname`' in the lake; there are "
    )


def test_an_error_names_its_place() -> None:
    assert complaint(lambda: confined("SELEC 1", TABLES)) == (
        "the query fails: Invalid expression / Unexpected token. Line 1, Col: 7."
    )
