"""Windows as Spark has them."""

from __future__ import annotations

from kiplint.pipeline.local.column import Column, listed, ordered


class Line:
    """Rows that belong together, in an order, and which of them count for one."""

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def orderBy(self, *columns: Column | str) -> Line:  # noqa: N802 - Spark's name
        """The same in an order."""
        return Line(f"{self.sql} ORDER BY {ordered(columns)}")

    def rowsBetween(self, start: str, end: str) -> Line:  # noqa: N802 - Spark's name
        """The same with those rows alone."""
        return Line(f"{self.sql} ROWS BETWEEN {start} AND {end}")


class Window:
    """Where a window begins."""

    unboundedPreceding = "UNBOUNDED PRECEDING"  # noqa: N815 - Spark's name
    currentRow = "CURRENT ROW"  # noqa: N815 - Spark's name

    @staticmethod
    def partitionBy(*columns: Column | str) -> Line:  # noqa: N802 - Spark's name
        """The rows with the same values."""
        return Line(f"PARTITION BY {listed(columns)}")
