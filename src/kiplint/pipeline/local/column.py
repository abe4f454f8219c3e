"""Columns as Spark has them, each an expression of DuckDB's.

A string is a column's name, with dots into structs, where Spark takes one for a name, and a value elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kiplint.pipeline.local.window import Line

_KINDS = {
    "string": "VARCHAR",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
}


class Column:
    """An expression; `name` is what it is called in a result.

    `order` is what it is ordered by where that is another: nulls inside a struct are the least for Spark, and the most
    for DuckDB. `rows` says that it makes several rows out of one.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, sql: str, name: str = "", order: str = "", *, rows: bool = False) -> None:
        self.sql = sql
        self.name = name
        self.order = order or sql
        self.rows = rows

    def alias(self, name: str) -> Column:
        """The same with a name."""
        return Column(self.sql, name, self.order, rows=self.rows)

    def cast(self, kind: str) -> Column:
        """The same as another type."""
        return Column(f"CAST({self.sql} AS {duck_type(kind)})", self.name)

    def try_cast(self, kind: str) -> Column:
        """The same as another type, null where it is none."""
        return Column(f"TRY_CAST({self.sql} AS {duck_type(kind)})", self.name)

    def isNull(self) -> Column:  # noqa: N802 - Spark's name
        """Whether it is null."""
        return Column(f"({self.sql} IS NULL)")

    def isNotNull(self) -> Column:  # noqa: N802 - Spark's name
        """Whether it is not null."""
        return Column(f"({self.sql} IS NOT NULL)")

    def isin(self, *values: Value | list[str]) -> Column:
        """Whether it is one of some values."""
        each = [one for some in values for one in (some if isinstance(some, list) else [some])]
        return Column(f"({self.sql} IN ({', '.join(value(one).sql for one in each)}))")

    def eqNullSafe(self, other: Value) -> Column:  # noqa: N802 - Spark's name
        """Whether it is equal, as two nulls are too."""
        return self._with("IS NOT DISTINCT FROM", other)

    def over(self, line: Line) -> Column:
        """A function along a window."""
        return Column(f"{self.sql} OVER ({line.sql})")

    def when(self, condition: Column, then: Value) -> Column:
        """One more case."""
        return Column(f"{self.sql.removesuffix(' END')} WHEN {condition.sql} THEN {value(then).sql} END")

    def otherwise(self, other: Value) -> Column:
        """What holds in no case."""
        return Column(f"({self.sql.removesuffix(' END')} ELSE {value(other).sql} END)")

    def __getitem__(self, field: str) -> Column:
        return Column(f"({self.sql}).{quoted(field)}", field)

    def __eq__(self, other: Value) -> Column:  # type: ignore[override]
        return self._with("=", other)

    def __ne__(self, other: Value) -> Column:  # type: ignore[override]
        return self._with("<>", other)

    def __lt__(self, other: Value) -> Column:
        return self._with("<", other)

    def __le__(self, other: Value) -> Column:
        return self._with("<=", other)

    def __gt__(self, other: Value) -> Column:
        return self._with(">", other)

    def __ge__(self, other: Value) -> Column:
        return self._with(">=", other)

    def __add__(self, other: Value) -> Column:
        return self._with("+", other)

    def __sub__(self, other: Value) -> Column:
        return self._with("-", other)

    def __mul__(self, other: Value) -> Column:
        return self._with("*", other)

    def __truediv__(self, other: Value) -> Column:
        return self._with("/", other)

    def __and__(self, other: Value) -> Column:
        return self._with("AND", other)

    def __or__(self, other: Value) -> Column:
        return self._with("OR", other)

    def __invert__(self) -> Column:
        return Column(f"(NOT {self.sql})")

    def __neg__(self) -> Column:
        return Column(f"(-{self.sql})")

    def __bool__(self) -> bool:
        raise ValueError("a column is true in some rows: use &, | and ~")

    def _with(self, operator: str, other: Value) -> Column:
        return Column(f"({self.sql} {operator} {value(other).sql})")


Value: TypeAlias = "Column | str | int | bool | None"
Name: TypeAlias = "Column | str"


def named(name: Column | str) -> Column:
    """A column by its name."""
    if isinstance(name, Column):
        return name
    return Column(".".join(map(quoted, name.split("."))), name.rpartition(".")[2])


def value(of: Value) -> Column:
    """A value as a column."""
    if isinstance(of, Column):
        return of
    if isinstance(of, str):
        return Column(text(of))
    return Column("NULL" if of is None else str(of).lower())


def call(function: str, *columns: Name) -> Column:
    """What a function of DuckDB's makes of columns."""
    return Column(f"{function}({', '.join(named(one).sql for one in columns)})")


def text(of: str) -> str:
    """Text as DuckDB writes it; it has no way to write a NUL inside."""
    parts = ["'" + part.replace("'", "''") + "'" for part in of.split("\0")]
    return parts[0] if len(parts) == 1 else f"concat({', chr(0), '.join(parts)})"


def quoted(name: str) -> str:
    """A name that is nothing else, whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def listed(columns: Iterable[Column | str]) -> str:
    """Columns with commas between them."""
    return ", ".join(named(one).sql for one in columns)


def ordered(columns: Iterable[Column | str]) -> str:
    """Columns to order by, as Spark does: nulls are the least."""
    orders = (named(one).order for one in columns)
    return ", ".join(one if one.endswith("NULLS LAST") else f"{one} ASC NULLS FIRST" for one in orders)


def duck_type(kind: str) -> str:
    """What DuckDB calls a type of Spark's."""
    if kind.startswith("array<"):
        return duck_type(kind[6:-1]) + "[]"
    return _KINDS[kind]


def spark_type(kind: object) -> str:
    """What Spark calls a type of DuckDB's."""
    word = str(getattr(kind, "id"))  # noqa: B009 - DuckDB's stub has it as a method
    if word == "list":
        return f"array<{spark_type(children(kind)[0][1])}>"
    if word == "struct":
        return "struct<" + ",".join(f"{name}:{spark_type(inner)}" for name, inner in children(kind)) + ">"
    return next((ours for ours, theirs in _KINDS.items() if theirs.lower() == word), word)


def children(kind: object) -> list[tuple[str, object]]:
    """The fields of a struct, or the one of a list, with their types."""
    return list(getattr(kind, "children"))  # noqa: B009 - as above
