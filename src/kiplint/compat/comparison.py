"""The comparison of the paths of a work tree with a base, as a review makes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kiplint.compat.acceptance import added_entries, added_suppressions
from kiplint.compat.base import Base, RevisionFiles, accepted_in, path_in_revision, require_in_place
from kiplint.compat.change import ChangeFinding, Kind
from kiplint.compat.classify import changes_in_both
from kiplint.compat.diff import Diff, compare, notes_of
from kiplint.compat.released import Releases, releases_note, releases_of
from kiplint.compat.rollout import RolloutRow, rollout_of_trees
from kiplint.compat.tree import (
    Tree,
    counterpart_of,
    load_base,
    load_head,
    load_release,
    make_tree,
    reported_sets,
    unparsable_files,
)
from kiplint.engine.config import Acceptance, Configurations
from kiplint.engine.finding import Finding
from kiplint.sources.repository import HERE
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.files import relative_path


class Comparison(NamedTuple):
    """The comparison of all paths with the base.

    It has the trees of each path in base and head, and the files of all these trees by path.
    """

    configurations: Configurations
    heads: Configurations
    """Those of the work tree, whose entries of `accept` count."""
    trees: Sequence[tuple[Tree, Tree]] = ()
    base_sources: Mapping[str, bytes] = MappingProxyType({})
    head_sources: Mapping[str, bytes] = MappingProxyType({})
    merged: Sequence[str] = ()
    """The other sides of a merge."""
    merged_sources: Mapping[str, bytes] = MappingProxyType({})
    """The definitions of the other sides, by path."""
    changes: Sequence[ChangeFinding] = ()
    accepted: Sequence[ChangeFinding] = ()
    comments: Sequence[Finding] = ()
    """The findings about comments that accept no change."""
    releases: Releases | None = None
    notes: Sequence[str] = ()
    is_complete: bool = True
    """Whether all messages that could be read were compared."""

    @property
    def additions(self) -> tuple[ChangeFinding, ...]:
        """The changes that break nothing and are only infos; comments are not reported."""
        return tuple(
            change
            for change in self.changes
            if change.breaks == "none" and change.severity == "info" and change.kind != Kind.COMMENT_CHANGED.label
        )

    @property
    def findings(self) -> list[ChangeFinding]:
        """The changes that break something, or are at least a warning: all but the additions."""
        return [change for change in self.changes if change.breaks != "none" or change.severity != "info"]

    @property
    def suppressions(self) -> Iterator[Finding]:
        """What the change suppresses by comments, and by entries of `accept`: of a merge, what no side has."""
        for base_tree, head_tree in self.trees:
            yield from added_suppressions(base_tree, head_tree, self.accepted, self.configurations, self.merged_sources)
        directories = [directory for _, head_tree in self.trees for directory in head_tree.directories]
        pairs = [(self.configurations.of(directory), self.heads.of(directory)) for directory in directories]
        for file, (base, head) in {head.file: (base, head) for base, head in pairs}.items():
            if file:
                sides = [base.config.accept, *(accepted_in(file, commit) for commit in self.merged)]
                entries = [entry for entry in head.config.accept if not any(entry in side for side in sides)]
                yield from added_entries(file, entries, base.rules(), self.accepted)

    def of_merge(self, other: Comparison, origin: Comparison | None) -> Comparison:
        """What a merge brings: of this comparison, what the one with the `other` side has, too.

        Also what breaks in this side since the `origin` of both, if that is known: not the other side breaks what it
        never had, but a merge that drops it.
        """
        changes = [*other.changes, *other.accepted]  # a comment that HEAD has accepts nothing of the merge
        comments = {finding.fingerprint for finding in other.comments}
        fingerprints = {change.fingerprint for change in (*origin.changes, *origin.accepted)} if origin else None

        def of_merge(own_changes: Sequence[ChangeFinding]) -> list[ChangeFinding]:
            new = {id(change) for change in changes_in_both(own_changes, changes)}
            if fingerprints is not None:
                own = (item for item in own_changes if item.breaks != "none" and item.fingerprint not in fingerprints)
                new.update(map(id, own))
            return [change for change in own_changes if id(change) in new]

        return self._replace(
            changes=of_merge(self.changes),
            accepted=of_merge(self.accepted),
            comments=[finding for finding in self.comments if finding.fingerprint in comments],
            merged_sources={**self.merged_sources, **other.base_sources},
        )

    def rollout(self, header: int) -> Iterator[RolloutRow]:
        """The RPCs with their request headers."""
        for base_tree, head_tree in self.trees:
            yield from rollout_of_trees(head_tree, base_tree, header, self.configurations, self.releases)


def compare_paths(
    names: Sequence[str],
    base: Base,
    released: Sequence[str],
    configurations: Configurations,
    heads: Configurations,
) -> Comparison:
    """Compare each path with the same path in the base; of a merge, find what it brings."""

    def compare_with(revision: str) -> Comparison:
        return _compare_with(names, base._replace(revision=revision), released, configurations, heads)

    comparison = compare_with(base.revision)
    if base.revision:
        paths = [HERE.top + path.removeprefix(f"{base.revision}:") for path in comparison.base_sources]
        require_in_place(filter(configurations.keeps, paths), HERE.top)
    for commit in base.merged:
        origin = HERE.merge_base(base.revision, commit)
        comparison = comparison.of_merge(compare_with(commit), compare_with(origin) if origin else None)
    return comparison._replace(merged=base.merged)


def _compare_with(
    names: Sequence[str],
    base: Base,
    released: Sequence[str],
    configurations: Configurations,
    heads: Configurations,
) -> Comparison:
    """Compare each path with the same path in the base, each set by its configuration; without a base, nothing."""
    revision = base.revision
    if not revision and not base.release:
        return Comparison(configurations, heads)
    releases = releases_of(configurations.main, f"{revision}:" if revision else base.release, released)
    trees: list[tuple[Tree, Tree]] = []
    base_sources: dict[str, bytes] = {}
    head_sources: dict[str, bytes] = {}
    diffs: list[Diff] = []
    notes = [*releases_note(releases, f"{revision}:")] if revision else []
    files = RevisionFiles(revision)

    def keeps(path: str) -> bool:
        is_left_out = bool(revision) and files.is_left_out(os.path.abspath(path))
        return not is_left_out and configurations.keeps(path)

    for name in names:
        try:
            head_tree = load_head(name, HERE, configurations.keeps)
        except NothingThereError:  # all its definitions are gone
            head_tree = make_tree(name, ())
        base_name = path_in_revision(name, revision) if revision else ""
        if revision and not base_name:
            notes.append(f"{name} is not in {revision}, so there is nothing to compare it with")
            continue
        try:
            base_tree = load_base(base_name) if base_name else load_release(base.release)
        except NothingThereError:  # the base has no definition in this path
            continue
        if base.release:
            path = relative_path(os.path.realpath(name), HERE.top or os.curdir)
            base_tree = counterpart_of(base_tree, head_tree, path)
        base_tree = reported_sets(base_tree, keeps, head_tree.root)
        unparsable = filter(configurations.keeps, unparsable_files(base_tree))
        notes += [f"warning: {path} cannot be read, so it is not compared" for path in unparsable]
        trees.append((base_tree, head_tree))
        base_sources |= base_tree.sources
        head_sources |= head_tree.sources
        diffs.append(compare(base_tree, head_tree, configurations, releases=releases, heads=heads))
    return Comparison(
        configurations,
        heads,
        trees,
        base_sources,
        head_sources,
        changes=[change for diff in diffs for change in diff.changes],
        accepted=[change for diff in diffs for change in diff.accepted],
        comments=[finding for diff in diffs for finding in diff.comments],
        releases=releases,
        notes=[*notes, *notes_of(diffs, _scope(names, trees))],
        is_complete=all(diff.is_complete for diff in diffs),
    )


def _scope(names: Sequence[str], trees: Iterable[tuple[Tree, Tree]]) -> Callable[[Acceptance], bool]:
    """The test whether all changes that an entry may be about were looked for: of one message, or in the checkout."""
    is_whole = any(os.path.join(os.path.realpath(name), "") == os.path.realpath(HERE.top) + os.sep for name in names)
    messages = [message for pair in trees for tree in pair for message in tree.messages]
    names_in_scope = {name for message in messages for name in (message.name, message.base_name)}
    return lambda entry: is_whole or entry.message in names_in_scope
