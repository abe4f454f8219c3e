"""Delta tables: which files a version has, and how it comes to have others. Spark is not needed, nor any JVM.

A commit is refused when somebody else has made one meanwhile; nothing is tried again.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.marker import FOLDER, LOG, RUNS, require_own
from kiplint.pipeline.lake.schema import Columns, arrow_schema
from kiplint.pipeline.lake.storage import Storage
from kiplint.text.show import show

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable


_NAME: Final = re.compile(rf"(?:{FOLDER.pattern}/)?[A-Za-z0-9][A-Za-z0-9_.=-]{{0,200}}\.parquet")
_SETTINGS: Final = {"delta.enableExpiredLogCleanup": "false"}
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")
_STACK: Final = re.compile(r" 0: \S+ 1: .*")
_LONGEST: Final = 300


class ConflictError(Exception):
    """Somebody else has made a commit meanwhile."""


class Part(NamedTuple):
    """A file of a table: its name in the lake, its rows and bytes."""

    name: str
    rows: int
    size: int


def names(parts: Iterable[Part]) -> list[str]:
    """The names of files in their lake."""
    return [part.name for part in parts]


def rows_in(parts: Iterable[Part]) -> int:
    """How many rows files have together."""
    return sum(part.rows for part in parts)


Parts = tuple[Part, ...]


def head_of(storage: Storage, table: str) -> int | None:
    """The newest version of a table, None where there is none. Raises UsageError."""
    if not storage.has(f"{table}/{LOG}") or _is_unborn(storage, table):
        return None
    with reading(storage):
        return int(_open(storage, table, None).version())


def _is_unborn(storage: Storage, table: str) -> bool:
    """Whether somebody was killed over the first commit of a table: it is named with a # until it is whole."""
    with reading(storage):
        there = storage.list(f"{table}/{LOG}")
    return all("#" in name for name in there) and (bool(there) or table != RUNS)


def parts_of(storage: Storage, table: str, version: int) -> Parts:
    """The files of a version of a table; raises UsageError for one that is not there or names others than its own."""
    with reading(storage):
        known = _open(storage, table, version).get_add_actions(flatten=True)
        inner, sizes, rows = (known.column(name).to_pylist() for name in ("path", "size_bytes", "num_records"))
    for name in inner:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{storage} is not a lake that can be read: {table}: {show(name)} is not a name of a file in it"
            )
    require_own(storage, [f"{table}/{name}" for name in inner])
    return tuple(
        sorted(Part(f"{table}/{name}", row or 0, size) for name, row, size in zip(inner, rows, sizes, strict=True))
    )


def commit(
    storage: Storage, table: str, columns: Columns, version: int | None, after: Parts, *, moved: bool = False
) -> int:
    """Give a table, which is at a version as far as is known, these files; the version that has them.

    With `moved` the rows are those it had. Raises ConflictError.
    """
    from deltalake import Schema
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import create_table_with_add_actions

    schema = Schema.from_arrow(arrow_schema(columns))
    before: Parts = ()
    try:
        head = head_of(storage, table)
        if head is None:
            actions = [_action(part, data=True) for part in after]
            place = storage.inner(table)
            options = storage.options
            create_table_with_add_actions(
                place, schema, actions, mode="error", partition_by=[], configuration=_SETTINGS, storage_options=options
            )
            return 0
        if version is not None:
            before = parts_of(storage, table, version)
            if head != version:  # left by one that was killed before it could say so
                _open(storage, table, None).restore(version, commit_properties=_once())
                head += 1
        had = set(before)
        mode = "append" if version is not None and had <= set(after) else "overwrite"
        new = [_action(part, data=not moved) for part in after if part not in had]
        known = _open(storage, table, head)
        known.create_write_transaction(new, mode, schema, None, commit_properties=_once())
    except CommitFailedError:
        raise ConflictError from None
    except DeltaError as error:
        if "already exists" in str(error):
            raise ConflictError from None
        raise OSError(one_line(error)) from error
    return head + 1


def one_line(error: Exception) -> str:
    """What went wrong, in one line, without the stack that a library has put behind it."""
    line = " ".join(_COLOR.sub("", str(error)).split())
    return _STACK.sub("", line)[:_LONGEST]


@contextmanager
def reading(storage: Storage) -> Iterator[None]:
    """Where a lake is read: raises UsageError when something of it is missing or damaged."""
    import pyarrow as pa
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, pa.ArrowException, DeltaError) as error:
        what = "is damaged, `kiplint pipeline run` into a new one" if storage.path else "cannot be read"
        raise UsageError(f"{storage} {what}: {one_line(error)}") from None


def _open(storage: Storage, table: str, version: int | None) -> DeltaTable:
    from deltalake import DeltaTable

    require_own(storage, [f"{table}/{LOG}/{name}" for name in (storage.list(f"{table}/{LOG}") if storage.path else ())])
    return DeltaTable(storage.inner(table), version=version, storage_options=storage.options)


def _once() -> CommitProperties:
    from deltalake import CommitProperties

    return CommitProperties(max_commit_retries=0)


def _action(part: Part, *, data: bool) -> Any:
    from deltalake.transaction import AddAction

    inner = part.name.partition("/")[2]
    stats = json.dumps({"numRecords": part.rows})
    return AddAction(inner, part.size, {}, int(time.time() * 1000), data, stats)
