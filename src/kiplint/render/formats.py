"""The output formats by name. The module of a format is imported only when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from kiplint.render.report import RunResult


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


class Format(Protocol):
    """A way to write a result: one module each, with one function `write`."""

    def __call__(self, result: Any, out: TextIO, *, color: bool) -> None:
        """Write the result; `color` says whether escape sequences for colours are wanted."""


def load(name: str, result: RunResult) -> Format:
    """The function that writes such a result in a format: that of its room, else that of lists of findings."""
    module = None if name == "json" else own(name, result)
    write: Format = (module or import_module(f"kiplint.render.findings.{name}")).write
    return write


def own(name: str, result: RunResult) -> Any:
    """The module of the result's room that renders the format, or None where the room has none."""
    module = result.renderers.get(name)
    return module and import_module(module)


def write(name: str, result: RunResult, out: TextIO, *, color: bool = False) -> None:
    """Write a result in a format."""
    load(name, result)(result, out, color=color)
