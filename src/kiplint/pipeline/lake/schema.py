"""Schemas as data: the columns of a table with their types in Spark's words, and the same types in Arrow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame


Columns = Mapping[str, str]
"""Types by column name: `string`, `int`, `bigint`, `boolean`, `binary`, `timestamp`, `array<T>`, `struct<name:T>`."""

SOURCE = "source"
"""The column that large tables are partitioned by."""
_PLAIN = {"string": "string", "int": "int32", "bigint": "int64", "boolean": "bool_", "binary": "binary"}
_WORD = re.compile(r"\w+|[<>:,]")


def columns(text: str) -> Columns:
    """Columns as `name type, name type`; without a type it is a string."""
    pairs = (column.split() for column in text.split(","))
    return {name: kind[0] if kind else "string" for name, *kind in pairs}


def ddl(columns: Columns) -> str:
    """The columns as Spark's DDL."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def struct(columns: Columns) -> str:
    """A struct with these columns, as the type of one column."""
    return "struct<" + ",".join(f"{name}:{kind}" for name, kind in columns.items()) + ">"


def array(columns: Columns) -> str:
    """A list of structs with these columns, as the type of one column."""
    return f"array<{struct(columns)}>"


def arrow_schema(columns: Columns) -> pa.Schema:
    """The columns as an Arrow schema."""
    import pyarrow as pa

    return pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()])


@cache
def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type for a type; raises ValueError for a type that `Columns` does not have."""
    words = _WORD.findall(kind)
    arrow = _parse(words)
    if words:
        raise ValueError(f"not a column type: {kind}")
    return arrow


def batch(columns: Columns, rows: Iterable[Sequence[object]]) -> pa.RecordBatch:
    """Rows as an Arrow batch, each with one value for each column, structs as mappings; texts as `text` has them."""
    import pyarrow as pa

    schema = arrow_schema(columns)
    values = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [_array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def table(columns: Columns, rows: Iterable[Sequence[object]]) -> pa.Table:
    """Rows as an Arrow table."""
    import pyarrow as pa

    return pa.Table.from_batches([batch(columns, rows)], arrow_schema(columns))


def text(value: str) -> str:
    """Text that UTF-8 can hold: definitions can have lone surrogates, which become escapes."""
    return value.encode("utf-8", "backslashreplace").decode()


def number(value: int | None) -> int | None:
    """A number of a definition that fits an int column, else null."""
    return value if value is not None and abs(value) < 1 << 31 else None


def _array(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array(list(map(_writable, values)), kind)


def _writable(value: object) -> object:
    """A value with all texts in it as `text` has them."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {name: _writable(inner) for name, inner in value.items()}
    return list(map(_writable, value)) if isinstance(value, list | tuple) else value


def _parse(words: list[str]) -> pa.DataType:
    import pyarrow as pa

    word = words.pop(0) if words else ""
    if word in _PLAIN:
        return getattr(pa, _PLAIN[word])()
    if word == "timestamp":
        return pa.timestamp("us", tz="UTC")
    if word == "array" and words.pop(0) == "<":
        inner = _parse(words)
        words.pop(0)
        return pa.list_(inner)
    if word == "struct" and words.pop(0) == "<":
        fields = []
        while True:
            name = words.pop(0)
            words.pop(0)
            fields.append((name, _parse(words)))
            if words.pop(0) == ">":
                return pa.struct(fields)
    raise ValueError(f"not a column type: {word}")


@dataclass(frozen=True)
class TableFrame:
    """A DataFrame whose columns are what the class says, in that order; raises ValueError for any other.

    `SCHEMA` has a line for each column: its name, its type, with `!` where it is never null, and what it means.
    """

    df: DataFrame
    NAME: ClassVar[str]
    ABOUT: ClassVar[str]
    SCHEMA: ClassVar[str]
    PARTITIONED: ClassVar[bool] = False
    """Whether the table is partitioned by its first column, `source`."""
    COLUMNS: ClassVar[Columns]
    COMMENTS: ClassVar[Mapping[str, str]]
    REQUIRED: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        cls.NAME = cls.__name__.lower()
        lines = [line.split(None, 2) for line in cls.SCHEMA.strip().splitlines()]
        cls.COLUMNS = {name: kind.rstrip("!") for name, kind, _ in lines}
        cls.COMMENTS = {name: comment for name, _, comment in lines}
        cls.REQUIRED = frozenset(name for name, kind, _ in lines if kind.endswith("!"))

    def __post_init__(self) -> None:
        types, column_types = self.df.dtypes, list(self.COLUMNS.items())
        if types != column_types:
            off = [f"{name} {kind}" for name, kind in types if (name, kind) not in column_types]
            missing = [f"{name} {kind}" for name, kind in column_types if (name, kind) not in types]
            columns = ("misses", missing), ("has", off)
            differences = "; ".join(f"{what} {', '.join(names)}" for what, names in columns if names)
            raise ValueError(f"not a table {self.NAME}: it {differences or 'has its columns in another order'}")

    @classmethod
    def delta_schema(cls) -> pa.Schema:
        """The Arrow schema of the Delta table, with comments, and without nulls where there are none."""
        import pyarrow as pa

        return pa.schema(
            [
                pa.field(name, arrow_type(kind), name not in cls.REQUIRED, {"comment": cls.COMMENTS[name]})
                for name, kind in cls.COLUMNS.items()
            ]
        )
