"""A session as Spark has it, in this process: a connection to DuckDB that knows no file but those it is given."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa

from kiplint.pipeline.local.frame import DataFrame

SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET autoinstall_known_extensions = false",
    "SET python_enable_replacements = false",
)


class Session:
    """What frames are made in."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(":memory:")
        for one in SETTINGS:
            self._connection.execute(one)
        self._numbers = count()

    def of(self, found: Any) -> DataFrame:
        """The rows of an Arrow table or dataset."""
        name = f"given{next(self._numbers)}"
        self._connection.register(name, found)
        return DataFrame(self, name)

    def made(self, sql: str) -> DataFrame:
        """The rows of a query."""
        name = f"made{next(self._numbers)}"
        self._connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return DataFrame(self, name)

    def kinds(self, view: str) -> dict[str, object]:
        """The columns of a view, with DuckDB's types."""
        found = self._connection.sql(f"FROM {view} LIMIT 0")
        return dict(zip(found.columns, found.types, strict=True))

    def table(self, sql: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return self._connection.sql(sql).to_arrow_table()

    def batches(self, sql: str, most: int) -> pa.RecordBatchReader:
        """The same as it comes, so many rows at once."""
        return self._connection.sql(sql).to_arrow_reader(most)

    def rows(self, sql: str, names: Iterable[str]) -> list[Any]:
        """The rows of a query, with columns as attributes."""
        row = namedtuple("Row", names, rename=True)  # type: ignore[misc]
        return [row(*one) for one in self._connection.sql(sql).fetchall()]

    def stop(self) -> None:
        """Forget all."""
        self._connection.close()
