"""Queries confined to the tables of a lake: what reads, from these tables, with functions that only compute.

Spark's SQL also reads any file (``parquet.`/path` ``), writes, loads code and runs shells (`TRANSFORM`, `reflect`). So
a query is parsed here (sqlglot), looked through node by node, and Spark is given what was understood, written anew;
never the text itself, which it might understand otherwise.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from typing import Final

import sqlglot
from pyspark.sql import functions
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from kiplint.engine.errors import UsageError
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
    inner = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)}
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
        found = [one for one in sqlglot.parse(sql, dialect="spark") if one is not None]
    except RecursionError:
        raise UsageError("the query fails: it stands too deep inside itself") from None
    except SqlglotError as error:
        raise UsageError("the query fails: " + _COLOR.sub("", str(error)).partition("\n")[0]) from None
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table)")
    return found[0]


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
