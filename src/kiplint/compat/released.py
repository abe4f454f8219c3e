"""The releases: which versions of messages are released, and in which bytes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Final, NamedTuple

from kiplint.compat.change import STATUSES, Status
from kiplint.compat.fields import default_value
from kiplint.compat.tree import Tree, load, load_base, load_release, make_tree, require_comparable
from kiplint.engine.config import Configuration, StrPath
from kiplint.engine.errors import UsageError
from kiplint.model.definition import Definition
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, encoding, layout, wire_ranges
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet, are_related, is_same
from kiplint.sources.built_in import built_in, find_release
from kiplint.sources.git import GitMissingError
from kiplint.sources.repository import HERE, NoRepositoryError, Repository, RevisionPath, version_key
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.words import first_of, is_glob, plural
from kiplint.versions import NONE, VersionRange, uniform_parts


class VersionGroup(NamedTuple):
    """Versions of one status, and the message that the head's is compared with in them."""

    status: Status
    message: Message
    versions: VersionRange
    release: str = ""
    """The name of the release that has the message; empty where it is the base's."""


Identity = tuple[str, int | str]
"""What identifies a message in all releases: type and API key of an RPC; `""` and the name of any other message."""


_Holders = Mapping[Identity, Sequence[tuple[SchemaSet, Definition]]]
"""By identity: the definitions with it, each with the set that it is in."""


def _identity(definition: Definition) -> Identity:
    """The identity of a message; the type of a record does not count, as it was `data` in older releases."""
    if definition.is_rpc and definition.api_key is not None:
        return definition.type, definition.api_key
    return "", definition.name


class Releases:
    """Schema sets that are released, the newest first; they are read in this order, as far as a message needs."""

    def __init__(self, names: Sequence[str], trees: Iterable[Tree]) -> None:
        """`trees` may be a generator: a tree is read from it when a message is first looked up."""
        self.names = tuple(names)
        self._unread_trees = iter(trees)
        self._read_releases: list[tuple[str, _Holders]] = []

    def holders(self, message: Message, versions: VersionRange) -> Iterator[VersionGroup]:
        """The `versions` of a message that releases have, each in the group of the newest release with it.

        An unrelated message with the API key does not count (see `key_holder`).
        """
        missing_versions = versions
        if not missing_versions:
            return
        for release, candidate in self._candidates(message):
            found_versions = missing_versions & released_versions(candidate)
            if found_versions and is_same(candidate, message):
                yield VersionGroup("released", candidate, found_versions, release)
                missing_versions -= found_versions
            if not missing_versions:
                return  # before the next release is read

    def highest_version(self, message: Message) -> int:
        """The highest version of a message in the newest release with versions of it; -1 if there is none."""
        for _, candidate in self._candidates(message):
            if candidate.valid and is_same(candidate, message):
                return candidate.valid.highest
        return -1

    def key_holder(self, message: Message) -> VersionGroup | None:
        """The newest release in which an unrelated message has the API key, one that the set no longer has."""
        for release, candidate in self._candidates(message):
            if candidate.name not in message.schemas.by_name and not are_related(candidate, message):
                return VersionGroup("released", candidate, candidate.valid, release)
        return None

    def _candidates(self, message: Message) -> Iterator[tuple[str, Message]]:
        """The messages with the identity of a message in all releases, each after the name of its release."""
        for release, holders in self._all_releases():
            for schemas, definition in holders.get(_identity(message), ()):
                yield release, schemas.message_of(definition)

    def _all_releases(self) -> Iterator[tuple[str, _Holders]]:
        """The name of each release, and its definitions by identity; a release is read when it is first reached."""
        yield from self._read_releases
        for tree in self._unread_trees:
            holders: defaultdict[Identity, list[tuple[SchemaSet, Definition]]] = defaultdict(list)
            for schemas in tree.sets.values():
                for definition in schemas.definitions:
                    if definition.is_readable:
                        holders[_identity(definition)].append((schemas, definition))
            release = _release(tree.name), holders
            self._read_releases.append(release)
            yield release


def released_versions(message: Message) -> VersionRange:
    """The valid versions without the unstable one."""
    return message.valid - message.unstable_version


class VersionStatuses(NamedTuple):
    """The status of each version of a message in the base and in the head, either of which may lack it.

    `groups` has the versions of the head that are not new, with the message to compare them with.
    """

    versions: Mapping[Status, VersionRange]
    groups: Sequence[VersionGroup]
    highest_released: int
    """The highest version in the newest release; -1 if no release has the message."""

    @classmethod
    def of(cls, base: Message | None, head: Message | None, releases: Releases | None) -> VersionStatuses:
        """The statuses by the releases; if `releases` is None, what is stable in the base is released."""
        base_versions, head_versions = base.valid if base else NONE, head.valid if head else NONE
        message = base or head
        holders: list[VersionGroup] = []
        if releases and message:
            holders = list(releases.holders(message, base_versions | head_versions))
        elif base:
            holders = [VersionGroup("released", base, released_versions(base))]

        released = NONE
        groups: list[VersionGroup] = []
        for holder in holders:
            released |= holder.versions
            groups += _groups_of_release(base, head, holder) if head else ()
        unstable = base.unstable_version - released if base else NONE
        only_in_base = base_versions - released - unstable
        if base:
            groups.append(VersionGroup("base", base, only_in_base & head_versions))
            groups.append(VersionGroup("unstable", base, unstable & head_versions))
        versions: dict[Status, VersionRange] = {
            "released": released,
            "base": only_in_base,
            "unstable": unstable,
            "new": head_versions - base_versions - released,
        }
        highest_released = releases.highest_version(message) if releases and message else -1
        return cls(versions, _joined(groups), highest_released)

    def best(self, versions: VersionRange) -> Status:
        """The first of `STATUSES` that one of the versions has; `base` for an empty range."""
        return next((status for status in STATUSES if versions & self.versions[status]), "base")


def _groups_of_release(base: Message | None, head: Message, holder: VersionGroup) -> Iterator[VersionGroup]:
    """The versions of a release that the head has, grouped by the message to compare them with.

    This is the base's where it has the bytes of the release or those of the head; otherwise that of the release, which
    `holder` has.
    """
    released = holder.message
    if base and base.data == released.data:
        yield VersionGroup("released", base, holder.versions & head.valid)
        return
    messages = [message for message in (base, head, released) if message]
    require_comparable(*messages)
    ranges = [versions for message in messages for versions in (message.valid, *wire_ranges(message))]
    for versions in uniform_parts(ranges, holder.versions & head.valid):
        other_forms = _form(head, versions.lowest), _form(released, versions.lowest)
        if base and versions <= base.valid and _form(base, versions.lowest) in other_forms:
            yield VersionGroup("released", base, versions)
        else:
            yield holder._replace(versions=versions)


def _joined(groups: Iterable[VersionGroup]) -> list[VersionGroup]:
    """The groups without empty ones; those of one status and one message are one group."""
    groups_to_join: defaultdict[tuple[Status, int], list[VersionGroup]] = defaultdict(list)
    for group in groups:
        if group.versions:
            groups_to_join[group.status, id(group.message)].append(group)
    return [
        members[-1]._replace(versions=VersionRange.union(member.versions for member in members))
        for members in groups_to_join.values()
    ]


def _form(message: Message, version: int) -> tuple[object, ...]:
    """What two peers must have in common in a version: the header, the bytes, and what they mean."""
    body = layout(message, version, version in message.flexible)
    header = header_of(message, version) if message.is_rpc else None
    return header, encoding(body), tuple(_meaning(body))


def _meaning(body: Layout) -> Iterator[object]:
    """What the bytes mean: the names of the fields, and the defaults of tagged ones, for which an absent tag stands."""
    for slot in body.all_slots:
        yield slot.field.name
        if slot.body:
            yield from _meaning(slot.body)
    for slot in body.tags or ():
        yield default_value(slot.field)


# The releases that a command names


def releases_of(
    configuration: Configuration,
    base: StrPath,
    released: Sequence[str] = (),
    repository: Repository = HERE,
    head: StrPath = "",
) -> Releases | None:
    """The releases that `released`, the configuration or, without both, the release tags name; None if there are none.

    A name is a path of a schema set, a revision, or a glob of tags with a version number; `built-in` stands for all
    built-in releases, and no others count then. Release tags count only for
    a `base` that is a revision, `REV:` or `REV:path`. With a `head` that is a revision, tags of it and after it do not
    count, except the base and those in `released`. Raises UsageError for a name of nothing, and SourceError for a set
    that cannot be read.
    """
    patterns = released or configuration.config.released
    names: list[str] = []
    if BUILT_IN in patterns:
        newest_first = [*reversed(built_in().origins)]
        return Releases(newest_first, (load_release(release) for release in newest_first))
    if patterns:
        names = _names(patterns, repository, "--released" if released else "the configuration's released:")
    elif _revision(base):
        names = _release_tags(repository)
    later_tags = _later_tags(head, base, repository) - set(released)
    names = [name for name in names if _release(name) not in later_tags]
    if not names:
        return None
    trees: Iterator[Tree] = _load_all(names, repository)
    if not patterns:
        newest_trees = list(islice(trees, MOST_TAGS_TRIED))
        if not any(tree.sources for tree in newest_trees):
            return None  # the tags are of something else
        trees = chain(newest_trees, trees)
    return Releases([*map(_release, names)], trees)


BUILT_IN: Final = "built-in"
"""The word for all built-in releases, which stands for them even where there is a file of that name."""

MOST_TAGS_TRIED: Final = 3
"""The number of the newest tags that are searched for definitions."""


def releases_or_base(configuration: Configuration, revision: str, repository: Repository = HERE) -> Releases | None:
    """The releases, otherwise the revision as the only one; None where there is neither: any version may be released.

    A directory without a repository has none, nor has a new branch without a commit. Raises UsageError and SourceError
    as `releases_of` does.
    """
    base = str(RevisionPath(revision))
    try:
        if not repository.is_revision(revision) and not repository.is_unborn(revision):
            return None
        releases = releases_of(configuration, base, repository=repository)
        return releases or Releases([revision], [load_base(base, repository)])
    except (NoRepositoryError, GitMissingError):
        return None


def releases_note(releases: Releases | None, base: StrPath) -> tuple[str, ...]:
    """The line that says which versions are released; none if there are no releases and the base is not a revision."""
    revision = _revision(base)
    if releases:
        names = f"{plural(len(releases.names), 'release')} ({first_of(releases.names, 5)})"
        return (f"released: the versions in {names}",)
    if not revision:
        return ()
    remedy = "if the clone lacks its tags, run `git fetch --tags`"
    return (f"released: the versions in {revision}, because there are no release tags; {remedy}",)


def _revision(base: StrPath) -> str:
    """The revision in `REV:` or `REV:path`; empty for a path of the file system."""
    place = RevisionPath.of(os.fspath(base))
    return place.revision if place else ""


def _release(name: str) -> str:
    """The name of a release: the revision instead of `REV:`."""
    return name.removesuffix(":")


def _later_tags(head: StrPath, base: StrPath, repository: Repository) -> set[str]:
    """The tags of the head and of revisions after it, without the base; none for a head that is not a revision."""
    revision = _revision(head)
    if not revision:
        return set()
    tags = repository.tags
    if revision in tags:
        later_tags = {tag for tag in tags if version_key(tag) >= version_key(revision)}
    else:
        later_tags = repository.tags_after(revision)
    return later_tags - {_revision(base)}


def _release_tags(repository: Repository) -> list[str]:
    """The tags of releases as `TAG:`, without candidates, the newest first; none where there is no repository."""
    tags: Sequence[str] = ()
    with suppress(NoRepositoryError):
        tags = repository.tags
    final_tags = [tag for tag in reversed(tags) if version_key(tag)[1]]
    return [str(RevisionPath(tag)) for tag in final_tags]


def _names(patterns: Iterable[str], repository: Repository, subject: str) -> list[str]:
    """The sets and revisions that patterns name, the newest first, but those without a version number before all.

    Raises UsageError for a pattern that names nothing; `subject` begins its message.
    """
    names: list[str] = []
    for pattern in patterns:
        if os.path.exists(pattern) or ":" in pattern:
            names.append(pattern)
        elif is_glob(pattern):
            tags = [str(RevisionPath(tag)) for tag in repository.tags if fnmatchcase(tag, pattern)]
            names += tags
            if not tags:
                raise UsageError(f"{subject} {pattern}: no tag with a version number matches")
        elif repository.is_revision(pattern):
            names.append(str(RevisionPath(pattern)))
        elif release := find_release(pattern):
            names.append(release)
        else:
            raise UsageError(f"{subject} {pattern}: not a schema set, a release, a revision or a glob of tags")
    keys = {name: version_key(_release(name)) for name in names}
    without_number = [name for name, (numbers, *_) in keys.items() if not numbers]
    with_number = [name for name, (numbers, *_) in keys.items() if numbers]
    return [*without_number, *sorted(with_number, key=lambda name: keys[name], reverse=True)]


def _load_all(names: Iterable[str], repository: Repository) -> Iterator[Tree]:
    """The trees of the named releases; a release that does not have the named directory yet has an empty tree."""
    for name in names:
        try:
            yield load(name, repository)
        except NothingThereError:
            yield make_tree(name, ())
