"""The output formats, and the function that writes a result in a format. A module is imported only when it is used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from kiplint.text.files import module_names

if TYPE_CHECKING:
    from kiplint.render.report import RunResult

FINDINGS = "kiplint.render.findings"
"""The package whose modules are the formats of findings.

Each has a sentence `ABOUT` and a function `write`; `SHOWS_FIXES` is true where the format shows how to fix a finding.
"""


class Writer(Protocol):
    """A function that writes a result in a format."""

    def __call__(self, result: Any, out: TextIO, *, color: bool) -> None:
        """Write the result; `color` allows escape sequences for colours."""


@cache
def format_names() -> Sequence[str]:
    """The names of all formats of findings, `text` first."""
    names = module_names(os.path.join(os.path.dirname(__file__), "findings"))
    return sorted(names, key=lambda name: (name != "text", name))


def about(name: str) -> str:
    """What a format is, in one sentence."""
    text: str = import_module(f"{FINDINGS}.{name}").ABOUT
    return text


def shows_fixes(name: str) -> bool:
    """Whether reports in the format show how to fix a finding."""
    return getattr(import_module(f"{FINDINGS}.{name}"), "SHOWS_FIXES", False)


def writer(name: str, result: RunResult) -> Writer:
    """The function that writes the result in a format: from the command's room, else from `render/findings`."""
    module, _, function = result.renderers.get(name, f"{FINDINGS}.{name}:write").partition(":")
    write: Writer = getattr(import_module(module), function)
    return write


def write(name: str, result: RunResult, out: TextIO, *, color: bool = False) -> None:
    """Write a result in a format."""
    writer(name, result)(result, out, color=color)
