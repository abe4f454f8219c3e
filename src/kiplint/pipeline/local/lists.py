"""Spark's functions of lists, in DuckDB's words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from kiplint.pipeline.local.column import Column, Name, Value, call, named, quoted, value

lit = value
_numbers = count()


def array(*columns: Name) -> Column:
    """Columns as a list."""
    return Column(f"[{', '.join(named(one).sql for one in columns)}]")


def array_join(column: Name, separator: str) -> Column:
    """The elements that are not null, as one text."""
    return call("array_to_string", column, lit(separator))


def split(column: Name, delimiter: str) -> Column:
    """The parts of a text."""
    return call("string_split", column, lit(delimiter))


def size(column: Name) -> Column:
    """How many elements there are."""
    return Column(f"CAST(len({named(column).sql}) AS INTEGER)")


def exists(column: Name, test: Callable[[Column], Column]) -> Column:
    """Whether something holds of an element; null without a list."""
    return Column(f"(len(list_filter({named(column).sql}, {_lambda(test)})) > 0)")


def filter(column: Name, test: Callable[[Column], Column]) -> Column:  # noqa: A001 - Spark's name
    """The elements of which something holds."""
    return Column(f"list_filter({named(column).sql}, {_lambda(test)})")


def transform(column: Name, made: Callable[[Column], Column]) -> Column:
    """What is made of each element."""
    return Column(f"list_transform({named(column).sql}, {_lambda(made)})")


def array_contains(column: Name, of: Value) -> Column:
    """Whether a value is an element of a list without nulls."""
    return call("list_contains", column, value(of))


def arrays_overlap(one: Name, other: Name) -> Column:
    """Whether two lists without nulls have an element in common."""
    return call("list_has_any", one, other)


def array_distinct(column: Name) -> Column:
    """Each element once."""
    return call("list_distinct", column)


def array_sort(column: Name) -> Column:
    """The elements in their order."""
    return Column(f"list_sort({named(column).sql}, 'ASC', 'NULLS LAST')")


def arrays_zip(one: str, other: str) -> Column:
    """Two lists as one, of structs; the shorter goes on with nulls."""
    sides = named(one).sql, named(other).sql
    pair = f"struct_pack({quoted(one)} := one[1], {quoted(other)} := one[2])"
    zipped = f"list_transform(list_zip({', '.join(sides)}), lambda one: {pair})"
    return Column(f"CASE WHEN {' IS NOT NULL AND '.join(sides)} IS NOT NULL THEN {zipped} END")


def get(column: Name, at: int) -> Column:
    """An element, from 0; null where there is none."""
    return Column(f"{named(column).sql}[{at + 1}]")


def try_element_at(column: Name, at: Column) -> Column:
    """An element, from 1; null where there is none."""
    return Column(f"{named(column).sql}[{at.sql}]")


def explode(column: Name) -> Column:
    """A row for each element."""
    return Column(f"unnest({named(column).sql})", "col", rows=True)


def explode_outer(column: Name) -> Column:
    """A row for each element, and one with null where there is none."""
    found = named(column).sql
    return Column(f"unnest(CASE WHEN len({found}) > 0 THEN {found} ELSE [NULL] END)", "col", rows=True)


def _lambda(made: Callable[[Column], Column]) -> str:
    name = f"one{next(_numbers)}"
    return f"lambda {name}: {made(Column(name)).sql}"
