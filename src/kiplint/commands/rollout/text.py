"""A rollout as a table, in text and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from kiplint.commands.rollout.run import RolloutResult
from kiplint.compat.rollout import FAILING, RolloutRow
from kiplint.render.markdown import write_table, write_verdict
from kiplint.render.table import BOLD, DIM, fold, paint, paragraph, table, verdict_lines, width_of

COLORS = {"done": "32", "unstable": "1;33", "missing": "1;33", "wrong": "1;31", "new": "32", "exempt": DIM, "dead": DIM}
LEAST_FOLDED = 4
"""The number of RPCs with the same step from which on they are a paragraph."""
COLUMNS = ("RPC", "key", "status", "base", "versions", "request headers")


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the table, and below it how many RPCs there are of each status."""
    head = (*COLUMNS, "")
    status = COLUMNS.index("status")
    folds = rows_by_step(result.rows)
    folded_names = {row.name for some in folds.values() for row in some}
    rows = (
        [(cell, COLORS[cell] if column == status else "") for column, cell in enumerate(cells)]
        for cells in _rows([row for row in result.rows if row.name not in folded_names])
    )
    lines = table(head, rows, color, width_of(out), indent="", code=BOLD)
    if not folds:
        lines = lines or [paint("  ".join(head).rstrip(), BOLD, color)]
    for step, some in folds.items():
        names = (f"{row.name} {row.versions}" for row in some)
        title = fold(f"{len(some)} {some[0].status}: {step}", width_of(out), color, COLORS[some[0].status])
        lines += ["", *title, *paragraph(names, width=width_of(out))]
    out.write("".join(f"{line}\n" for line in (lines if lines[:1] != [""] else lines[1:])))
    out.write("".join(f"{line}\n" for line in ["", *verdict_lines(result.verdict, width_of(out), color)]))


def write_markdown(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write how many RPCs there are of each status, and the table."""
    write_verdict(result.verdict, out)
    write_markdown_rows(result.rows, out)


def write_markdown_rows(rows: Sequence[RolloutRow], out: TextIO) -> None:
    """Write the table of rows."""
    write_table((*COLUMNS, "what"), ([cell or " " for cell in cells] for cells in _rows(rows)), out)


def rows_by_step(rows: Iterable[RolloutRow]) -> dict[str, list[RolloutRow]]:
    """The missing RPCs by their next step, where `LEAST_FOLDED` or more have the same.

    The text of a step has neither the name nor the versions of an RPC.
    """
    steps: dict[str, list[RolloutRow]] = {}
    for row in rows:
        if row.status == "missing":
            text = re.sub(rf" of {re.escape(row.name)}\b", "", row.message).replace(row.name, "the RPC")
            text = re.sub(r"(?<=bump it to )\d+", "a new version", re.sub(r" \(\d+\)", "", text))
            steps.setdefault(text, []).append(row)
    return {step: some for step, some in steps.items() if len(some) >= LEAST_FOLDED}


def _rows(rows: Sequence[RolloutRow]) -> Iterator[tuple[str, ...]]:
    """The cells of each RPC, the wrong ones first, then the missing and the unstable ones."""
    for row in sorted(rows, key=lambda row: (-FAILING.index(row.status) if row.status in FAILING else 1, row.name)):
        headers = ", ".join(f"{versions}: {header}" for versions, header in row.header_versions.items())
        yield row.name, str(row.api_key), row.status, row.base_versions, row.versions, headers, row.message
