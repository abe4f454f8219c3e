"""The table `runs`: a row for each stage that was published, and for the beginning and the end of each run.

A row names the versions of all tables that belong together. Whoever reads a lake takes those of one row, the last, and
so sees one state, whatever a writer does meanwhile. A row is made with the version of `runs` that follows the one its
writer knew: when somebody else has made one meanwhile, the commit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.delta import ConflictError, Part, Parts, commit, head_of, parts_of, reading
from kiplint.pipeline.lake.marker import RUNS, remove
from kiplint.pipeline.lake.schema import Columns, array, table
from kiplint.pipeline.lake.storage import Storage
from kiplint.text.words import did_you_mean

BEGUN: Final = "begin"
ENDED: Final = "end"
OPTIMIZED: Final = "optimize"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
VERSIONS: Columns = {"table": "string", "version": "bigint"}
COLUMNS: Columns = {
    "number": "bigint",
    "run": "string",
    "stage": "string",
    "published": "timestamp",
    "writer": "string",
    "sources": "array<string>",
    "request": "string",
    "tables": array(VERSIONS),
    "stages": array({"stage": "string", "code": "string", "inputs": array(VERSIONS)}),
    "oldest": "bigint",
}

MOST_VERSIONS: Final = 1_000_000
"""A state or version with a higher number is none: a reader of Delta looks for all before it."""
Number = Annotated[int, msgspec.Meta(ge=0, le=MOST_VERSIONS)]


class StageState(msgspec.Struct, frozen=True):
    """What a stage has worked on: an id of the code and rules it ran, and the version of each table that it read."""

    engine: str
    inputs: dict[str, Number]


class Snapshot(msgspec.Struct, frozen=True):
    """One state of a lake: a row of `runs`.

    `number` counts the rows from 1, `run` is the token of the run that published it, `stage` what it had done by then,
    `oldest` the first state whose files are still there. `request` is what the run was asked for.
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


def newest(storage: Storage) -> Snapshot:
    """The newest state, an empty one for a new lake. Raises UsageError."""
    head = head_of(storage, RUNS)
    if head is None:
        return Snapshot()
    return _rows(storage, max(parts_of(storage, RUNS, head), key=lambda part: part.name))[-1]


def all_states(storage: Storage) -> list[Snapshot]:
    """All states, from the oldest. Raises UsageError."""
    head = head_of(storage, RUNS)
    parts = sorted(parts_of(storage, RUNS, head)) if head is not None else ()
    return [row for part in parts for row in _rows(storage, part)]


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
        moment = end_of(when)
        states = [row for row in rows if row.published and row.published <= moment]
    if not states:
        hint = did_you_mean(when, [row.run for row in rows])
        raise UsageError(f"{storage} has no state as of {when}{hint or _since(rows)}")
    if states[-1].number < rows[-1].oldest:
        raise UsageError(f"the state of {storage} as of {when} is gone: `kiplint pipeline optimize` removed it")
    return states[-1]


def end_of(when: str) -> datetime:
    """A time in ISO 8601; a day is taken as its end, and a time without a zone as UTC. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise UsageError(f"{when} is not a date (2026-01-31), a time (2026-01-31T12:00), or a run") from None
    if len(when) <= 10:
        moment = moment.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def append_state(storage: Storage, row: Snapshot) -> None:
    """Publish a state; raises ConflictError when somebody else has published one after that with the number before."""
    name = f"{RUNS}/{row.number:08}-{row.run}.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(table(COLUMNS, [_row_of(row)]), sink, compression="zstd")
    data = sink.getvalue().to_pybytes()
    storage.write(name, data)
    version = row.number - 2
    if head_of(storage, RUNS) != (version if version >= 0 else None):
        remove(storage, name)
        raise ConflictError
    before = parts_of(storage, RUNS, version) if version >= 0 else ()
    commit(storage, RUNS, COLUMNS, version if version >= 0 else None, (*before, Part(name, 1, len(data))))


def _row_of(row: Snapshot) -> tuple[object, ...]:
    stages = [
        {"stage": name, "code": stage.engine, "inputs": _versions(stage.inputs)} for name, stage in row.stages.items()
    ]
    sources = list(row.request.get("sources", ()))
    request = msgspec.json.encode(row.request).decode()
    known = (row.number, row.run, row.stage, row.published, row.writer, sources, request)
    return (*known, _versions(row.tables), stages, row.oldest)


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
    published = EPOCH + timedelta(microseconds=row["published"])
    request = msgspec.json.decode(row["request"], type=dict[str, Any])
    tables = _by_table(row["tables"])
    return msgspec.convert(
        {**values, "published": published, "request": request, "tables": tables, "stages": stages}, Snapshot
    )


def _by_table(versions: list[dict[str, Any]]) -> dict[str, int]:
    return {version["table"]: version["version"] for version in versions}


def _since(rows: list[Snapshot]) -> str:
    return f"; its first is of {rows[0].published:%Y-%m-%dT%H:%M:%S}" if rows and rows[0].published else ""


def files_of(storage: Storage, row: Snapshot) -> Parts:
    """The files of all tables in a state."""
    return tuple(part for name, version in row.tables.items() for part in parts_of(storage, name, version))
