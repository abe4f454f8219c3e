"""A query over the tables of a lake: one SELECT in DuckDB's SQL, confined to them.

The query is parsed by DuckDB itself and looked through node by node before it is run: it reads the lake's tables and
views, and calls no function that reaches beyond its arguments.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.limits import QUERY_CHARACTERS
from kiplint.pipeline.answers.documents import QueryDocument
from kiplint.pipeline.answers.reader import EXPLAIN, Duck
from kiplint.pipeline.answers.views import VIEWS, definitions
from kiplint.pipeline.lake.delta import one_line
from kiplint.pipeline.lake.lake import Lake, Snapshot, all_parts
from kiplint.pipeline.stage import Work
from kiplint.pipeline.tables import TABLES, Runs
from kiplint.text.show import printable, show_raw
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from sqlglot import exp

    from kiplint.pipeline.answers.reader import Reader


AROUND: Final = 50
"""How much of a query is shown on either side of what is wrong in it."""
_SHOW: Final = re.compile(r"\s*show\s+(?:views|tables)\s*;?\s*", re.IGNORECASE)
_DESCRIBE: Final = re.compile(r"\s*desc(?:ribe)?(?:\s+table)?\s+[`\"]?(\w+)[`\"]?\s*;?\s*", re.IGNORECASE)
_ROWS: Final = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree", "repeat"})
"""The functions that may stand for a table: they make rows of their arguments."""
_OUTSIDE: Final = frozenset(
    {
        *("current_setting", "getvariable", "getenv", "which_secret", "current_query", "current_query_id"),
        *("current_connection_id", "current_transaction_id", "txid_current", "in_search_path"),
        *("currval", "nextval", "setval", "setseed", "sleep_ms", "write_log", "parse_duckdb_log_message"),
        *("json_serialize_plan", "json_execute_serialized_sql", "json_deserialize_sql", "query", "query_table"),
    }
)
"""Functions that know or do more than their arguments say."""
_KIND: Final = re.compile(r"^[A-Z][A-Za-z ]* Error: ")
_PLACE: Final = re.compile(r"\n\nLINE [0-9]+: .*", re.DOTALL)


@contextmanager
def stream(reader: Reader, sql: str) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query, batch by batch; raises UsageError, with a caret, if the query is refused or fails."""
    duck = reader.duck
    written = checked(duck, sql)
    try:
        with duck.reader(written) as batches:
            yield batches
    except (duckdb.Error, pa.ArrowException) as error:
        raise failed(sql, duck.complaint(written) or str(error)) from None


def query(reader: Reader, sql: str, limit: int) -> QueryDocument:
    """The rows of a query, at most `limit`. Raises UsageError as `stream` does."""
    with stream(reader, sql) as batches:
        return _document(batches, batches.schema.names, limit)


def _document(batches: Iterable[pa.RecordBatch], columns: Iterable[str], limit: int) -> QueryDocument:
    """The first rows; values that JSON has not become text."""
    rows: list[tuple[Any, ...]] = []
    for batch in batches:
        rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if len(rows) > limit:
            break
    names = tuple(columns)
    shown = [dict(zip(names, row, strict=True)) for row in rows[:limit]]
    plain = json.loads(json.dumps(shown, default=_plain))
    return QueryDocument(1, names, tuple(plain), truncated=len(rows) > limit)


def checked(duck: Duck, sql: str) -> str:
    """The query for DuckDB; raises UsageError if it does more than read the tables."""
    known = {name.lower(): name for name in duck.names}
    if _SHOW.fullmatch(sql):
        names = ", ".join(f"('{name}')" for name in sorted(known))
        return f"SELECT viewName FROM (VALUES {names}) AS found(viewName)"
    if (described := _DESCRIBE.fullmatch(sql)) and described[1].lower() in known:
        return f"SELECT column_name, column_type FROM (DESCRIBE {known[described[1].lower()]})"
    _require_short(sql)
    try:
        parsed = json.loads(duck.parsed(sql))
    except (duckdb.Error, RecursionError, ValueError) as error:
        raise failed(sql, str(error)) from None
    if parsed["error"] and parsed.get("error_type") == "parser":
        raise failed(sql, parsed["error_message"], int(parsed.get("position") or 0))
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table): it only reads")
    _confine(sql, parsed["statements"][0], known)
    return sql


def _require_short(sql: str) -> None:
    if len(sql) > QUERY_CHARACTERS:
        raise UsageError(QUERY_CHARACTERS.exceeded("the query"))


def _confine(sql: str, statement: dict[str, Any], known: Collection[str]) -> None:
    if statement.get("named_param_map"):
        raise UsageError("a query has no variables")
    nodes = list(_walk(statement))
    inner = {str(entry["key"]).lower() for node in nodes for entry in (node.get("cte_map") or {}).get("map", ())}
    inner |= {str(node["cte_name"]).lower() for node in nodes if node.get("cte_name")}
    for node in nodes:
        kind = node.get("type")
        if kind == "BASE_TABLE":
            _require_table(sql, node, {*known, *inner})
        elif kind == "TABLE_FUNCTION":
            _require_function(sql, node["function"], node, _ROWS.__contains__)
        elif kind == "SHOW_REF":
            raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table): it only reads")
        elif "function_name" in node:
            _require_function(sql, node, node, lambda name: name not in _OUTSIDE)
        elif str(kind).endswith("_REF") and kind not in ("COLUMN_REF", "POSITIONAL_REFERENCE"):
            raise UsageError(f"a query only reads tables: {kind} is refused")


def _walk(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _require_table(sql: str, node: dict[str, Any], known: Collection[str]) -> None:
    name = str(node["table_name"])
    plain = not node.get("schema_name") and not node.get("catalog_name")
    if not plain or name.lower() not in known:
        whole = ".".join(filter(None, (node.get("catalog_name"), node.get("schema_name"), name)))
        raise _pointed(_no_table(whole, name if plain else "", known), sql, node.get("query_location"))


def _no_table(shown: str, name: str, known: Collection[str]) -> str:
    hint = did_you_mean(name.lower(), known) if name else ""
    return f"there is no table {show_raw(shown)} in the lake{hint or '; there are ' + ', '.join(sorted(known))}"


def _require_function(sql: str, function: dict[str, Any], node: dict[str, Any], allowed: Callable[[str], bool]) -> None:
    name = str(function["function_name"])
    if function.get("schema") or function.get("catalog") or not allowed(name.lower()):
        raise _pointed(f"a query calls no function {show_raw(name)}", sql, node.get("query_location"))


def failed(sql: str, message: str, position: int | None = None) -> UsageError:
    """What DuckDB says, in one line, with the place in the query."""
    if position is None and (match := re.search(r"\n\nLINE ([0-9]+): (.*)\n( *)\^", message)):
        line = int(match[1]) - EXPLAIN.count("\n")
        position = _position(sql, line, match[2], len(match[3]) - len(f"LINE {match[1]}: "))
    text = printable(" ".join(_KIND.sub("", _PLACE.sub("", message)).split()))
    return _pointed(f"the query fails: {text}", sql, position)


def _position(sql: str, line: int, shown: str, column: int) -> int | None:
    """Where in the query DuckDB points; it shows a long line from somewhere in its middle."""
    lines = sql.split("\n")
    if not 0 < line <= len(lines):
        return None
    inner = shown.strip(".")
    at = lines[line - 1].find(inner) if inner else -1
    lead = len(shown) - len(shown.lstrip("."))
    return sum(len(text) + 1 for text in lines[: line - 1]) + at + column - lead if at >= 0 else None


def _pointed(message: str, sql: str, position: int | None) -> UsageError:
    """A message, and in the same line what it is about in the query, with a caret before the place."""
    if position is None or not 0 <= position <= len(sql):
        return UsageError(message)
    before, after = " ".join(sql[:position].split()), " ".join(sql[position:].split())
    gap = " " if sql[:position][-1:].isspace() else ""
    cut = "..." if len(before) > AROUND else ""
    rest = "..." if len(after) > AROUND else ""
    shown = f"{cut}{before[-AROUND:]}{gap}^{after[:AROUND]}{rest}"
    return UsageError(f"{message}, at {printable(shown)}")


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):  # what sums of integers come as
        return int(value) if value == value.to_integral_value() else float(value)
    return value if isinstance(value, (int, float)) else str(value)


_NOT_IN_SPARK: Final = {"reflect", "java_method", "try_reflect", "call_function", "call_udf", "udf", "pandas_udf"}


_IN_SPARK: Final = (*TABLES, Runs.NAME, *VIEWS)


def confined(sql: str, tables: Collection[str] = _IN_SPARK) -> str:
    """The query for Spark; raises UsageError if it does more than read the tables."""
    try:
        return _confined(sql, tables)
    except (UsageError, MemoryError, OSError):
        raise
    except RecursionError:
        raise UsageError("the query is nested too deeply") from None
    except Exception as error:  # sqlglot fails in many ways on a query that is wrong
        from sqlglot.errors import SqlglotError

        text = str(error).partition("\n")[0] if isinstance(error, SqlglotError) else "it cannot be read"
        raise UsageError("the query fails: " + one_line(text)) from None


def _confined(sql: str, tables: Collection[str]) -> str:
    from pyspark.sql import functions
    from sqlglot import exp
    from sqlglot.optimizer.scope import traverse_scope

    known = {name.lower() for name in tables}
    if _SHOW.fullmatch(sql):
        return "SHOW VIEWS"
    if (described := _DESCRIBE.fullmatch(sql)) and described[1].lower() in known:
        return f"DESCRIBE `{described[1]}`"

    def require_table(node: exp.Table, names: Collection[str]) -> None:
        plain = isinstance(node.this, exp.Identifier) and not node.args.get("db") and not node.args.get("catalog")
        if not plain or node.name.lower() not in names:
            raise UsageError(_no_table(node.sql(dialect="spark"), node.name if plain else "", names))

    acts = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.QueryTransform, exp.Set, exp.Use, exp.Hint)
    tree = _parsed_for_spark(sql)
    inner = {table.alias_or_name.lower() for table in tree.find_all(exp.CTE)}
    for node in tree.walk():
        if isinstance(node, acts):
            raise UsageError(f"a query only reads: {show_raw(node.sql(dialect='spark'))} is refused")
        if isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
            raise UsageError(f"a query has no variables: {show_raw(node.sql(dialect='spark'))} is refused")
        if isinstance(node, exp.Anonymous):  # which sqlglot has no name of its own for
            name = str(node.this).lower()
            known_function = name not in _NOT_IN_SPARK and callable(getattr(functions, name, None))
            if not known_function or isinstance(node.parent, exp.Dot):
                raise UsageError(f"a query calls no function {show_raw(name)}")
        if isinstance(node, exp.Table):
            require_table(node, known | inner)
    for scope in traverse_scope(tree):  # a name of WITH is none outside its query
        for source in scope.sources.values():
            if isinstance(source, exp.Table):
                require_table(source, known)
    written = str(tree.sql(dialect="spark", identify=True, comments=False))
    if "${" in written:
        raise UsageError("a query has no variables: ${ is refused, even in a string")
    return written


def _parsed_for_spark(sql: str) -> Any:
    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would announce what is refused here
    _require_short(sql)
    statements = [statement for statement in sqlglot.parse(sql, dialect="spark") if statement is not None]
    if len(statements) != 1 or not isinstance(statements[0], sqlglot.exp.Query):
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table)")
    return statements[0]


def spark_query(spark: SparkSession, lake: Lake, snapshot: Snapshot, sql: str, limit: int) -> QueryDocument:
    """The rows of a query that `confined` returned, at most `limit`; raises UsageError if it fails."""
    from pyspark.errors import PySparkException

    make_views(Work(spark, lake, snapshot))
    try:
        frame = spark.sql(sql)
        rows = frame.limit(limit + 1).toArrow()
    except PySparkException as error:
        # The first lines of the message, without the plan and the stack, which Connect announces.
        lines = [line.strip() for line in str(error).partition("JVM stacktrace:")[0].splitlines()]
        kept = [line for line in lines if line and not line.startswith(("'", "+-", "==", "at "))][:2]
        raise UsageError("the query fails: " + " ".join(kept).rstrip(";")) from None
    return _document(rows.to_batches(), frame.columns, limit)


def make_views(work: Work) -> None:
    """Name the tables of a lake for queries in Spark's SQL, and the views on them."""
    for kind in TABLES.values():
        work.frame(kind).createOrReplaceTempView(kind.NAME)
    work.read(Runs.COLUMNS, all_parts(work.lake.storage)).createOrReplaceTempView(Runs.NAME)
    for name, text in definitions(across=bool(work.snapshot.request.get("across"))).items():
        work.spark.sql(text).createOrReplaceTempView(name)
