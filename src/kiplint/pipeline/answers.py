"""Queries of a lake by DuckDB, without a JVM: its tables, and the views of `views.sql` that answer questions."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from kiplint.engine.errors import UsageError
from kiplint.pipeline.directory import FORMAT, read_settings, require_no_links
from kiplint.pipeline.tables import TABLES, damage, damaged_table, has_table, open_table

VIEWS: Final = files("kiplint.pipeline") / "views.sql"


class Rows(NamedTuple):
    """The result of a query: the names of its columns, and its rows as tuples of their values."""

    columns: Sequence[str]
    values: Sequence[tuple[Any, ...]]

    @property
    def records(self) -> list[dict[str, Any]]:
        """Each row as a mapping from the names of the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.values]


class Answers:
    """A connection to the tables and views of a lake. Raises UsageError where there is no lake or a damaged one."""

    def __init__(self, path: Path) -> None:
        require_no_links(path)
        missing_tables = [name for name in TABLES if not has_table(path, name)]
        if missing_tables:
            what = "is not a lake" if len(missing_tables) == len(TABLES) else f"has no table {missing_tables[0]}"
            raise UsageError(f"{path} {what}; `kiplint pipeline run` creates it")
        if read_settings(path).format != FORMAT:
            raise UsageError(f"{path} was written by an older kiplint; `kiplint pipeline run` brings it up to date")
        self.path = path
        self._duck = duckdb.connect()
        self._duck.execute("SET TimeZone = 'UTC'")
        for name in TABLES:
            self._duck.register(name, open_table(path, name).to_pyarrow_dataset())
        self._duck.execute(VIEWS.read_text("utf-8"))
        self._duck.execute("SET enable_external_access = false; SET lock_configuration = true")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """The rows of a SELECT, whose parameters `$1` have these values."""
        try:
            cursor = self._duck.execute(sql, list(values))
            return Rows([column[0] for column in cursor.description or ()], cursor.fetchall())
        except (duckdb.Error, OSError) as error:
            if table := damaged_table(error):
                raise damage(self.path, table) from error
            raise

    def query(self, sql: str) -> Rows:
        """The rows of a user's query. Raises UsageError for a query that fails or that is not a SELECT."""
        try:
            statements = duckdb.extract_statements(sql)  # SHOW TABLES and DESCRIBE are of type SELECT too
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise UsageError("a query must be read-only: one SELECT, SHOW TABLES, or DESCRIBE with a table")
            return self.rows(sql)
        except duckdb.Error as error:
            first_line, _, _ = str(error).strip().partition("\n")
            raise UsageError(f"the query failed: {first_line}") from None
