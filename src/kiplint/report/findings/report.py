"""What a report is made of, and the protocol of formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TextIO

import msgspec

from kiplint.engine.finding import Finding, Severity, Span
from kiplint.report.kit.words import plural, tally

Status = Literal["ok", "findings", "error"]
"""How a run went, as its exit code says: 0, 1, or 2."""

OldPlace = tuple[str, Span]
"""Where something stood before a change: the file, as it is shown, and the place in it."""


class RuleInfo(msgspec.Struct, frozen=True):
    """What there is to say of a rule: `help` tells in Markdown what to do about its findings."""

    title: str
    why: str
    source: str
    severity: Severity
    help: str


class Report(msgspec.Struct, frozen=True):
    """The findings of a run, in the order to show them, and what they were found in.

    `sources` holds the bytes of every file that has findings. A command with a report of its own kind brings its
    JSON `document`, its `rows` for jsonl, and `own`, which writes it as text or markdown.

    `rules` describes the rules of the findings. `before` has for each finding the old place of what changed, or is
    empty. `paths` are the files that were looked at, where they are known. `in_repository` turns the path of a file
    into the one that a platform knows it by, relative to the top of the repository where it is below that. `harmless`
    are the severities that no one has to act on. `stale` are the entries of the baseline that have been paid, None
    where there is no baseline.
    """

    findings: tuple[Finding, ...]
    files: int
    messages: int
    sources: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    document: Mapping[str, Any] | None = None
    rows: tuple[Mapping[str, Any], ...] | None = None
    own: Writer | None = None
    command: str = "check"
    status: Status = "ok"
    rules: Mapping[str, RuleInfo] = msgspec.field(default_factory=dict)
    before: tuple[OldPlace | None, ...] = ()
    paths: tuple[str, ...] = ()
    in_repository: Callable[[str], str] = str
    harmless: tuple[Severity, ...] = ()
    stale: tuple[Mapping[str, Any], ...] | None = None

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

    @property
    def told(self) -> str:
        """The numbers in words: `1 error and 2 warnings in 3 files`, or `nothing found in 3 files`."""
        return f"{tally(self.counts) or 'nothing found'} in {plural(self.files, 'file')}"


class Writer(Protocol):
    """Writes a report of its own kind: `text` or `markdown`."""

    def __call__(self, form: str, out: TextIO, *, color: bool) -> None:
        """Write the report in that form."""


class Format(Protocol):
    """A way to write a report: one module of this package each, with one function `write`."""

    def __call__(self, report: Report, out: TextIO, *, color: bool) -> None:
        """Write the report; `color` says whether escape sequences for colours are wanted."""
