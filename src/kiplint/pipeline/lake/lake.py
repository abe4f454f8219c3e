"""The lake: Delta tables below one place, and a table `runs` that says which of their versions belong together.

    LAKE/KIPLINT-LAKE            the mark; without it nothing here is written or removed
    LAKE/TABLE/_delta_log        a table, as any reader of Delta tables opens it
    LAKE/TABLE/TOKEN-3/          what one run, known by its token, wrote at once: Parquet files, never changed
    LAKE/runs/                   the states of the lake: a row each
    LAKE/staging/TOKEN-4/        what a run writes for itself alone

A run that was killed leaves files that no table names, and perhaps a version of a table that no state names. The next
run goes on from the newest state, and `optimize` removes such files: those in folders with a token that `runs` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.delta import ConflictError, Part, Parts, commit, head_of, names, parts_of, reading
from kiplint.pipeline.lake.marker import RUNS, STAGING, Claim, claim, identity, remove, runs_here, unclaim
from kiplint.pipeline.lake.schema import Columns, arrow_schema
from kiplint.pipeline.lake.states import BEGUN, ENDED, Snapshot, StageState, append_state, newest, state_as_of
from kiplint.pipeline.lake.storage import Storage
from kiplint.pipeline.tables import TABLES

__all__ = ["Lake", "Part", "Parts", "Snapshot", "StageState"]


class Lake:
    """A lake at a path or URI that all machines of the cluster see under the same name. Raises UsageError."""

    def __init__(self, place: str | Path) -> None:
        self.storage = Storage(place)
        self.token = token_hex(6)
        self._staged = 0
        self._last: Snapshot | None = None
        self._parts: dict[tuple[str, int], Parts] = {}

    def __str__(self) -> str:
        return str(self.storage)

    @property
    def path(self) -> Path:
        """The directory of a lake on this file system."""
        return self.storage.path or Path(self.storage.uri)

    @property
    def exists(self) -> bool:
        """Whether something was published here. Raises UsageError."""
        return head_of(self.storage, RUNS) is not None

    def snapshot(self, as_of: str = "") -> Snapshot:
        """The newest state, an empty one for a new lake, or that as of a time or run; raises UsageError."""
        return state_as_of(self.storage, as_of) if as_of else newest(self.storage)

    def parts(self, table: str, version: int | None) -> Parts:
        """The files of a version of a table, none for None; raises UsageError."""
        if version is None:
            return ()
        if (table, version) not in self._parts:
            if table not in TABLES:
                raise UsageError(f"{self} is not a lake that can be read: there is no table {table!r}")
            self._parts[table, version] = parts_of(self.storage, table, version)
        return self._parts[table, version]

    def dataset(self, parts: Iterable[Part], columns: Columns) -> Any:
        """Files as an Arrow dataset with these columns; raises UsageError."""
        import pyarrow.dataset as ds

        with reading(self.storage):
            schema = arrow_schema(columns)
            return ds.dataset(names(parts), schema=schema, format="parquet", filesystem=self.storage.files)

    def read(
        self, parts: Iterable[Part], columns: Columns, where: Any = None, taken: list[str] | None = None
    ) -> pa.Table:
        """Columns of files in this process, all or those `taken`; `where` is a condition of Arrow's on any of them.

        Raises UsageError.
        """
        dataset = self.dataset(parts, columns)
        with reading(self.storage):
            return dataset.to_table(columns=taken or list(columns), filter=where)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be a writer.

        Raises UsageError when another one is at work on this machine, or has published something meanwhile; when this
        is not a place for a lake, or is full. A new lake in which nothing was begun is none afterwards.
        """
        claimed = Claim(False, False)
        try:
            claimed = claim(self.storage, tuple(TABLES))
            self._require_alone()
            yield
            if self._last:
                self._clear()
                self._append(replace(self._last, stage=ENDED))
        except ConflictError:
            raise UsageError(f"{self} was written by another process meanwhile: run it again") from None
        except OSError as error:
            reason = error.strerror or " ".join(str(error).split())
            raise UsageError(f"cannot write the lake {self}: {reason}") from error
        finally:
            if self._last is None:
                with suppress(OSError):
                    unclaim(self.storage, claimed)
            self._last = None

    def stage(self, table: str) -> str:
        """A folder that does not exist yet, to write files of a table to; for another name, such as only this run uses.

        The lake says first that there is such a run: what lies in folders with its token may be removed.
        """
        self._begin()
        self._staged += 1
        return f"{table if table in TABLES else STAGING}/{self.token}-{self._staged}"

    def publish(self, snapshot: Snapshot, tables: dict[str, Parts], stage: str, *, moved: bool = False) -> Snapshot:
        """Give tables these files, then make the state that has them the newest. With `moved` the rows stay the same.

        Raises ConflictError when somebody else has written meanwhile.
        """
        self._begin()
        versions = dict(snapshot.tables)
        for name, parts in sorted(tables.items()):
            if versions.get(name) is None or set(parts) != set(self.parts(name, versions[name])):
                version = commit(self.storage, name, TABLES[name].COLUMNS, versions.get(name), parts, moved=moved)
                versions[name] = version
                self._parts[name, version] = tuple(sorted(parts))
        return self._append(replace(snapshot, tables=versions, stage=stage))

    def _clear(self) -> None:
        for name in self.storage.list(STAGING):
            if name.startswith(f"{self.token}-"):
                remove(self.storage, f"{STAGING}/{name}")
        if self.storage.path:
            with suppress(OSError):  # others may have left something
                (self.storage.path / STAGING).rmdir()

    def _require_alone(self) -> None:
        last = self.snapshot()
        if last.stage not in ("", ENDED) and (process := runs_here(last.writer)):
            raise UsageError(f"{self} is being written by process {process}; wait for it")

    def _begin(self) -> None:
        if self._last is None:
            self._last = self._append(replace(self.snapshot(), stage=BEGUN))

    def _append(self, snapshot: Snapshot) -> Snapshot:
        number = (self._last or snapshot).number + 1
        now = datetime.now(UTC)
        made = replace(snapshot, number=number, run=self.token, published=now, writer=identity())
        append_state(self.storage, made)
        self._last = made
        return made
