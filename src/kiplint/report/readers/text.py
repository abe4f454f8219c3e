"""Readers for people: a table of what breaks, then where, then all of it in a sentence."""

from __future__ import annotations

from typing import TextIO

from kiplint.report.kit.colors import BOLD, DIM, SEVERITY, paint
from kiplint.report.kit.table import table, width_of
from kiplint.report.readers.sentence import groups, ignored, sentence
from kiplint.runs.readers import Befallen, ReaderRow, ReadersResult
from kiplint.text.show import printable

SHOWN = 3
"""How many places are told of what befalls a reader in the same way."""

HEAD = ("reader", "reads", "fails", "misreads", "ignores")


def write(result: ReadersResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    rows = [
        [
            (row.profile.name, ""),
            (f"{row.reads:,}", ""),
            (f"{len(row.fails):,}", SEVERITY["error"] if row.fails else DIM),
            (f"{len(row.misreads):,}", SEVERITY["warning"] if row.misreads else DIM),
            (ignored(row) or "-", DIM),
        ]
        for row in result.rows
    ]
    out.write("".join(f"{line}\n" for line in table(HEAD, rows, color, width_of(out), indent="")) + "\n")
    for row in result.rows:
        _write_row(row, out, color)
    out.write(f"{printable(sentence(result))}\n")


def _write_row(row: ReaderRow, out: TextIO, color: bool) -> None:
    for some, head in ((row.fails, f"fails, {row.profile.fails}"), (row.misreads, "takes for something else")):
        if not some:
            continue
        out.write(f"{paint(f'{row.profile.title} {head}', BOLD, color)}\n")
        for said, found in groups(some):
            out.write(f"  {printable(said)}\n{''.join(_places(found, color))}")
        out.write("\n")


def _places(found: list[Befallen], color: bool) -> list[str]:
    lines = []
    for one in found[:SHOWN]:
        finding = one.finding
        versions = f" {one.reading.versions}" if one.reading.versions else ""
        where = f"{finding.path}:{finding.span.line}:{finding.span.column}"
        lines.append(f"    {printable(finding.message_name)}{versions}  {paint(printable(where), DIM, color)}\n")
    if more := len(found[SHOWN:]):
        lines.append(f"    and {more:,} more\n")
    return lines
