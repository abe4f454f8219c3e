"""The report on a lake as Markdown."""

from __future__ import annotations

from typing import TextIO

from kiplint.pipeline.answers.newest import LakeReport
from kiplint.report.lake.grids import write_markdown


def write(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_markdown(result.grids, out)
