"""A migration as a table in Markdown, for pull requests."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.migrate.run import MigrationResult
from kiplint.commands.migrate.text import closing, headers
from kiplint.render.markdown import inline, write_row

COLUMNS = ("RPC", "state", "before", "versions", "request headers", "done", "to look at")


def write(result: MigrationResult, out: TextIO, *, color: bool) -> None:
    """Write how many RPCs there are of each state, then a row for each."""
    out.write(f"### {closing(result.rows, len(result.files))}\n\n")
    several = len({row.directory for row in result.rows}) > 1
    write_row(COLUMNS, out)
    write_row(["---"] * len(COLUMNS), out)
    for row in result.rows:
        name = f"{row.directory}: {row.name}" if several else row.name
        cells = (name, row.state, row.base_versions, row.versions, headers(row), "; ".join(row.done))
        write_row((inline(cell) or " " for cell in (*cells, "; ".join(row.look))), out)
