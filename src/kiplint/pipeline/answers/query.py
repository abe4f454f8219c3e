"""A query over the tables of a lake: one SELECT in DuckDB's SQL, confined to them.

The query is parsed by DuckDB itself and looked through node by node before it is run: it reads the lake's tables and
views, and calls no function that reaches beyond its arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.reader import EXPLAIN, SECONDS, Answer, Duck, Grid
from kiplint.text.show import printable, show_raw
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.pipeline.answers.reader import Reader

LONGEST: Final = 100_000
"""The characters of a query."""
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
def stream(reader: Reader, sql: str, seconds: float = SECONDS) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query, batch by batch; raises UsageError, with a caret, for one that is refused or fails."""
    duck = reader.duck
    written = _written(duck, sql)
    try:
        with duck.reader(written, seconds) as batches:
            yield batches
    except (duckdb.Error, pa.ArrowException) as error:
        raise _failed(sql, duck.complaint(written) or str(error)) from None


def query(reader: Reader, sql: str, limit: int, seconds: float = SECONDS) -> Answer:
    """The rows of a query, at most `limit`. Raises UsageError as `stream` does."""
    with stream(reader, sql, seconds) as batches:
        columns = tuple(batches.schema.names)
        cells: list[tuple[Any, ...]] = []
        for rows in batches:
            cells += zip(*(column.to_pylist() for column in rows.columns), strict=True)
            if len(cells) > limit:
                break
    visible = cells[:limit]
    rows = [dict(zip(columns, row, strict=True)) for row in visible]
    note = f"only the first {limit:,} rows; --limit shows more" if len(cells) > limit else ""
    texts = [tuple("" if value is None else _text(value) for value in row) for row in visible]
    document = {"version": 1, "columns": list(columns), "rows": json.loads(json.dumps(rows, default=_plain))}
    return Answer(document, [Grid(f"{len(visible):,} {'row' if len(visible) == 1 else 'rows'}", columns, texts, note)])


def _written(duck: Duck, sql: str) -> str:
    """The query as DuckDB is given it; raises UsageError for one that does more than read the tables."""
    known = {name.lower(): name for name in duck.names}
    if _SHOW.fullmatch(sql):
        names = ", ".join(f"('{name}')" for name in sorted(known))
        return f"SELECT viewName FROM (VALUES {names}) AS found(viewName)"
    if (described := _DESCRIBE.fullmatch(sql)) and described[1].lower() in known:
        return f"SELECT column_name, column_type FROM (DESCRIBE {known[described[1].lower()]})"
    if len(sql) > LONGEST:
        raise UsageError(f"the query has more than {LONGEST:,} characters")
    try:
        parsed = json.loads(duck.parsed(sql))
    except (duckdb.Error, RecursionError, ValueError) as error:
        raise _failed(sql, str(error)) from None
    if parsed["error"] and parsed.get("error_type") == "parser":
        raise _failed(sql, parsed["error_message"], int(parsed.get("position") or 0))
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table): it only reads")
    _confine(sql, parsed["statements"][0], known)
    return sql


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
        hint = did_you_mean(name.lower(), known) if plain else ""
        hint = hint or f"; there are {', '.join(sorted(known))}"
        raise _pointed(f"there is no table {show_raw(whole)} in the lake{hint}", sql, node.get("query_location"))


def _require_function(sql: str, function: dict[str, Any], node: dict[str, Any], allowed: Any) -> None:
    name = str(function["function_name"])
    if function.get("schema") or function.get("catalog") or not allowed(name.lower()):
        raise _pointed(f"a query calls no function {show_raw(name)}", sql, node.get("query_location"))


def _failed(sql: str, message: str, position: int | None = None) -> UsageError:
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


def _text(value: object) -> str:
    return json.dumps(value, default=_plain) if isinstance(value, (dict, list)) else str(_plain(value))


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):  # what sums of integers come as
        return int(value) if value == value.to_integral_value() else float(value)
    return value if isinstance(value, (int, float)) else str(value)
