"""A finding: one rule broken at one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: 1-based lines and columns, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken at one place of one file, ready to be reported."""

    rule: str
    severity: Severity
    message: str
    path: str
    span: Span
    pointer: str
    message_name: str
    source: str
    fingerprint: str
    fixable: bool = False
