"""Spark's functions of several rows, in DuckDB's words: of groups, and along windows."""

from __future__ import annotations

from kiplint.pipeline.local.column import Column, Name, call, named


def desc(column: str) -> Column:
    """The greatest first, nulls last."""
    return Column(named(column).sql, order=f"{named(column).sql} DESC NULLS LAST")


def row_number() -> Column:
    """The number of a row in its window, from 1."""
    return Column("row_number()")


def lag(column: Name) -> Column:
    """The value in the row before."""
    return call("lag", column)


def lead(column: Name) -> Column:
    """The value in the next row."""
    return call("lead", column)


def sum(column: Name) -> Column:  # noqa: A001 - Spark's name
    """The sum."""
    return call("sum", column)


def max(column: Name) -> Column:  # noqa: A001 - Spark's name
    """The greatest."""
    return _most("max", named(column))


def min(column: Name) -> Column:  # noqa: A001 - Spark's name
    """The least."""
    return _most("min", named(column))


def max_by(column: Name, order: Name) -> Column:
    """The value where another is greatest."""
    return Column(f"arg_max_null({named(column).sql}, {named(order).order})")


def min_by(column: Name, order: Name) -> Column:
    """The value where another is least."""
    return Column(f"arg_min_null({named(column).sql}, {named(order).order})")


def first(column: Name) -> Column:
    """That of one row."""
    return call("first", column)


any_value = first


def collect_list(column: Name) -> Column:
    """Those that are not null, as a list."""
    found = named(column).sql
    return Column(f"coalesce(list({found}) FILTER ({found} IS NOT NULL), [])")


def countDistinct(column: Name) -> Column:  # noqa: N802 - Spark's name
    """How many different ones there are."""
    return Column(f"count(DISTINCT {named(column).sql})")


def _most(which: str, column: Column) -> Column:
    if column.order == column.sql:
        return Column(f"{which}({column.sql})")
    return Column(f"arg_{which}_null({column.sql}, {column.order})")
