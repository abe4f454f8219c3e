"""A session as Spark has it, in this process: a connection to DuckDB that knows no file but those it is given."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import duckdb
import pyarrow as pa

from kiplint.pipeline.local.column import text
from kiplint.pipeline.local.frame import DataFrame
from kiplint.sources.cleanup import at_end

SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET autoinstall_known_extensions = false",
    "SET python_enable_replacements = false",
)


class Session:
    """What frames are made in."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(":memory:")
        spilled = mkdtemp(prefix="kiplint-")
        at_end(lambda: rmtree(spilled, ignore_errors=True))
        self._connection.execute(f"SET temp_directory = {text(spilled)}")
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

    @staticmethod
    def complaint(error: Exception) -> str:
        """What this machine has too little of, in one line; empty for an error of another kind."""
        few = duckdb.OutOfMemoryException, duckdb.IOException
        return str(error).splitlines()[0] if isinstance(error, few) else ""

    def stop(self) -> None:
        """Forget all."""
        self._connection.close()
