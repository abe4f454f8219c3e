"""DataFrames as Spark has them: views of DuckDB's, one on another, that are only worked out when rows are asked for."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kiplint.pipeline.columns import arrow_schema, columns_in
from kiplint.pipeline.local.column import Column, children, named, ordered, quoted, spark_type, value

if TYPE_CHECKING:
    from kiplint.pipeline.local.session import Session

A_BATCH = 1000
"""The rows that are handed on at once."""
Batches = Iterable[pa.RecordBatch]


class DataFrame:
    """Rows of a view."""

    def __init__(self, session: Session, view: str) -> None:
        self._session = session
        self._view = view
        self._kinds = session.kinds(view)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._kinds)

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """The columns with their types in Spark's words."""
        return [(name, spark_type(kind)) for name, kind in self._kinds.items()]

    def select(self, *columns: Column | str) -> DataFrame:
        """Some columns."""
        return self._made(f"SELECT {self._told(columns)} FROM {self._view}")

    def selectExpr(self, *texts: str) -> DataFrame:  # noqa: N802 - Spark's name
        """Columns that are written out."""
        return self._made(f"SELECT {', '.join(texts)} FROM {self._view}")

    def where(self, condition: Column | str) -> DataFrame:
        """The rows of which something holds."""
        text = condition if isinstance(condition, str) else condition.sql
        return self._made(f"SELECT * FROM {self._view} WHERE {text}")

    def withColumn(self, name: str, column: Column) -> DataFrame:  # noqa: N802 - Spark's name
        """One more column, or another instead of it."""
        return self.withColumns({name: column})

    def withColumns(self, columns: Mapping[str, Column]) -> DataFrame:  # noqa: N802 - Spark's name
        """More columns, or others instead of them."""
        names = dict.fromkeys([*self._kinds, *columns])
        return self.select(*(columns[name].alias(name) if name in columns else named_here(name) for name in names))

    def withColumnRenamed(self, old: str, new: str) -> DataFrame:  # noqa: N802 - Spark's name
        """The same with another name for a column."""
        return self.select(*(named_here(name).alias(new if name == old else name) for name in self._kinds))

    def toDF(self, *names: str) -> DataFrame:  # noqa: N802 - Spark's name
        """The same with other names."""
        pairs = zip(self._kinds, names, strict=True)
        return self.select(*(named_here(old).alias(new) for old, new in pairs))

    def drop(self, *names: str) -> DataFrame:
        """All columns but some."""
        return self.select(*(named_here(name) for name in self._kinds if name not in names))

    def distinct(self) -> DataFrame:
        """Each row once."""
        return self._made(f"SELECT DISTINCT * FROM {self._view}")

    def fillna(self, filled: int, names: Sequence[str]) -> DataFrame:
        """The same with a number where there is none."""
        return self.withColumns({name: Column(f"coalesce({quoted(name)}, {value(filled).sql})") for name in names})

    def orderBy(self, *columns: Column | str) -> DataFrame:  # noqa: N802 - Spark's name
        """The same in an order."""
        return self._made(f"SELECT * FROM {self._view} ORDER BY {ordered(columns)}")

    sortWithinPartitions = orderBy  # noqa: N815 - Spark's name

    def unionByName(self, other: DataFrame) -> DataFrame:  # noqa: N802 - Spark's name
        """The rows of both."""
        return self._made(f"SELECT * FROM {self._view} UNION ALL BY NAME SELECT * FROM {other._view}")

    def crossJoin(self, other: DataFrame) -> DataFrame:  # noqa: N802 - Spark's name
        """Each row with each."""
        return self._made(f"SELECT * FROM {self._view} CROSS JOIN {other._view}")

    def join(self, other: DataFrame, on: Sequence[str] | Column | str, how: str = "inner") -> DataFrame:
        """The rows that match."""
        if isinstance(on, Column):
            return self._made(f"SELECT * FROM {self._view} {how} JOIN {other._view} ON {on.sql}")
        keys = [on] if isinstance(on, str) else list(on)
        using = f"{how} JOIN {other._view} AS r USING ({', '.join(map(quoted, keys))})"
        first = [*map(quoted, keys), *(f"l.{quoted(name)}" for name in self._kinds if name not in keys)]
        more = [] if how == "anti" else [f"r.{quoted(name)}" for name in other._kinds if name not in keys]
        return self._made(f"SELECT {', '.join((*first, *more))} FROM {self._view} AS l {using}")

    def groupBy(self, *columns: Column | str) -> Groups:  # noqa: N802 - Spark's name
        """The rows with the same values."""
        return Groups(self, [named(one) for one in columns])

    def repartition(self, *_: object) -> DataFrame:
        """There is one partition."""
        return self

    coalesce = hint = repartition

    def mapInArrow(self, work: Callable[[Batches], Iterable[pa.RecordBatch]], ddl: str) -> DataFrame:  # noqa: N802
        """What is made of the rows, at once; the columns are those of what comes out."""
        with _as_it_was():
            found = list(work(self._batches()))
        return self._session.of(pa.Table.from_batches(found, arrow_schema(columns_in(ddl))))

    def collect(self) -> list[Any]:
        """The rows."""
        return self._session.rows(f"FROM {self._view}", self.columns)

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        """The rows as an Arrow table."""
        return self._session.table(f"FROM {self._view}")

    def _batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._session.batches(f"FROM {self._view}", A_BATCH)

    def _made(self, sql: str) -> DataFrame:
        return self._session.made(sql)

    def _told(self, columns: Iterable[Column | str]) -> str:
        told = []
        for one in columns:
            if isinstance(one, str) and one == "*":
                told += [quoted(name) for name in self._kinds]
            elif isinstance(one, str) and one.endswith(".*"):
                inner = named(one[:-2]).sql
                fields = children(self._kinds[one[:-2]])
                told += [f"{inner}.{quoted(name)} AS {quoted(name)}" for name, _ in fields]
            else:
                found = named(one)
                told.append(f"{found.sql} AS {quoted(found.name)}" if found.name else found.sql)
        return ", ".join(told)


class Groups:
    """Rows in groups: out of each comes one."""

    def __init__(self, df: DataFrame, keys: list[Column]) -> None:
        self._df = df
        self._keys = keys
        self._pivot: tuple[str, Sequence[str]] | None = None

    def pivot(self, column: str, values: Sequence[str]) -> Groups:
        """Columns for the values of one."""
        self._pivot = column, values
        return self

    def agg(self, *columns: Column) -> DataFrame:
        """What there is to say of each group."""
        found = list(columns)
        if self._pivot:
            name, values = self._pivot
            found = [
                Column(f"{one.sql} FILTER ({quoted(name)} = {value(each).sql})", each)
                for one in found
                for each in values
            ]
        keys = ", ".join(one.sql for one in self._keys)
        told = self._df._told([*self._keys, *found])
        return self._df._made(f"SELECT {told} FROM {self._df._view} GROUP BY {keys}")


def named_here(name: str) -> Column:
    """A column by its whole name, dots included."""
    return Column(quoted(name), name)


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Workers collect no garbage; this process goes on after their work."""
    gc.collect()
    try:
        yield
    finally:
        gc.enable()
