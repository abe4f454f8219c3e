"""The changelog of a release: what changed since another, in prose."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from io import StringIO
from typing import ClassVar

from kiplint.commands.diff.run import diff_all
from kiplint.compat.judge import Judged
from kiplint.engine.config import Path
from kiplint.render.formats import write
from kiplint.render.report import RunResult


class ChangelogResult(RunResult, frozen=True):
    """The changes from a set to another. `str` gives the changelog, a page of Markdown."""

    old: str
    """The name of the older release."""
    new: str
    """The name of the newer release."""
    changes: tuple[Judged, ...]
    """The changes, by file and position."""

    command = "changelog"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.changelog.text:write"}
    unread = "not compared"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.changes)} changes from {self.old} to {self.new}>"

    def __str__(self) -> str:
        page = StringIO()
        write("text", self, page)
        return page.getvalue().rstrip("\n")


def changelog(
    old: Path, new: Path, *, messages: Collection[str] = (), repository: Path | None = None
) -> ChangelogResult:
    """What changed from a set to another, by all rules that come with kiplint, whatever the configuration selects.

    With `messages`, globs of names of messages or RPCs, only their changes. Raises UsageError for a glob that fits
    nothing, and SourceError for what cannot be opened.
    """
    result = diff_all(old, new, messages=messages, repository=repository)
    before, after = (os.fspath(path).removesuffix(":") for path in (old, new))
    return ChangelogResult(
        before, after, result.changes, status="error" if result.broken else "ok", broken=result.broken
    )
