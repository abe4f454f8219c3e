"""The formats by name, and which result is written by which room; each module is imported only when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from kiplint.runs.result import RunResult

FORMATS = {
    "text": "Findings with the line they are on, for people.",
    "concise": "One line for each finding: path:line:column: severity rule message.",
    "json": "One JSON document with all findings and a summary (see `kiplint schema output`).",
    "jsonl": "One JSON object a line for each finding.",
    "github": "Annotations of GitHub Actions, the table in the job summary, and counts as outputs of the step.",
    "sarif": "SARIF 2.1.0, for code scanning and editors.",
    "rdjson": "Reviewdog's diagnostic format, with suggestions that review bots can post.",
    "junit": "JUnit XML: a suite for each file, a failure for each finding; what a diff only tells, passes.",
    "gitlab": "A code quality report of GitLab.",
    "markdown": "A table, for pull requests and job summaries.",
    "html": "A page to look at and search, in one file that needs no network.",
}

FINDINGS = "findings"
ROOMS = {
    "check": FINDINGS,
    "diff": "diff",
    "rollout": "rollout",
    "negotiate": "negotiation",
    "matrix": "matrix",
    "upgrade-path": "upgrade",
    "show": "layout",
    "migrate": "migration",
    "decode": "bytes",
    "probe": "probe",
    "kip": "kip",
    "readers": "readers",
    "pipeline report": "lake",
}
"""By command, the package that tells its results in a way of their own: as `text`, as `json`, and as `markdown`."""

OWN = ("text", "json", "markdown")
"""The modules of such a package. The one for `json` has the document, and the rows for `jsonl` where it has any."""

PAGES = ("diff", "rollout", "negotiate", "matrix", "show", "pipeline report")
"""The commands that have a page of their own as `html`; the others have that of findings."""


class Format(Protocol):
    """A way to write a result: one module each, with one function `write`."""

    def __call__(self, result: Any, out: TextIO, *, color: bool) -> None:
        """Write the result; `color` says whether escape sequences for colours are wanted."""


def load(name: str, result: RunResult) -> Format:
    """The function that writes such a result in a format."""
    alone = (name in OWN and name != "json") or (name == "html" and result.command in PAGES)
    room = own(name, result) if alone else import_module(f"kiplint.report.findings.{name}")
    write: Format = room.write
    return write


def own(name: str, result: RunResult) -> Any:
    """The module that tells such results in their own way."""
    return import_module(f"kiplint.report.{ROOMS[result.command]}.{name}")


def write(name: str, result: RunResult, out: TextIO, *, color: bool = False) -> None:
    """Write a result in a format."""
    load(name, result)(result, out, color=color)
