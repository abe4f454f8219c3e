"""The lake: Delta tables below one place, and a table `runs` that says which of their versions belong together.

    LAKE/KIPLINT-LAKE                      the mark; without it nothing here is written or removed
    LAKE/TABLE/_delta_log                  a table, as any reader of Delta tables opens it
    LAKE/TABLE/TOKEN-3-0.parquet           rows that one run, known by its token, wrote; files never change
    LAKE/TABLE/source=x/TOKEN-3-1.parquet  the same in a table that is partitioned by source
    LAKE/runs/                             the states of the lake: a row each
    LAKE/staging/TOKEN-4/                  what Spark is writing

A run that was killed leaves files that no table names, and perhaps a version of a table that no state names. The next
run continues from the newest state, and `optimize` removes such files: those with a token that `runs` has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.limits import LAKE_VERSIONS
from kiplint.pipeline.lake.delta import (
    ConflictError,
    DamageError,
    Part,
    Parts,
    dataset,
    head_of,
    is_current,
    parts_of,
    prepare_commit,
    reading,
)
from kiplint.pipeline.lake.schema import Columns, table
from kiplint.pipeline.lake.storage import (
    LOG,
    RUNS,
    STAGING,
    Claim,
    Storage,
    alone,
    claim,
    remove,
    unclaim,
)
from kiplint.pipeline.tables import TABLES, Runs
from kiplint.text.words import did_you_mean

BEGIN: Final = "begin"
END: Final = "end"
OPTIMIZED: Final = "optimize"
STATE: Final = re.compile(r"[0-9]{8}-[0-9a-f]{12}\.parquet")
"""The name of a file with a state."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Number = Annotated[int, msgspec.Meta(ge=0, le=int(LAKE_VERSIONS))]


class StageState(msgspec.Struct, frozen=True):
    """What a stage has worked on: an id of the code and rules it ran, and the version of each table that it read."""

    engine: str
    inputs: dict[str, Number]


class Snapshot(msgspec.Struct, frozen=True):
    """One state of a lake: a row of `runs`.

    `number` counts the rows from 1, `run` is the token of the run that published it, `stage` what it had done by then,
    `oldest` the first state whose files are still there. `request` is the request of the run.
    """

    number: Number = 0
    run: str = ""
    stage: str = ""
    published: datetime | None = None
    writer: str = ""
    request: dict[str, Any] = {}
    tables: dict[str, Number] = {}
    stages: dict[str, StageState] = {}
    oldest: Number = 0


def all_states(storage: Storage) -> list[Snapshot]:
    """All states, from the oldest. Raises UsageError."""
    return [row for part in all_parts(storage) for row in _rows(storage, part)]


def all_parts(storage: Storage) -> Parts:
    """The files of all states, from the oldest. Raises UsageError."""
    head = head_of(storage, RUNS)
    return parts_of(storage, RUNS, head) if head is not None else ()


def state_as_of(storage: Storage, when: str) -> Snapshot:
    """The state that was the newest at a time (ISO 8601, a day being its end), or of a run, or with a number.

    Raises UsageError where there is none, or its files were removed.
    """
    rows = all_states(storage)
    if when.isdigit() and len(when) < 10:
        states = [row for row in rows if row.number == int(when)]
    elif of_run := [row for row in rows if row.run == when]:
        states = of_run
    else:
        try:
            moment = moment_of(when, end=True)
        except ValueError:
            raise UsageError(f"{when} is not a date (2026-01-31), a time (2026-01-31T12:00), or a run") from None
        states = [row for row in rows if row.published and row.published <= moment]
    if not states:
        first = f"; its first is of {rows[0].published:%Y-%m-%dT%H:%M:%S}" if rows and rows[0].published else ""
        raise UsageError(f"{storage} has no state as of {when}{did_you_mean(when, [row.run for row in rows]) or first}")
    if states[-1].number < rows[-1].oldest:
        raise UsageError(f"the state of {storage} as of {when} is gone: `kiplint pipeline optimize` removed it")
    return states[-1]


def moment_of(when: str, *, end: bool) -> datetime:
    """A time in ISO 8601, in UTC unless it has a zone; a day is its beginning, or its end. Raises ValueError."""
    moment = datetime.fromisoformat(when)
    if end and len(when) <= 10:
        moment = moment.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def append_state(storage: Storage, row: Snapshot, previous: Snapshot) -> None:
    """Publish a state after the previous one; raises ConflictError when somebody else has published one meanwhile."""
    name = _file_of(row)
    sink = pa.BufferOutputStream()
    pq.write_table(table(Runs.COLUMNS, [_row_of(row)]), sink, compression="zstd")
    data = sink.getvalue().to_pybytes()
    storage.write(name, data)
    head = head_of(storage, RUNS)
    before = parts_of(storage, RUNS, head) if head is not None else ()
    if (before[-1].name if before else "") != (_file_of(previous) if previous.number else ""):
        remove(storage, name)
        raise ConflictError
    prepare_commit(storage, Runs, head, (*before, Part(name, 1, len(data))))()


def _file_of(row: Snapshot) -> str:
    return f"{RUNS}/{row.number:08}-{row.run}.parquet"


def _row_of(row: Snapshot) -> tuple[object, ...]:
    stages = [
        {"stage": name, "code": stage.engine, "inputs": _versions(stage.inputs)} for name, stage in row.stages.items()
    ]
    sources = list(row.request.get("sources", ()))
    request = msgspec.json.encode(row.request).decode()
    values = (row.number, row.run, row.stage, row.published, row.writer, sources, request)
    return (*values, _versions(row.tables), stages, row.oldest)


def _versions(versions: Mapping[str, int]) -> list[dict[str, object]]:
    return [{"table": name, "version": version} for name, version in sorted(versions.items())]


def _rows(storage: Storage, part: Part) -> list[Snapshot]:
    with reading(storage):
        table = pq.ParquetFile(storage.files.open_input_file(part.name)).read()
        at = table.schema.get_field_index("published")
        if at >= 0:  # as a time it would have Arrow import pandas, which takes longer than all else; and so does a cast
            table = table.set_column(at, "published", _as_numbers(table.column(at)))
    try:
        rows = [_row(row) for row in table.to_pylist()]
    except (KeyError, TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise UsageError(f"{storage} is not a lake that can be read: {part.name}: {error}") from None
    if not rows:
        raise UsageError(f"{storage} is not a lake that can be read: {part.name} has no row")
    return rows


def _as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type != pa.timestamp("us", "UTC"):
        return column.cast(pa.int64())
    return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())


def _row(row: Mapping[str, Any]) -> Snapshot:
    stages = {
        stage["stage"]: {"engine": stage["code"], "inputs": _by_table(stage["inputs"])} for stage in row["stages"]
    }
    values = {name: row[name] for name in ("number", "run", "stage", "writer", "oldest")}
    moment = EPOCH + timedelta(microseconds=row["published"])
    request = msgspec.json.decode(row["request"], type=dict[str, Any])
    tables = _by_table(row["tables"])
    return msgspec.convert(
        {**values, "published": moment, "request": request, "tables": tables, "stages": stages}, Snapshot
    )


def _by_table(versions: list[dict[str, Any]]) -> dict[str, int]:
    return {version["table"]: version["version"] for version in versions}


class Lake:
    """A lake at a path or URI that all machines of the cluster see under the same name. Raises UsageError."""

    def __init__(self, place: str | Path) -> None:
        self.storage = Storage(place)
        self.token = token_hex(6)
        self._tickets = 0
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
        if as_of:
            return state_as_of(self.storage, as_of)
        parts = all_parts(self.storage)
        return _rows(self.storage, parts[-1])[-1] if parts else Snapshot()

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
        with reading(self.storage):
            return dataset(self.storage, parts, columns)

    def rows(self, parts: Parts, columns: Columns) -> list[dict[str, Any]]:
        """All rows of some files of a table, which have to fit into memory. Raises UsageError for a damaged file."""
        if not parts:  # a dataset imports pandas
            return []
        rows: list[dict[str, Any]] = self.dataset(parts, columns).to_table().to_pylist()
        return rows

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the writer of the lake. Raises UsageError when another writer is active on this machine, or has published
        something meanwhile; when this is not a place for a lake, or is full. A new lake in which nothing was begun is
        none afterwards.
        """
        own_claim = Claim(False, False)
        try:
            own_claim = claim(self.storage, tuple(TABLES))
            with alone(self.storage) as is_alone:
                if not is_alone:
                    raise UsageError(f"{self} is being written by {self._writer()}; wait for it")
                yield
                if self._last:
                    self._append(replace(self._last, stage=END))
        except ConflictError:
            raise UsageError(f"{self} was written by another process meanwhile: run it again") from None
        except OSError as error:
            reason = error.strerror or " ".join(str(error).split())
            raise UsageError(f"cannot write the lake {self}: {reason}") from error
        finally:
            with suppress(OSError):
                if self._last:
                    self._clear()
                else:
                    unclaim(self.storage, own_claim)
            self._last = None

    def ticket(self) -> str:
        """The beginning of names of files that nothing has yet: the token of this run, and a number.

        The lake says first that there is such a run: what has its token may be removed.
        """
        self._begin()
        self._tickets += 1
        return f"{self.token}-{self._tickets}"

    def publish(self, snapshot: Snapshot, tables: Mapping[str, Parts], stage: str) -> Snapshot:
        """Give tables these files, one after the other as their rows refer to each other, then make the state that has
        them the newest. Raises ConflictError when somebody else has written meanwhile.
        """
        self._begin()
        new_parts = {
            name: tuple(sorted(tables[name]))
            for name in TABLES
            if name in tables
            and (name not in snapshot.tables or {*tables[name]} != {*self.parts(name, snapshot.tables[name])})
        }
        commits = {
            name: prepare_commit(self.storage, TABLES[name], head_of(self.storage, name), parts)
            for name, parts in new_parts.items()
        }
        versions = dict(snapshot.tables)
        for name, commit in commits.items():
            versions[name] = commit()
            self._parts[name, versions[name]] = new_parts[name]
        return self._append(replace(snapshot, tables=versions, stage=stage))

    def repair_states(self) -> None:
        """Begin the log of states anew where it is damaged, with the states whose files can be read."""
        with suppress(DamageError):
            self.snapshot()
            return
        remove(self.storage, f"{RUNS}/{LOG}")
        parts = []
        for name in filter(STATE.fullmatch, self.storage.list(RUNS)):
            part = Part(f"{RUNS}/{name}", 1, self.storage.files.get_file_info([f"{RUNS}/{name}"])[0].size)
            with suppress(UsageError):
                _rows(self.storage, part)
                parts.append(part)
        prepare_commit(self.storage, Runs, None, tuple(parts))()

    def without(self, snapshot: Snapshot, tables: Collection[str]) -> Snapshot:
        """A state, to be published, without some tables, whose logs go; with them go all earlier states."""
        self._begin()
        for name in tables:
            remove(self.storage, f"{name}/{LOG}")
        self._parts.clear()
        rest = {name: version for name, version in snapshot.tables.items() if name not in tables}
        return replace(snapshot, tables=rest, oldest=self._last.number + 1 if self._last else snapshot.oldest)

    def outdated(self, snapshot: Snapshot, unreadable: Collection[str]) -> set[str]:
        """The tables of a state with other columns or partitions than their classes, or of no class of these.

        Raises UsageError for a damaged one that is not among the unreadable.
        """
        return {
            name
            for name, version in snapshot.tables.items()
            if name not in TABLES or (name not in unreadable and not is_current(self.storage, TABLES[name], version))
        }

    def _clear(self) -> None:
        for name in self.storage.list(STAGING):
            if name.startswith(f"{self.token}-"):
                remove(self.storage, f"{STAGING}/{name}")
        if self.storage.path:
            with suppress(OSError):  # others may have left something
                (self.storage.path / STAGING).rmdir()

    def _writer(self) -> str:
        last = self.snapshot()
        return "another process" if last.stage in ("", END) else f"process {last.writer.rpartition(' ')[2]}"

    def _begin(self) -> None:
        if self._last is None:
            self._last = self._append(replace(self.snapshot(), stage=BEGIN))

    def _append(self, snapshot: Snapshot) -> Snapshot:
        previous = self._last or snapshot
        state = replace(
            snapshot,
            number=previous.number + 1,
            run=self.token,
            published=datetime.now(UTC),
            writer=f"{os.uname().nodename} {os.getpid()}",
        )
        append_state(self.storage, state, previous)
        self._last = state
        return state
