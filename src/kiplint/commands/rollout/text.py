"""A rollout as a table, in text and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from kiplint.commands.rollout.run import RolloutResult
from kiplint.compat.rollout import FAILING, STATUSES, RolloutRow, summary
from kiplint.render.markdown import write_table
from kiplint.render.table import BOLD, DIM, paint, table, width_of
from kiplint.text.words import listed

COLORS = {"done": "32", "unstable": "1;33", "missing": "1;33", "wrong": "1;31", "new": "32", "exempt": DIM, "dead": DIM}
COLUMNS = ("RPC", "key", "status", "base", "versions", "request headers")


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the table, and below it how many RPCs there are of each status."""
    head = (*COLUMNS, "")
    status = COLUMNS.index("status")
    rows = (
        [(cell, COLORS[cell] if column == status else "") for column, cell in enumerate(cells)]
        for cells in _rows(result.rows)
    )
    lines = table(head, rows, color, width_of(out), indent="", code=BOLD)
    out.write("".join(f"{line}\n" for line in lines or [paint("  ".join(head).rstrip(), BOLD, color)]))
    out.write(f"\n{closing(result.rows, result.header)}\n")


def write_markdown(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write how many RPCs there are of each status, and the table."""
    write_markdown_rows(result.rows, result.header, out)


def write_markdown_rows(rows: Sequence[RolloutRow], header: int, out: TextIO) -> None:
    """Write the same for the rows of a rollout to a request header."""
    out.write(f"### {closing(rows, header)}\n\n")
    write_table((*COLUMNS, "what"), ([cell or " " for cell in cells] for cells in _rows(rows)), out)


def closing(rows: Sequence[RolloutRow], header: int) -> str:
    """`Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {listed(parts) if parts else 'no RPCs'}."


def _rows(rows: Sequence[RolloutRow]) -> Iterator[tuple[str, ...]]:
    """The cells of each RPC, the wrong ones first, then the missing and the unstable ones."""
    for row in sorted(rows, key=lambda row: (-FAILING.index(row.status) if row.status in FAILING else 1, row.name)):
        headers = ", ".join(f"{versions}: {header}" for versions, header in row.header_versions.items())
        yield row.name, str(row.api_key), row.status, row.base_versions, row.versions, headers, row.message
