"""The output formats, and the function that writes a result in a format. A module is imported only when it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

if TYPE_CHECKING:
    from kiplint.render.report import RunResult


class Format(NamedTuple):
    """A format of findings: what it is, in a sentence, and its `module:function`."""

    about: str
    writer: str


FORMATS: Final = {
    "text": Format(
        "Errors with their lines, and other findings in one line each; [*] marks a safe fix, [?] a likely one.",
        "kiplint.render.text:write",
    ),
    "concise": Format(
        "One line for each finding: path:line:column: severity rule message.",
        "kiplint.render.text:write_concise",
    ),
    "github": Format(
        "GitHub Actions annotations, a table in the job summary, and counts as step outputs.",
        "kiplint.render.github:write",
    ),
    "gitlab": Format("A GitLab code quality report.", "kiplint.render.ci:write_gitlab"),
    "json": Format(
        "One JSON document with all findings and a summary (see `kiplint schema check`).",
        "kiplint.render.json:write",
    ),
    "jsonl": Format("One JSON object per line for each finding.", "kiplint.render.json:write_lines"),
    "junit": Format(
        "JUnit XML: a suite for each file, a failure for each finding; harmless changes of a diff pass.",
        "kiplint.render.ci:write_junit",
    ),
    "markdown": Format("A table, for pull requests and job summaries.", "kiplint.render.markdown:write"),
    "sarif": Format("SARIF 2.1.0, for code scanning and editors.", "kiplint.render.sarif:write"),
}
"""The formats of findings by name, `text` first."""
PAGE: Final = "html"
"""The format of results that have a page, those of `diff` and `pipeline report`."""
COLORED: Final = ("text", "concise")
"""The formats whose writers take the argument `color`."""

Writer = Callable[..., None]
"""Writes a result to a stream: `writer(result, out)`, in the formats of `COLORED` `writer(result, out, color=True)`."""


def write(name: str, result: RunResult, out: TextIO, *, color: bool = False) -> None:
    """Write a result in the format of that name, by its own writer, or else by the one that `FORMATS` names."""
    writer = result.writers.get(name)
    if writer is None:
        module, _, function = FORMATS[name].writer.partition(":")
        writer = getattr(import_module(module), function)
    options = {"color": color} if name in COLORED else {}
    writer(result, out, **options)
