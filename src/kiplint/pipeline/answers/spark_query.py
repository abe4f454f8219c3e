"""A query over the tables of a lake in Spark's SQL, where a cluster is to answer it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection
from itertools import islice
from typing import Final

import sqlglot
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, functions
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.reader import Answer, Grid, definitions
from kiplint.pipeline.lake.lake import Lake, Snapshot
from kiplint.pipeline.stage import Work
from kiplint.pipeline.tables import TABLES
from kiplint.text.show import show_raw
from kiplint.text.words import did_you_mean

LONGEST: Final = 100_000
"""The characters of a query."""

_SHOW: Final = re.compile(r"\s*show\s+views\s*;?\s*", re.IGNORECASE)
_DESCRIBE: Final = re.compile(r"\s*desc(?:ribe)?(?:\s+table)?\s+`?(\w+)`?\s*;?\s*", re.IGNORECASE)
_OUTSIDE: Final = frozenset({"reflect", "java_method", "try_reflect", "call_function", "call_udf", "udf", "pandas_udf"})
FUNCTIONS: Final = frozenset(name for name in dir(functions) if callable(getattr(functions, name))) - _OUTSIDE
"""The functions that may be called where sqlglot has no name of its own for them: Spark's, as far as they compute."""

_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")

_ACTS: Final = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.QueryTransform, exp.Set, exp.Use, exp.Hint)
_HOLES: Final = (exp.Parameter, exp.Placeholder, exp.SessionParameter)


def confined(sql: str, tables: Collection[str]) -> str:
    """The query as Spark is to be given it; raises UsageError for one that does more than read the tables."""
    known = {name.lower() for name in tables}
    if _SHOW.fullmatch(sql):
        return "SHOW VIEWS"
    if (described := _DESCRIBE.fullmatch(sql)) and described[1].lower() in known:
        return f"DESCRIBE `{described[1]}`"
    tree = _parse(sql)
    inner = {table.alias_or_name.lower() for table in tree.find_all(exp.CTE)}
    for node in tree.walk():
        if isinstance(node, _ACTS):
            raise UsageError(f"a query only reads: {_shown(node)} is refused")
        if isinstance(node, _HOLES):
            raise UsageError(f"a query has no variables: {_shown(node)} is refused")
        if isinstance(node, exp.Anonymous):
            _require_function(node)
        if isinstance(node, exp.Table):
            _require_table(node, known | inner)
    for scope in traverse_scope(tree):  # a name of WITH is none outside its query
        for source in scope.sources.values():
            if isinstance(source, exp.Table):
                _require_table(source, known)
    written = tree.sql(dialect="spark", identify=True, comments=False)
    if "${" in written:
        raise UsageError("a query has no variables: ${ is refused, even in a string")
    return written


def _parse(sql: str) -> exp.Query:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would announce what is refused here
    if len(sql) > LONGEST:
        raise UsageError(f"the query has more than {LONGEST:,} characters")
    try:
        statements = [statement for statement in sqlglot.parse(sql, dialect="spark") if statement is not None]
    except RecursionError:
        raise UsageError("the query fails: it stands too deep inside itself") from None
    except SqlglotError as error:
        raise UsageError("the query fails: " + _COLOR.sub("", str(error)).partition("\n")[0]) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table)")
    return statements[0]


def _require_function(node: exp.Anonymous) -> None:
    name = str(node.this).lower()
    if name not in FUNCTIONS or isinstance(node.parent, exp.Dot):
        raise UsageError(f"a query calls no function {show_raw(name)}")


def _require_table(node: exp.Table, known: Collection[str]) -> None:
    plain = isinstance(node.this, exp.Identifier) and not node.args.get("db") and not node.args.get("catalog")
    if not plain or node.name.lower() not in known:
        hint = did_you_mean(node.name.lower(), known) if plain else ""
        hint = hint or f"; there are {', '.join(sorted(known))}"
        raise UsageError(f"there is no table {_shown(node)} in the lake{hint}")


def _shown(node: exp.Expr) -> str:
    return show_raw(node.sql(dialect="spark"))


def spark_query(spark: SparkSession, lake: Lake, snapshot: Snapshot, sql: str, limit: int) -> Answer:
    """The rows of a query, at most `limit`; raises UsageError for one that is refused or fails."""
    views = make_views(Work(spark, lake, snapshot))
    written = confined(sql, views)
    try:
        frame = spark.sql(written)
        rows = frame.limit(limit + 1).toArrow().to_pylist()
    except PySparkException as error:
        raise UsageError(_message(error)) from None
    columns = tuple(frame.columns)
    shown = list(islice(rows, limit))
    note = f"only the first {limit:,} rows; --limit shows more" if len(rows) > limit else ""
    texts = [tuple("" if value is None else _text(value) for value in row.values()) for row in shown]
    document = {"version": 1, "columns": list(columns), "rows": json.loads(json.dumps(shown, default=str))}
    return Answer(document, [Grid(f"{len(shown):,} {'row' if len(shown) == 1 else 'rows'}", columns, texts, note)])


def make_views(work: Work) -> tuple[str, ...]:
    """Name the tables of a lake for queries, and those that put things together; the names of all."""
    for kind in TABLES.values():
        work.frame(kind).createOrReplaceTempView(kind.NAME)
    views = definitions("`")
    for name, text in views.items():
        work.spark.sql(text).createOrReplaceTempView(name)
    return (*TABLES, *views)


def _text(value: object) -> str:
    return json.dumps(value, default=str) if isinstance(value, (dict, list)) else str(value)


def _message(error: PySparkException) -> str:
    """The first lines of Spark's message, without the plan and the stack, which Connect announces."""
    lines = [line.strip() for line in str(error).partition("JVM stacktrace:")[0].splitlines()]
    kept = list(islice((line for line in lines if line and not line.startswith(("'", "+-", "==", "at "))), 2))
    return "the query fails: " + " ".join(kept).rstrip(";")
