"""Reading a lake without Spark: its tables through Arrow and DuckDB, as of one state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.delta import Parts, reading, rows_in
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.ground import MARK
from kiplint.pipeline.lake import Lake, Snapshot

if TYPE_CHECKING:
    from kiplint.pipeline.answers.duck import Duck

Row = dict[str, Any]


class Reader:
    """A state of a lake, the newest or that as of a time or run; raises UsageError where there is none."""

    def __init__(self, lake: Lake, as_of: str = "") -> None:
        if not lake.exists:
            raise _no_lake(lake)
        self.lake = lake
        self.snapshot: Snapshot = lake.snapshot(as_of)

    @cached_property
    def duck(self) -> Duck:
        """The tables for queries in SQL."""
        from kiplint.pipeline.answers.duck import Duck

        return Duck(self)

    def has(self, kind: type[Frame]) -> bool:
        """Whether a stage has written a table."""
        return kind.NAME in self.snapshot.tables

    def require(self, *kinds: type[Frame]) -> None:
        """Raise UsageError when the stage that writes one of these has not run."""
        for kind in kinds:
            if not self.has(kind):
                raise UsageError(f"{self.lake} has no {kind.NAME} yet: run the other stages of `kiplint pipeline run`")

    def parts(self, kind: type[Frame]) -> Parts:
        """The files of a table, none when it is not there."""
        return self.lake.parts(kind.NAME, self.snapshot.tables.get(kind.NAME))

    def table(self, kind: type[Frame], columns: Sequence[str] | None = None, where: Any = None) -> pa.Table:
        """A table, or some columns or rows of it.

        Raises UsageError when the stage that writes it has not run, or when its files are damaged.
        """
        self.require(kind)
        return self.lake.read(self.parts(kind), kind.COLUMNS, where, list(columns or kind.COLUMNS))

    def rows(self, kind: type[Frame], columns: Sequence[str] | None = None, where: Any = None) -> list[Row]:
        """The same as rows."""
        found: list[Row] = self.table(kind, columns, where).to_pylist()
        return found

    def count(self, kind: type[Frame]) -> int:
        """How many rows a table has; none when it is not there."""
        return rows_in(self.parts(kind))


def is_one_of(column: str, values: Iterable[Any]) -> Any:
    """A condition for `where`: the column, which holds text where there are none, has one of these values."""
    import pyarrow.compute as pc

    found = list(values)
    return pc.field(column).isin(pa.array(found, None if found else pa.string()))


def equals(**values: Any) -> Any:
    """A condition for `where`: all these columns have these values."""
    import pyarrow.compute as pc

    found = None
    for column, value in values.items():
        one = pc.field(column) == value
        found = one if found is None else found & one
    return found


def _no_lake(lake: Lake) -> UsageError:
    """What is said of a place without a lake: how to make one there, unless it holds something else."""
    if lake.storage.path and lake.storage.path.is_file():
        return UsageError(f"{lake} is no lake: it is a file")
    with reading(lake.storage):
        there = lake.storage.list()
    if there and MARK not in there:
        return UsageError(f"{lake} is no lake: it holds {there[0]}")
    return UsageError(f"{lake} is no lake: `kiplint pipeline run --out {lake}` makes one")
