"""The way from a release to another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from kiplint.compat.negotiation.clients import ClientRelease, client_use, released_side, releases_named
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.roles import TITLES, Mode
from kiplint.compat.tree import Tree, broken, load_rpcs
from kiplint.compat.upgrade import LeftBehind, UpgradePath, make_release
from kiplint.compat.upgrade import upgrade_path as find_path
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult, Status, written_by
from kiplint.sources.history import version_tags
from kiplint.sources.schema_files import SourceError
from kiplint.text.words import did_you_mean

DOCUMENTS: Final = {"upgrade-path": UpgradePath}


class UpgradeResult(RunResult, frozen=True):
    """The upgrade path. `status` is `findings` where there is none."""

    path: UpgradePath
    """The steps, and why the direct upgrade is impossible where it is."""

    command = "upgrade-path"
    renderers = written_by("upgrade_path", "text")
    unread = "not compared"

    @property
    def document(self) -> UpgradePath:
        """The JSON document."""
        return self.path

    def __str__(self) -> str:
        path = self.path
        return " -> ".join(path.path) if path.found else f"no path from {path.source} to {path.target}"


def upgrade_path(
    source: Path,
    target: Path,
    *,
    over: Sequence[Path] = (),
    tags: bool = False,
    mode: Mode | None = None,
    clients: str | None = None,
    repository: Path | None = None,
) -> UpgradeResult:
    """The shortest rolling upgrade from a set to another, over the sets in `over` or all `tags` of the repository.

    `mode` is the mode of the cluster at first. `clients` is `all`, or a list with commas of released clients such as
    `librdkafka@2.8.0`: the result says from which step on they are left behind. Raises UsageError for mistakes in the
    arguments and SourceError for what cannot be opened.
    """
    chosen = releases_named(clients) if clients is not None else ()
    where = os.fspath(repository) if repository else None
    trees = _open_trees(os.fspath(source), os.fspath(target), [os.fspath(name) for name in over], tags, where)
    releases = [make_release(_plain(tree.name), tree.main) for tree in trees]
    if mode and mode not in releases[0].served:
        raise UsageError(f"{releases[0].name} cannot run in {TITLES[mode]} mode")
    path = find_path(releases, mode)
    if chosen and path.found:
        path = replace(
            path, clients=tuple(_left_behind(chosen, path, {_plain(tree.name): tree.main for tree in trees}))
        )
    unread = broken(*trees)
    in_order = path.found and all(client.step is None for client in path.clients)
    status: Status = "error" if unread else "ok" if in_order else "findings"
    return UpgradeResult(path, status=status, broken=unread)


def _left_behind(
    chosen: Sequence[ClientRelease], path: UpgradePath, sets: Mapping[str, SchemaSet]
) -> Iterator[LeftBehind]:
    """For each client the first step after which it loses RPCs that it could use before the path (KIP-896)."""
    stops = [(path.source, path.mode), *((step.target, step.mode) for step in path.steps)]
    for release in chosen:
        side = released_side(release)
        states = [negotiate(side, [(name, sets[name])], mode=mode) for name, mode in stops]
        before = {rpc.name for rpc in states[0].rpcs if rpc.chosen is not None and not rpc.in_trouble}
        lost = [tuple(rpc.name for rpc in state.rpcs if rpc.in_trouble and rpc.name in before) for state in states]
        step = next((number for number, names in enumerate(lost) if names), None)
        status = client_use(release, states[-1]).status
        if step is None:
            yield LeftBehind(release.name, None, status=status)
        else:
            yield LeftBehind(release.name, step, stops[step][0], status, lost[step])


def _open_trees(source: str, target: str, over: Sequence[str], tags: bool, repository: str | None) -> list[Tree]:
    """The sets from the source to the target, both included, in the order of the list. Raises UsageError.

    An end that the list does not have stands before or after it. Tags without definitions are left out.
    """
    if tags and over:
        raise UsageError("the path goes over all tags or over the named sets, not both")
    names = [f"{tag}:" for tag in version_tags(repository)] if tags else over
    if tags and not names:
        raise UsageError(f"{repository or 'the repository'} has no tag with a version; name the releases instead")
    places = {_plain(name): index for index, name in enumerate(names)}
    for end in (source, target):
        if tags and _plain(end) not in places and not os.path.exists(end) and ":" not in end:
            raise UsageError(f"there is no tag {end}{did_you_mean(end, places, numbered=False)}")
    first, last = places.get(_plain(source), -1), places.get(_plain(target), len(names))
    if first > last:
        raise UsageError(f"{source} comes after {target}: write upgrade-path {target} {source}")
    if _plain(source) == _plain(target):
        return [load_rpcs(names[first] if first >= 0 else source, repository)]
    between = []
    for name in names[first + 1 : last]:
        try:
            between.append(load_rpcs(name, repository))
        except (SourceError, UsageError):
            if not tags:
                raise
    ends = (names[first] if first >= 0 else source, names[last] if last < len(names) else target)
    start, goal = (load_rpcs(name, repository) for name in ends)
    return [start, *between, goal]


def _plain(name: str) -> str:
    return name.rstrip(":/") or name
