"""One JSON object a line for each finding, or each row of a command's own document, for tools that read as they go."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TextIO

from kiplint.render.findings.json import encoded
from kiplint.render.report import RunResult

ABOUT = "One JSON object a line for each finding."
SHOWS_FIXES = True


def write(result: RunResult, out: TextIO, *, color: bool) -> None:
    """Write a line for each item of the document's listing, and nothing else."""
    for item in _items(result):
        out.write(encoded(item) + "\n")


def _items(result: RunResult) -> Iterable[object]:
    if "json" in result.renderers:  # a room whose document is not a Struct yet
        items: Iterable[object] = import_module(result.renderers["json"]).rows(result)
        return items
    listed: Iterable[object] = getattr(result.document, result.listing)
    return listed
