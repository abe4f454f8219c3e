"""Matrices for people: the pairs in trouble."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.negotiate.matrix.result import MatrixResult
from kiplint.render.table import DIM, paint, table, title, width_of
from kiplint.text.show import printable

COLUMNS = ("client", "brokers", "RPCs", "without a common version, or refused")


def write(result: MatrixResult, out: TextIO, *, color: bool) -> None:
    """Write the pairs in trouble, and how many are not."""
    rows = [[(cell, "") for cell in row] for row in result.matrix.runs()]
    lines = [title("Pairs in trouble", color), *table(COLUMNS, rows, color, width_of(out))]
    out.write("\n".join([*lines, paint(f"  {printable(result.matrix.note)}", DIM, color)]) + "\n")
