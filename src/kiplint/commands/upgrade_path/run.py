"""The way from one release to another."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from kiplint.compat.roles import Mode
from kiplint.compat.tree import Tree, broken, load_rpcs
from kiplint.compat.upgrade import UpgradePath, make_release
from kiplint.compat.upgrade import upgrade_path as find_path
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.render.report import RunResult, Status
from kiplint.sources.history import version_key
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean


class UpgradeResult(RunResult, frozen=True):
    """The path that was found. `status` is `findings` where there is none; `broken` as in Report."""

    path: UpgradePath

    command = "upgrade-path"
    unread = "not compared"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.upgrade_path.text",
        "json": "kiplint.commands.upgrade_path.result",
    }

    def __str__(self) -> str:
        found = self.path
        return " -> ".join(found.path) if found.found else f"no path from {found.source} to {found.target}"


class _Asked(NamedTuple):
    source: str
    target: str
    over: Sequence[str]
    tags: bool
    repository: str | None


def upgrade_path(
    source: Path,
    target: Path,
    *,
    over: Sequence[Path] = (),
    tags: bool = False,
    mode: Mode | None = None,
    repository: Path | None = None,
) -> UpgradeResult:
    """The shortest rolling upgrade from one set to another, over the sets in `over` or all `tags` of the repository.

    `mode` is what the cluster runs in at first. Raises UsageError for mistakes in the arguments and SourceError for
    what cannot be opened.
    """
    where = os.fspath(repository) if repository else None
    asked = _Asked(os.fspath(source), os.fspath(target), [os.fspath(one) for one in over], tags, where)
    trees = _stations(asked)
    releases = [make_release(_plain(tree.name), tree.main) for tree in trees]
    if mode and mode not in releases[0].served:
        raise UsageError(f"{releases[0].name} cannot run in that mode; leave --mode {mode} out")
    found = find_path(releases, mode)
    unread = broken(*trees)
    status: Status = "error" if unread else "ok" if found.found else "findings"
    return UpgradeResult(found, status=status, broken=unread)


def _stations(asked: _Asked) -> list[Tree]:
    """The sets from FROM to TO, both included, in the order of the list; raises UsageError where that makes no sense.

    FROM and TO need not be in the list: then they stand before and after it; without a list there is nothing between
    them. Tags without definitions are left out.
    """
    if asked.tags and asked.over:
        raise UsageError("--tags and --over exclude each other: give the one or the other")
    names = [f"{tag}:" for tag in tags_of(asked.repository)] if asked.tags else asked.over
    places = {_plain(name): index for index, name in enumerate(names)}
    for end in (asked.source, asked.target):
        if asked.tags and _plain(end) not in places and not os.path.exists(end) and ":" not in end:
            raise UsageError(f"there is no tag {end}{did_you_mean(end, places, numbered=False)}")
    first, last = places.get(_plain(asked.source), -1), places.get(_plain(asked.target), len(names))
    if first > last:
        raise UsageError(f"{asked.source} comes after {asked.target}: write upgrade-path {_swapped(asked)}")
    if _plain(asked.source) == _plain(asked.target):
        return [load_rpcs(names[first] if first >= 0 else asked.source, asked.repository)]
    between = [_open(name, asked) for name in names[first + 1 : last]]
    ends = [names[first] if first >= 0 else asked.source, names[last] if last < len(names) else asked.target]
    start, goal = (load_rpcs(name, asked.repository) for name in ends)
    return [start, *(tree for tree in between if tree), goal]


def tags_of(repository: str | None) -> list[str]:
    """The tags of a repository (a directory or a bundle) that have a version number, in the order of versions."""
    from kiplint.sources.objects import open_repository

    names = open_repository(repository).run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
    found = sorted((name for name in names if version_key(name)[0]), key=version_key)
    if not found:
        raise UsageError(f"{repository or 'the repository'} has no tag with a version; name the sets by --over instead")
    return found


def _open(name: str, asked: _Asked) -> Tree | None:
    try:
        return load_rpcs(name, asked.repository)
    except (SourceError, UsageError):
        if asked.tags:
            return None
        raise


def _plain(name: str) -> str:
    return name.rstrip(":/") or name


def _swapped(asked: _Asked) -> str:
    return f"{asked.target} {asked.source}"
