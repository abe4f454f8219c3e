"""A rollout as a table in Markdown, for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kiplint.commands.rollout.run import RolloutResult
from kiplint.commands.rollout.text import closing
from kiplint.compat.rollout import Row
from kiplint.render.markdown import inline, write_row

COLUMNS = ("RPC", "key", "status", "base", "versions", "request headers", "what")


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_rows(result.rows, result.header, out)


def write_rows(rows: Sequence[Row], header: int, out: TextIO) -> None:
    """Write how many RPCs there are of each status, then a row for each, what is wrong or missing first."""
    out.write(f"### {closing(rows, header)}\n\n")
    write_row(COLUMNS, out)
    write_row(["---"] * len(COLUMNS), out)
    for row in sorted(rows, key=lambda row: (row.status not in ("wrong", "missing"), row.status != "wrong", row.name)):
        headers = ", ".join(f"{versions}: {number}" for versions, number in row.header_versions.items())
        cells = (row.name, str(row.api_key), row.status, row.base_versions, row.versions, headers, row.message)
        write_row((inline(cell) or " " for cell in cells), out)
