"""Spark's functions, as far as the stages use them, in DuckDB's words: with the same results, nulls included."""

# ruff: noqa: A004 - they are called as Spark calls them

from __future__ import annotations

from kiplint.pipeline.local.column import Column, Name, Value, call, named, quoted, text, value
from kiplint.pipeline.local.groups import (
    any_value,
    collect_list,
    countDistinct,
    desc,
    first,
    lag,
    lead,
    max,
    max_by,
    min,
    min_by,
    row_number,
    sum,
)
from kiplint.pipeline.local.lists import (
    array,
    array_contains,
    array_distinct,
    array_join,
    array_sort,
    arrays_overlap,
    arrays_zip,
    exists,
    explode,
    explode_outer,
    filter,
    get,
    size,
    split,
    transform,
    try_element_at,
)

__all__ = [
    "any_value",
    "array",
    "array_contains",
    "array_distinct",
    "array_join",
    "array_sort",
    "arrays_overlap",
    "arrays_zip",
    "broadcast",
    "coalesce",
    "col",
    "collect_list",
    "concat_ws",
    "countDistinct",
    "desc",
    "exists",
    "explode",
    "explode_outer",
    "filter",
    "first",
    "floor",
    "get",
    "get_json_object",
    "greatest",
    "hash",
    "instr",
    "lag",
    "lead",
    "least",
    "like",
    "lit",
    "max",
    "max_by",
    "min",
    "min_by",
    "pmod",
    "regexp_extract_all",
    "regexp_replace",
    "replace",
    "row_number",
    "sha2",
    "size",
    "split",
    "split_part",
    "struct",
    "substr",
    "substring",
    "substring_index",
    "sum",
    "transform",
    "trim",
    "try_element_at",
    "try_validate_utf8",
    "when",
    "xxhash64",
]

col = named
lit = value


def when(condition: Column, then: Value) -> Column:
    """What holds in a case; null in all others."""
    return Column(f"CASE WHEN {condition.sql} THEN {value(then).sql} END")


def coalesce(*columns: Name) -> Column:
    """The first that is not null."""
    return call("coalesce", *columns)


def greatest(*columns: Name) -> Column:
    """The greatest, whatever is null."""
    return call("greatest", *columns)


def least(*columns: Name) -> Column:
    """The least, whatever is null."""
    return call("least", *columns)


def struct(*columns: Name) -> Column:
    """Columns as one; it is ordered by them one by one."""
    found = [named(one) for one in columns]
    names = [one.name or f"col{at}" for at, one in enumerate(found, 1)]
    fields = ", ".join(f"{quoted(name)} := {one.sql}" for name, one in zip(names, found, strict=True))
    order = ", ".join(f"n{at} := {one.sql} IS NOT NULL, v{at} := {one.order}" for at, one in enumerate(found))
    return Column(f"struct_pack({fields})", order=f"struct_pack({order})")


def concat_ws(separator: str, *columns: Name) -> Column:
    """Those that are not null, as one text."""
    return Column(f"concat_ws({text(separator)}, {', '.join(named(one).sql for one in columns)})")


def substring(column: Name, start: int, length: int) -> Column:
    """So many characters, from the first as 1."""
    return call("substring", column, lit(start), lit(length))


def substr(column: Name, start: Name) -> Column:
    """All characters from one on."""
    return call("substr", column, start)


def instr(column: Name, inner: str) -> Column:
    """Where a text begins in another, from 1; 0 where it is not in it."""
    return call("instr", column, lit(inner))


def substring_index(column: Name, delimiter: str, number: int) -> Column:
    """What comes before the first delimiter; raises ValueError for another number."""
    if number != 1:
        raise ValueError("only the first is known")
    return call("split_part", column, lit(delimiter), lit(1))


def split_part(column: Name, delimiter: Column, number: Column) -> Column:
    """A part of a text."""
    return call("split_part", column, delimiter, number)


def replace(column: Name, old: Column, new: Column) -> Column:
    """A text with another instead of one."""
    return call("replace", column, old, new)


def like(column: Name, pattern: Column) -> Column:
    """Whether a text has a form; a backslash makes what follows plain."""
    return Column(f"({named(column).sql} LIKE {pattern.sql} ESCAPE '\\')")


def trim(column: Name, characters: Column) -> Column:
    """A text without some characters at its ends."""
    return call("trim", column, characters)


def try_validate_utf8(column: Name) -> Column:
    """Bytes as text, null where they are none."""
    return Column(f"try(decode({named(column).sql}))")


def regexp_replace(column: Name, pattern: str, replacement: str) -> Column:
    """A text with another for each match."""
    return call("regexp_replace", column, lit(pattern), lit(replacement), lit("g"))


def regexp_extract_all(column: Name, pattern: Column, group: Column) -> Column:
    """A group of each match."""
    return call("regexp_extract_all", column, pattern, group)


def get_json_object(column: Name, path: str) -> Column:
    """A text inside JSON text."""
    return call("json_extract_string", column, lit(path))


def sha2(column: Name, _bits: int) -> Column:
    """SHA-256 in hexadecimal digits."""
    return call("sha256", column)


def hash(column: Name) -> Column:  # noqa: A001 - Spark's name
    """A number that is the same for the same value, in one run."""
    return Column(f"CAST(hash({named(column).sql}) >> 1 AS BIGINT)")


xxhash64 = hash


def pmod(number: Name, by: Column) -> Column:
    """The remainder of a number that is not negative."""
    return Column(f"({named(number).sql} % {by.sql})")


def floor(column: Name) -> Column:
    """The whole number below."""
    return Column(f"CAST(floor({named(column).sql}) AS BIGINT)")


def broadcast(df: object) -> object:
    """There is nowhere to send it."""
    return df
