"""One JSON object a line for each finding, or each row of a command's own document, for tools that read as they go."""

from __future__ import annotations

from typing import TextIO

from kiplint.render.findings.json import encoded
from kiplint.render.report import RunResult

ABOUT = "One JSON object a line for each finding."
SHOWS_FIXES = True


def write(result: RunResult, out: TextIO, *, color: bool) -> None:
    """Write a line for each item of the document's listing, and nothing else."""
    for item in result.items:
        out.write(encoded(item) + "\n")
