"""Upkeep of a lake by delta-rs: many small files become few, and what no state needs any more is removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from kiplint.pipeline.answers.documents import DamagedPart
from kiplint.pipeline.lake.delta import DamageError, damage_of, head_of, names, open_table, reading
from kiplint.pipeline.lake.lake import OPTIMIZED, STATE, Lake, Snapshot, all_parts, all_states
from kiplint.pipeline.lake.schema import SOURCE
from kiplint.pipeline.lake.storage import FOLDER, LOG, RUNS, STAGING, TOKEN, remove
from kiplint.pipeline.tables import TABLES

FEW: Final = 4
"""So many small files of a partition are left as they are."""
MANY: Final = 40
"""With so many small files in one partition, a run ends with an upkeep of its own."""
SMALL: Final = 16 << 20
"""The bytes of a file that is worth joining with others."""
LARGE: Final = 128 << 20
"""The bytes of a file made of several."""
KEPT_DAYS: Final = 7
READERS: Final = 2
"""The newest states that stay whatever their age, for readers that have begun with them."""
_OWN: Final = re.compile(
    rf"(?:{SOURCE}=[^/]+/)?(?:({TOKEN.pattern})-[0-9]+-[0-9a-f]+|part-[0-9]{{5}}-[0-9a-f-]{{36}}-c[0-9]{{3}}\.\w+)\.parquet"
)
"""Files of tables by the names that runs give them, each with the token of its run, and those of delta-rs."""


class Upkeep(NamedTuple):
    """The result of an upkeep: tables compacted, files or folders removed, and the first state still there."""

    tables: int
    files: int
    oldest: Snapshot


def needs_upkeep(lake: Lake, snapshot: Snapshot) -> bool:
    """Whether some partition has come to have many small files."""
    return any(_small_files(lake, snapshot, name) > MANY for name in snapshot.tables)


def optimize(lake: Lake, days: float = KEPT_DAYS) -> Upkeep:
    """Put small files together, and remove what no state of the last days needs. Raises UsageError.

    A run that is at work elsewhere is refused from then on: what it has written so far may be removed.
    """
    with lake.writing():
        lake.ticket()
        before = lake.snapshot()
        compacted_tables = [name for name in sorted(before.tables) if _is_compacted(lake, before, name)]
        versions = {name: head_of(lake.storage, name) or 0 for name in compacted_tables}
        stages = {
            name: replace(stage, inputs=_current_versions(stage.inputs, before.tables, versions))
            for name, stage in before.stages.items()
        }
        rows = all_states(lake.storage)
        since = datetime.now(UTC) - timedelta(days=days)
        states = [row for row in rows[:-READERS] if row.published and row.published >= since] + rows[-READERS:]
        first = max(row.oldest for row in rows)
        oldest = next((row for row in states if row.number >= first), states[-1])
        after = replace(before, tables={**before.tables, **versions}, stages=stages, oldest=oldest.number)
        states = [row for row in (*states, lake.publish(after, {}, OPTIMIZED)) if row.number >= oldest.number]
        leftovers = list(_find_leftovers(lake, {row.run for row in rows}, states))
        for name in leftovers:
            remove(lake.storage, name)
    return Upkeep(len(compacted_tables), len(leftovers), oldest)


def _is_compacted(lake: Lake, snapshot: Snapshot, name: str) -> bool:
    """Compact a table with many small files, unless a stage has yet to see some of them; returns whether it was."""
    version = snapshot.tables[name]
    behind = any(stage.inputs.get(name, version) != version for stage in snapshot.stages.values())
    if behind or head_of(lake.storage, name) != version or _small_files(lake, snapshot, name) <= FEW:
        return False
    with reading(lake.storage, name):
        open_table(lake.storage, name).optimize.compact(target_size=LARGE)
    return head_of(lake.storage, name) != version


def _small_files(lake: Lake, snapshot: Snapshot, name: str) -> int:
    """How many small files the partition with the most has."""
    parts = lake.parts(name, snapshot.tables[name])
    return max(Counter(part.source for part in parts if part.size < SMALL).values(), default=0)


def _current_versions(inputs: dict[str, int], before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What a stage has seen, under the versions that hold the same rows now."""
    return {
        name: after.get(name, version) if before.get(name) == version else version for name, version in inputs.items()
    }


def _find_leftovers(lake: Lake, tokens: set[str], states: list[Snapshot]) -> Iterator[str]:
    """What earlier runs wrote, and no state needs: delta-rs says what that is in a table."""
    storage = lake.storage
    for table in TABLES:
        if head_of(storage, table) is not None:
            versions = sorted({state.tables[table] for state in states if table in state.tables})
            with reading(storage, table):
                candidates = open_table(storage, table).vacuum(
                    0, dry_run=True, enforce_retention_duration=False, full=True, keep_versions=versions
                )
            for name in candidates:
                own = _OWN.fullmatch(name)
                if own and (not own[1] or own[1] in tokens):
                    yield f"{table}/{name}"
    for name in storage.list(STAGING):
        folder = FOLDER.fullmatch(name)
        if folder and folder[1] in tokens:
            yield f"{STAGING}/{name}"
    rows = names(all_parts(storage))
    yield from (
        f"{RUNS}/{name}" for name in storage.list(RUNS) if STATE.fullmatch(name) and f"{RUNS}/{name}" not in rows
    )


def verify(lake: Lake, snapshot: Snapshot) -> Iterator[DamagedPart]:
    """Read every file of a state against the log, and yield those that are damaged. Raises UsageError."""
    for name, version in sorted(snapshot.tables.items()):
        try:
            parts = lake.parts(name, version)
        except DamageError as error:
            yield DamagedPart(name, log_of(name), str(error))
            continue
        for part in parts:
            if problem := damage_of(lake.storage, part):
                yield DamagedPart(name, part.name, problem)


def log_of(table: str) -> str:
    """The name of the log of a table, as a damaged part."""
    return f"{table}/{LOG}"
