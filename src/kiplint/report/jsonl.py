"""One JSON object a line for each finding, for tools that read as they go."""

from __future__ import annotations

from typing import TextIO

import msgspec

from kiplint.report.json_document import as_json
from kiplint.report.model import Report


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write a line for each finding, and nothing else."""
    for one in report.findings:
        out.write(msgspec.json.encode(as_json(one)).decode() + "\n")
