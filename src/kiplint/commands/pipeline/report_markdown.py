"""The report on a lake as Markdown."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.pipeline.grids import write_markdown
from kiplint.pipeline.answers.newest import LakeReport


def write(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_markdown(result.grids, out)
