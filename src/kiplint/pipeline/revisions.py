"""The revisions of a line of history, before anything is looked into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from kiplint.pipeline.columns import Columns, table
from kiplint.pipeline.tables.sets import Sets

LISTED: Columns = {
    "key": "string",
    "tree": "string",
    **{name: kind for name, kind in Sets.COLUMNS.items() if name not in ("source", "lineage", "position", "root")},
}
"""`key` stands for a revision's content before that is known, `tree` is what git walks, the others are of `Sets`."""


class Revisions:
    """Rows with the columns `LISTED`, from the oldest revision on.

    They are Python's until `table` is asked for, which takes a third of the memory: Arrow imports pandas to make the
    first one, and that takes longer than all else where nothing is new.
    """

    def __init__(self, found: pa.Table | Sequence[tuple[object, ...]]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Revisions) and bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow has them."""
        if not isinstance(self._found, pa.Table):
            self._found = table(LISTED, self._found)
        return self._found

    @property
    def keys(self) -> list[str]:
        """The keys alone."""
        if isinstance(self._found, pa.Table):
            return cast("list[str]", self._found["key"].to_pylist())
        return [str(row[0]) for row in self._found]
