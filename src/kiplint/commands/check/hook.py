"""Checking a commit, as a hook does: which of the files that it is given are definitions, and what it takes away."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kiplint.sources.disk import read
from kiplint.sources.git import is_revision, open_repository
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.sources.tree import home_of

if TYPE_CHECKING:
    from kiplint.commands.check.run import CheckOptions

HEAD = "HEAD"


def definitions_among(names: Iterable[str]) -> tuple[str, ...]:
    """The files that are definitions, or are meant to be as they lie beside some; directories stay."""
    return tuple(name for name in names if not os.path.isfile(name) or _is_ours(name))


def parts_of_commit(names: tuple[str, ...], options: CheckOptions) -> list[tuple[tuple[str, ...], CheckOptions]]:
    """What a commit concerns: the files with definitions, and the directories that lose a file with it.

    Of the files only what is new since `changed_since`, else since HEAD; all of it when none of them differs from HEAD,
    as the hook then runs over all files. With fixes there are only the files.
    """
    if options.mending:
        return [(names, options)]
    base = options.changed_since or HEAD
    since = base if options.changed_since or (names and _is_changed(names)) else None
    folders = _bereft(base)
    files = [(names, replace(options, changed_since=since))] if names or not folders else []
    return files + [((folder,), replace(options, changed_since=base)) for folder in folders]


def _is_changed(names: Iterable[str]) -> bool:
    """Whether any of the files differs from HEAD."""
    try:
        return bool(open_repository(None).run("diff", "--name-only", HEAD, "--", *names).strip())
    except SourceError:
        return False


def _bereft(base: str) -> tuple[str, ...]:
    """The directories, as they are called here, that have lost a JSON file since the revision, and still exist."""
    if not is_revision(base):
        return ()
    try:
        told = open_repository(None).run("diff", "--name-only", "--no-renames", "--diff-filter=D", "-z", base, "--")
    except SourceError:
        return ()
    top = home_of(os.curdir)
    folders = {os.path.dirname(os.path.join(top, path)) for path in told.split("\0") if path.endswith(".json")}
    return tuple(os.path.relpath(one) for one in sorted(folders) if os.path.isdir(one))


def _is_ours(name: str) -> bool:
    kind = kind_of(read(name), os.path.basename(name))
    if kind in ("definition", "other"):
        return kind == "definition"
    folder = os.path.dirname(name) or os.curdir
    beside = (os.path.join(folder, one) for one in os.listdir(folder) if one.endswith(".json"))
    return any(kind_of(read(one), os.path.basename(one)) == "definition" for one in beside if os.path.isfile(one))
