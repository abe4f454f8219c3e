"""The base of the definitions in an editor: a revision, with which a message is compared while it is edited."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from kiplint.compat.change import pair_messages
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import Judged, as_finding, judge
from kiplint.compat.released import Releases, find_releases, release_tags
from kiplint.compat.since import places
from kiplint.compat.tree import Tree, load, load_base, make_tree
from kiplint.engine.config import Configuration
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.disk import home_of
from kiplint.sources.git import is_revision, open_repository
from kiplint.sources.history import target_branches
from kiplint.sources.schema_files import SourceError

HEAD: Final = "HEAD"
MERGE_BASE: Final = "merge-base"
NONE: Final = "none"
HEADERS: Final = ("RequestHeader", "ResponseHeader")


class ReleasedBase(NamedTuple):
    """The definitions of a directory in a revision, called `name`, their texts, and the releases that there are."""

    name: str
    tree: Tree
    texts: frozenset[bytes]
    releases: Releases | None

    def finding(self, change: Judged) -> Finding:
        """A change as a finding that names the released versions of the message."""
        finding, former = as_finding(change), change.change.former
        versions = former.valid if former else change.change.versions
        released = self.releases.versions(former) if self.releases and former else versions
        where = "released versions" if self.releases else f"versions in {self.name}"
        message = f"{finding.message} ({where}: {released})" if released else finding.message
        return msgspec.structs.replace(finding, message=message)


class Bases:
    """The bases of all directories. Each is read once for a commit; which commit it is, is looked up in `forget`.

    `setting` is HEAD, `merge-base` with the branch that changes go into, a revision, or `none`.
    """

    def __init__(self, setting: str = HEAD) -> None:
        self.setting = setting
        self._commits: dict[str, str] = {}
        self._bases: dict[tuple[str, str], ReleasedBase | None] = {}

    def forget(self) -> None:
        """Forget the bases: there may be new commits, or another configuration."""
        self._commits.clear()

    def of(self, directory: str, configuration: Configuration) -> ReleasedBase | None:
        """The base of a directory; None without one. Raises SourceError for a setting that does not name a revision."""
        top = home_of(directory) if directory and self.setting != NONE else ""
        if not top:
            return None
        if top not in self._commits:
            self._commits[top] = _commit(self.setting, top)
        commit, released = self._commits[top], configuration.config.released
        key = (directory, f"{commit} {' '.join(released)}")
        if commit and key not in self._bases:
            self._bases = {known: base for known, base in self._bases.items() if known[0] != directory}
            self._bases[key] = _read(self.setting, commit, directory, top, configuration)
        return self._bases.get(key)


def _commit(setting: str, top: str) -> str:
    """The commit of a setting; empty in a repository without commits. Raises SourceError if it names no revision."""
    if setting in (HEAD, MERGE_BASE):
        if not is_revision(HEAD, top):
            return ""
        if setting == MERGE_BASE:
            forks = (open_repository(top).run("merge-base", HEAD, branch).strip() for branch in target_branches(top))
            return next(filter(None, forks), "") or _commit(HEAD, top)
    elif not is_revision(setting, top):
        raise SourceError("no such revision")
    return open_repository(top).run("rev-parse", f"{setting}^{{commit}}").strip()


def _read(name: str, commit: str, directory: str, top: str, configuration: Configuration) -> ReleasedBase | None:
    keeps = configuration.keeps
    place = next(places(commit, [directory], top, "the base", top), "")
    if not place:
        return None
    known = find_releases(configuration.config.released or release_tags(keeps, top), top, keeps)
    inner = place.partition(":")[2]
    releases = Releases(known.names, _trees(known.names, inner, top, configuration)) if known else None
    tree = load_base(place, top, keeps)
    return ReleasedBase(name, tree, frozenset(tree.sources.values()), releases)


def _trees(names: tuple[str, ...], inner: str, top: str, configuration: Configuration) -> Iterator[Tree]:
    """The same directory in each release, where it is there."""
    for name in names:
        place = name if os.path.exists(name) or ":" in name else f"{name}:{inner}"
        try:
            yield load(place, top, configuration.keeps)
        except SourceError:
            continue


def changes(message: Message, files: Mapping[str, bytes], base: ReleasedBase, rules: RuleSet) -> list[Judged]:
    """What a message breaks, or may break, that its base has; the rest of its set is not compared.

    `files` are its `near_files`. Raises UsageError for a message that is too large to be compared.
    """
    former = base.tree.sets.get("", SchemaSet(())).messages
    known = next((old for old, new in pair_messages(former, [message]) if old and new), None)
    if known is None:
        return []
    old = make_tree("", [("", near_files({item.file: item.data for item in former}, known).items())])
    new = make_tree("", [("", files.items())])
    return [
        change
        for change in judge(compare_trees(old, new, (), base.releases), rules, old.sources, new.sources)
        if change.path == message.file
        and (change.breaks != "none" or change.severity != "info")
        and not (rules.ignores and rules.ignores(message.file, change.rule))
    ]


def near_files(files: Mapping[str, bytes], message: Message) -> dict[str, bytes]:
    """The files of a message, of the other half of its RPC and of the headers, which go by the names of their files."""
    names = {f"{name}.json" for name in HEADERS}
    names |= {f"{message.base_name}{suffix}.json" for suffix in ("Request", "Response", "Key", "Value")}
    near = {path: data for path, data in files.items() if re.split(r"[/:]", path)[-1] in names}
    return {**near, message.file: message.data}
