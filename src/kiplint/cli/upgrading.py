"""What `kiplint upgrade-path` does, apart from reading its arguments."""

from __future__ import annotations

import os
import sys

import msgspec

from kiplint.cli.negotiating import rpc_tree
from kiplint.cli.process import CLEAN, FINDINGS, USAGE
from kiplint.cli.terminal import use_color
from kiplint.cli.trees import warn_of_broken
from kiplint.compat.roles import Mode
from kiplint.compat.tree import Tree
from kiplint.compat.upgrade.path import upgrade_path
from kiplint.compat.upgrade.release import make_release
from kiplint.engine.errors import UsageError
from kiplint.report.negotiation import json as negotiation_json
from kiplint.report.upgrade import text as upgrade_text
from kiplint.sources.history import version_key
from kiplint.sources.schema_files import SourceError
from kiplint.text.suggest import did_you_mean


class UpgradeOptions(msgspec.Struct, frozen=True):
    """The arguments, as they were given; empty means not given."""

    source: str
    target: str
    over: list[str]
    tags: bool = False
    mode: Mode | None = None
    repository: str | None = None
    output_format: str = "text"
    color: str = "auto"


def run_upgrade(options: UpgradeOptions) -> int:
    """Find the path, write it, and say how it went as an exit code."""
    trees = open_stations(options)
    releases = [make_release(_plain(tree.name), tree.main) for tree in trees]
    if options.mode and options.mode not in releases[0].served:
        raise UsageError(f"{releases[0].name} cannot run in that mode; leave --mode {options.mode} out")
    found = upgrade_path(releases, options.mode)
    if options.output_format == "json":
        negotiation_json.write(found, sys.stdout)
    else:
        upgrade_text.write(found, sys.stdout, color=use_color(options.color, sys.stdout))
    if warn_of_broken(*trees):
        return USAGE
    return CLEAN if found.found else FINDINGS


def open_stations(options: UpgradeOptions) -> list[Tree]:
    """The sets from FROM to TO, both included, in the order of the list; raises UsageError where that makes no sense.

    FROM and TO need not be in the list: then they stand before and after it. Tags without definitions are left out.
    """
    if options.tags and options.over:
        raise UsageError("--tags and --over exclude each other: give the one or the other")
    if not options.tags and not options.over:
        raise UsageError("say what the path may go over: --over SET for each release, oldest first, or --tags")
    names = [f"{tag}:" for tag in tags_of(options.repository)] if options.tags else options.over
    places = {_plain(name): index for index, name in enumerate(names)}
    for end in (options.source, options.target):
        if options.tags and _plain(end) not in places and not os.path.exists(end) and ":" not in end:
            raise UsageError(f"there is no tag {end}{did_you_mean(end, places)}")
    first, last = places.get(_plain(options.source), -1), places.get(_plain(options.target), len(names))
    if first > last:
        raise UsageError(f"{options.source} comes after {options.target}: write upgrade-path {_swapped(options)}")
    if _plain(options.source) == _plain(options.target):
        return [rpc_tree(names[first] if first >= 0 else options.source, options.repository)]
    between = [_open(name, options) for name in names[first + 1 : last]]
    ends = [names[first] if first >= 0 else options.source, names[last] if last < len(names) else options.target]
    start, goal = (rpc_tree(name, options.repository) for name in ends)
    return [start, *(tree for tree in between if tree), goal]


def tags_of(repository: str | None) -> list[str]:
    """The tags of a repository (a directory or a bundle) that have a version number, in the order of versions."""
    from kiplint.sources.repository import open_repository

    names = open_repository(repository).run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
    found = sorted((name for name in names if version_key(name)[0]), key=version_key)
    if not found:
        raise UsageError(f"{repository or 'the repository'} has no tag with a version; name the sets by --over instead")
    return found


def _open(name: str, options: UpgradeOptions) -> Tree | None:
    try:
        return rpc_tree(name, options.repository)
    except (SourceError, UsageError):
        if options.tags:
            return None
        raise


def _plain(name: str) -> str:
    return name.rstrip(":/") or name


def _swapped(options: UpgradeOptions) -> str:
    return f"{options.target} {options.source}"
