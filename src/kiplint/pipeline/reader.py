"""Reading a lake without Spark: its tables of results are small, and a JVM takes longer to start than they to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kiplint.engine.errors import UsageError
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.lake import Lake, Snapshot

Row = dict[str, Any]


class Reader:
    """The newest snapshot of a lake; raises UsageError where there is none."""

    def __init__(self, lake: Lake) -> None:
        if not lake.exists:
            raise UsageError(f"{lake.path} is no lake: `kiplint pipeline run --out {lake.path}` makes one")
        self._lake = lake
        self.snapshot: Snapshot = lake.snapshot()

    def table(self, kind: type[Frame], columns: Sequence[str] | None = None, where: Any = None) -> pa.Table:
        """A table, or some columns or rows of it; raises UsageError when the stage that writes it has not run."""
        if kind.NAME not in self.snapshot.tables:
            raise UsageError(
                f"{self._lake.path} has no {kind.NAME} yet: run the other stages of `kiplint pipeline run`"
            )
        wanted = {name: kind.COLUMNS[name] for name in columns or kind.COLUMNS}
        if where is None:
            return self._lake.read(self.snapshot.parts(kind.NAME), wanted)
        whole = self._lake.read(self.snapshot.parts(kind.NAME), kind.COLUMNS, where)
        return whole.select(list(wanted))

    def rows(self, kind: type[Frame], columns: Sequence[str] | None = None, where: Any = None) -> list[Row]:
        """The same as rows."""
        found: list[Row] = self.table(kind, columns, where).to_pylist()
        return found

    def count(self, kind: type[Frame], where: Any = None) -> int:
        """How many rows a table has; none when it is not there."""
        if kind.NAME not in self.snapshot.tables:
            return 0
        if where is None:
            return self._lake.count(self.snapshot.parts(kind.NAME))
        return int(self.table(kind, None, where).num_rows)


def is_one_of(column: str, values: Iterable[Any]) -> Any:
    """A condition for `where`: the column's value is one of these."""
    return pc.field(column).isin(list(values))


def equals(**values: Any) -> Any:
    """A condition for `where`: all these columns have these values."""
    found = None
    for column, value in values.items():
        one = pc.field(column) == value
        found = one if found is None else found & one
    return found
