"""The report on a lake for a terminal."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.pipeline.grids import write_text
from kiplint.pipeline.answers.newest import LakeReport


def write(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_text(result.grids, out, color=color)
