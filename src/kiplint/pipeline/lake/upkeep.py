"""Upkeep of a lake: many small files become few, and what no state needs any more is removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.pipeline.lake.delta import Part, Parts, damage_of, head_of, names, parts_of, reading, write_rows
from kiplint.pipeline.lake.lake import OPTIMIZED, Lake, Snapshot, all_states, files_of
from kiplint.pipeline.lake.schema import arrow_schema
from kiplint.pipeline.lake.storage import FOLDER, RUNS, STAGING, remove
from kiplint.pipeline.tables import TABLES

SMALL: Final = 16 << 20
"""The bytes of a file that is worth putting together with others."""
FEW: Final = 4
"""So many small files of a table are left as they are."""
MANY: Final = 40
"""With so many small files in one table, a run ends with an upkeep of its own."""
KEPT_DAYS: Final = 7
READERS: Final = 2
"""The newest states that stay whatever their age, for readers that have begun with them."""
_ROW: Final = re.compile(r"[0-9]{8}-[0-9a-f]{12}\.parquet")


class Kept(NamedTuple):
    """The result of an upkeep: tables compacted, files or folders removed, and the first state still there."""

    compacted: int
    removed: int
    oldest: Snapshot


def needs_upkeep(lake: Lake, snapshot: Snapshot) -> bool:
    """Whether some table has come to have many small files."""
    return any(len(_small(lake.parts(name, version))) > MANY for name, version in snapshot.tables.items())


def optimize(lake: Lake, days: float = KEPT_DAYS) -> Kept:
    """Put small files together, and remove what no state of the last days needs. Raises UsageError.

    A run that is at work elsewhere is refused from then on: what it has written so far may be removed.
    """
    with lake.writing():
        compacted = dict(_compacted(lake, lake.snapshot()))
        before = lake.snapshot()
        snapshot = lake.publish(before, compacted, OPTIMIZED, moved=True)
        stages = {
            name: replace(done, inputs=_moved(done.inputs, before, snapshot)) for name, done in snapshot.stages.items()
        }
        rows = all_states(lake.storage)
        since = datetime.now(UTC) - timedelta(days=days)
        kept = [row for row in rows[:-READERS] if row.published and row.published >= since] + rows[-READERS:]
        first = max(row.oldest for row in rows)
        oldest = next((row for row in kept if row.number >= first), kept[-1])
        lake.publish(replace(snapshot, stages=stages, oldest=oldest.number), {}, OPTIMIZED)
        distinct = {str(state.tables): state for state in kept}.values()
        needed = {part.name for state in distinct for part in files_of(lake.storage, state)}
        gone = list(_unneeded(lake, {row.run for row in rows}, needed))
        for name in gone:
            remove(lake.storage, name)
    return Kept(len(compacted), len(gone), oldest)


def _compacted(lake: Lake, snapshot: Snapshot) -> Iterator[tuple[str, Parts]]:
    """The tables with many small files, each with fewer, unless a stage has yet to see some of them."""
    for name, version in sorted(snapshot.tables.items()):
        parts = lake.parts(name, version)
        behind = any(done.inputs.get(name, version) != version for done in snapshot.stages.values())
        if len(small := _small(parts)) > FEW and not behind:
            yield name, (*(part for part in parts if part.size >= SMALL), *_together(lake, name, small))


def _together(lake: Lake, name: str, parts: Parts) -> Iterator[Part]:
    columns = TABLES[name].COLUMNS
    left = list(parts)
    while left:
        some = [left.pop()]
        size = some[0].size
        while left and size < SMALL * 4:
            some.append(left.pop())
            size += some[-1].size
        rows = lake.dataset(some, columns).to_batches()
        with reading(lake.storage):
            written = write_rows(rows, arrow_schema(columns), lake.storage, lake.stage(name))
        yield from written


def _moved(inputs: dict[str, int], before: Snapshot, after: Snapshot) -> dict[str, int]:
    """What a stage has seen, under the versions that hold the same rows now."""
    return {
        name: after.tables[name] if before.tables.get(name) == version else version for name, version in inputs.items()
    }


def _unneeded(lake: Lake, tokens: set[str], needed: set[str]) -> Iterator[str]:
    """The unused files of earlier runs: all files in folders with the token of a run that the lake knows."""
    storage = lake.storage
    folders = {name.rpartition("/")[0] for name in needed}
    for table in (*TABLES, STAGING):
        for name in storage.list(table):
            token = FOLDER.fullmatch(name)
            place = f"{table}/{name}"
            if token and token[1] in tokens and place not in folders:
                yield place
    head = head_of(storage, RUNS)
    rows = names(parts_of(storage, RUNS, head)) if head is not None else []
    yield from (
        f"{RUNS}/{name}" for name in storage.list(RUNS) if _ROW.fullmatch(name) and f"{RUNS}/{name}" not in rows
    )


def _small(parts: Parts) -> Parts:
    return tuple(part for part in parts if part.size < SMALL)


class DamagedPart(msgspec.Struct, frozen=True):
    """A file of a table that is not as the lake's log has it."""

    table: str
    part: str
    problem: str


def verify(lake: Lake, snapshot: Snapshot) -> Iterator[DamagedPart]:
    """Read every file of a state against the log, and yield those that are damaged. Raises UsageError."""
    for name, version in sorted(snapshot.tables.items()):
        for part in lake.parts(name, version):
            if problem := damage_of(lake.storage, part):
                yield DamagedPart(name, part.name, problem)
