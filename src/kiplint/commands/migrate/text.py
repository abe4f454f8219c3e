"""A migration as a table of text: what was done to each RPC, then what a person has to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final, TextIO

from kiplint.commands.migrate.run import MigrationResult
from kiplint.fixes.result import MigrationRow
from kiplint.render.table import DIM, fold, table, title, width_of
from kiplint.text.show import printable
from kiplint.text.words import listed, plural

STATES: Final = ("migrated", "declared", "unchanged", "exempt", "dead", "left")
COLORS: Final = {"migrated": "32", "declared": "32", "unchanged": DIM, "exempt": DIM, "dead": DIM, "left": "1;31"}
COLUMNS: Final = ("RPC", "", "versions", "request headers", "")
_QUIET: Final = ("unchanged", "dead")


def write(result: MigrationResult, out: TextIO, *, color: bool) -> None:
    """Write the rows, but for those of which there is nothing to tell, then what to look at, and how many."""
    rows, files = result.rows, len(result.files)
    shown = [row for row in rows if row.state not in _QUIET or row.look]
    lines: list[str] = []
    width = width_of(out)
    several = len({row.directory for row in rows}) > 1
    for directory, group in groupby(shown, key=lambda row: row.directory):
        lines += [*([""] if lines else []), title(printable(directory), color)] if several else []
        lines += table(COLUMNS, [_cells(row) for row in group], color, width)
    looks = [(f"{row.directory}: {row.name}" if several else row.name, one) for row in rows for one in row.look]
    if looks:
        lines += ["", title("To look at", color)]
        lines += [line for name, one in looks for line in fold(f"  {name}: {one}", width)]
    out.write("".join(f"{line}\n" for line in [*lines, *([""] if lines else []), closing(rows, files)]))


def closing(rows: Sequence[MigrationRow], files: int) -> str:
    """`85 migrated, 1 exempt and 4 dead; 171 files changed.`"""
    counts = Counter(row.state for row in rows)
    parts = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    changed = f"{plural(files, 'file')} changed"
    return f"{listed(parts)}; {changed}." if parts else f"No RPCs; {changed}."


def headers(row: MigrationRow) -> str:
    """`0-1: 1, 2: 2, 3: 3`."""
    return ", ".join(f"{versions}: {header}" for versions, header in row.header_versions.items())


def _cells(row: MigrationRow) -> list[tuple[str, str]]:
    versions = row.versions if row.versions == row.base_versions else f"{row.base_versions} -> {row.versions}"
    return [
        (printable(row.name), ""),
        (row.state, COLORS[row.state]),
        (versions, ""),
        (headers(row), ""),
        (printable(", ".join(row.done)), ""),
    ]
