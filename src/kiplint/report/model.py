"""What a report is made of, and the protocol of formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TextIO

import msgspec

from kiplint.engine.finding import Finding


class Report(msgspec.Struct, frozen=True):
    """The findings of a run, in the order to show them, and what they were found in.

    `sources` holds the bytes of every file that has findings. A command with a report of its own kind brings its
    JSON `document`, its `rows` for jsonl, and `own`, which writes it as text or markdown.
    """

    findings: tuple[Finding, ...]
    files: int
    messages: int
    sources: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    document: Mapping[str, Any] | None = None
    rows: tuple[Mapping[str, Any], ...] | None = None
    own: Writer | None = None

    @property
    def counts(self) -> Counter[str]:
        """How many findings there are of each severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def summary(self) -> dict[str, int]:
        """The numbers of the run, as the JSON output names them."""
        counts = self.counts
        return {
            "files": self.files,
            "messages": self.messages,
            "errors": counts["error"],
            "warnings": counts["warning"],
            "infos": counts["info"],
        }


class Writer(Protocol):
    """Writes a report of its own kind: `text` or `markdown`."""

    def __call__(self, form: str, out: TextIO, *, color: bool) -> None:
        """Write the report in that form."""


class Format(Protocol):
    """A way to write a report: one module of this package each, with one function `write`."""

    def __call__(self, report: Report, out: TextIO, *, color: bool) -> None:
        """Write the report; `color` says whether escape sequences for colours are wanted."""


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last
