"""Commits behind merges: which of those that a merge brought touched a file."""

from __future__ import annotations

from typing import NamedTuple

from kiplint.sources.objects import Objects

_FORMAT = "--format=%H%x00%an%x00%s"
_PLAIN = ("--no-show-signature", "--no-mailmap", "--no-notes", "--no-color", "--encoding=UTF-8", _FORMAT)


class Inner(NamedTuple):
    """A commit that a merge brought: its id, author and first line."""

    commit: str
    author: str
    subject: str


def inner_commit(objects: Objects, merge: str, path: str) -> Inner | None:
    """The last commit between a merge's first parent and it that touched a file; None where there is none.

    So too for a history that was cut off, and for a path whose name git spells otherwise. Raises SourceError.
    """
    command = ("--literal-pathspecs", "log", "-1", "--no-merges", "--no-renames", *_PLAIN, f"{merge}^1..{merge}")
    words = objects.run(*command, "--", path).rstrip("\n").split("\0")
    return Inner(*words) if len(words) == 3 else None
