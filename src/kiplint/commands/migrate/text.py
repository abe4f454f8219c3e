"""A migration for people: what was done to each RPC, then what a person has to review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final, TextIO, get_args

from kiplint.commands.migrate.run import MigrationResult
from kiplint.fixes.migration import MigrationRow, State
from kiplint.render.table import DIM, Cell, fold, table, title, width_of
from kiplint.text.show import printable
from kiplint.text.words import join_words, plural

COLORS: Final = {"migrated": "32", "declared": "32", "unchanged": DIM, "exempt": DIM, "dead": DIM, "left": "1;31"}
COLUMNS: Final = ("RPC", "", "versions", "request headers", "")
_QUIET: Final = ("unchanged", "dead")


def write(result: MigrationResult, out: TextIO, *, color: bool) -> None:
    """Write the rows that changed, then what to review, and a line with the counts."""
    rows = result.rows
    visible = [row for row in rows if row.state not in _QUIET or row.look]
    lines: list[str] = []
    width = width_of(out)
    names = _names(rows)
    for directory, group in groupby(visible, key=lambda row: row.directory):
        if len({row.directory for row in rows}) > 1:
            lines += [*([""] if lines else []), title(printable(directory), color)]
        lines += table(COLUMNS, [_cells(row) for row in group], color, width)
    notes = [(name, note) for name, row in zip(names, rows, strict=True) for note in row.look]
    if notes:
        lines += ["", title("To look at", color)]
        lines += [line for name, note in notes for line in fold(f"  {name}: {note}", width)]
    out.write("".join(f"{line}\n" for line in [*lines, *([""] if lines else []), _summary(result)]))


def _summary(result: MigrationResult) -> str:
    """`85 migrated, 1 exempt and 4 dead; 171 files changed.`, or `would change`."""
    counts = Counter(row.state for row in result.rows)
    verb = "changed" if result.is_written else "would change"
    parts = [f"{counts[state]} {state}" for state in get_args(State) if counts[state]]
    return f"{join_words(parts) if parts else 'No RPCs'}; {plural(len(result.files), 'file')} {verb}."


def _names(rows: Sequence[MigrationRow]) -> list[str]:
    """The names of the RPCs, after the directory where there are several."""
    several = len({row.directory for row in rows}) > 1
    return [f"{row.directory}: {row.name}" if several else row.name for row in rows]


def _headers(row: MigrationRow) -> str:
    """`0-1: 1, 2: 2, 3: 3`."""
    return ", ".join(f"{versions}: {header}" for versions, header in row.header_versions.items())


def _cells(row: MigrationRow) -> list[Cell]:
    versions = row.versions if row.versions == row.base_versions else f"{row.base_versions} -> {row.versions}"
    steps = printable(", ".join(row.done))
    return [(printable(row.name), ""), (row.state, COLORS[row.state]), (versions, ""), (_headers(row), ""), (steps, "")]
