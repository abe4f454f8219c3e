"""A rollout as a table of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kiplint.commands.rollout.run import RolloutResult
from kiplint.compat.rollout import STATUSES, Row, summary
from kiplint.render.table import BOLD, DIM, Cell, paint, table, width_of
from kiplint.text.words import listed

COLORS = {"done": "32", "missing": "1;33", "wrong": "1;31", "new": "32", "exempt": DIM, "dead": DIM}
COLUMNS = ("RPC", "key", "status", "base", "versions", "request headers", "")


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_rollout(result.rows, result.header, out, color=color)


def write_rollout(rows: Sequence[Row], header: int, out: TextIO, *, color: bool) -> None:
    """Write the table: what is missing or wrong first, then the rest, then how many there are of each."""
    ordered = sorted(rows, key=lambda row: (row.status not in ("wrong", "missing"), row.status != "wrong", row.name))
    lines = table(COLUMNS, map(_cells, ordered), color, width_of(out), indent="", code=BOLD)
    out.write("".join(f"{line}\n" for line in lines or [paint("  ".join(COLUMNS).rstrip(), BOLD, color)]))
    out.write(f"\n{closing(rows, header)}\n")


def closing(rows: Sequence[Row], header: int) -> str:
    """`Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {listed(parts)}." if parts else f"Request header {header}: no RPCs."


def _cells(row: Row) -> list[Cell]:
    headers = ", ".join(f"{versions}: {number}" for versions, number in row.header_versions.items())
    status = (row.status, COLORS[row.status])
    plain = (row.base_versions, row.versions, headers, row.message)
    return [(row.name, ""), (str(row.api_key), ""), status, *((text, "") for text in plain)]
