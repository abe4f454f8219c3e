"""The releases: which versions of messages are released, and in which bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Final, NamedTuple

from kiplint.compat.change import STATUSES, Status
from kiplint.compat.fields import default_value
from kiplint.compat.tree import Tree, load_base, make_tree, read_directories, require_limits
from kiplint.engine.config import Configuration, Path
from kiplint.engine.errors import UsageError
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, encoding, layout, wire_ranges
from kiplint.model.message import Message
from kiplint.model.schemas import are_related, is_same, partner
from kiplint.sources.git import is_revision, open_repository, version_key, version_tags
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.text.words import first_of, is_glob, plural
from kiplint.versions import NONE, VersionRange, boundaries


class VersionGroup(NamedTuple):
    """Versions of one status, and the message that the new one is compared with in them."""

    status: Status
    reference: Message
    versions: VersionRange
    release: str = ""
    """The release that the reference is of, where it is not the old message."""


class Releases:
    """Schema sets that are released, the newest first; they are read in this order, as far as a message needs."""

    def __init__(self, names: Sequence[str], trees: Iterable[Tree]) -> None:
        self.names = tuple(names)
        self._unread_trees = iter(trees)
        self._releases: list[dict[tuple[str, object], list[tuple[str, Message]]]] = []

    def holders(self, message: Message, versions: VersionRange) -> Iterator[VersionGroup]:
        """The message in each release that is the newest one with some of the versions.

        A message that has the API key and is another one does not count (see `key_holder`).
        """
        for name, former in self._candidates(message) if versions else ():
            if (held_versions := versions & released_versions(former)) and is_same(former, message):
                yield VersionGroup("released", former, held_versions, name)
                versions -= held_versions
            if not versions:
                return

    def key_holder(self, message: Message) -> VersionGroup | None:
        """The newest release in which another message has the API key, if the set does not have that one as well."""
        for name, former in self._candidates(message):
            if former.name not in message.schemas.by_name and not are_related(former, message):
                return VersionGroup("released", former, former.valid, name)
        return None

    def _candidates(self, message: Message) -> Iterator[tuple[str, Message]]:
        """The messages of the same identity in each release, with its name, the newest first."""
        for messages in self._by_identity():
            yield from messages.get(_identity(message), ())

    def _by_identity(self) -> Iterator[dict[tuple[str, object], list[tuple[str, Message]]]]:
        """The messages of each release by their identity; a release is read when it is asked for the first time."""
        yield from self._releases
        for tree in self._unread_trees:
            messages: dict[tuple[str, object], list[tuple[str, Message]]] = {}
            for former in tree.messages:
                messages.setdefault(_identity(former), []).append((tree.name.removesuffix(":"), former))
            self._releases.append(messages)
            yield messages

    def __str__(self) -> str:
        return f"released: the versions in {plural(len(self.names), 'release')} ({first_of(self.names, 5)})"


def released_versions(message: Message) -> VersionRange:
    """The valid versions without the unstable one."""
    return message.valid - unstable_version(message)


def unstable_version(message: Message) -> VersionRange:
    """The highest version while the message, or the request of a response with the same highest version, marks it."""
    highest = message.valid.highest
    request = partner(message) if message.type == "response" else message
    is_unstable = message.unstable or (request is not None and request.unstable and request.valid.highest == highest)
    return VersionRange.of(highest, highest) if is_unstable and message.valid else NONE


def _identity(message: Message) -> tuple[str, object]:
    """What a message is known by: an RPC by its API key, any other message by its name, whatever its type was then."""
    return (message.type, message.api_key) if message.is_rpc and message.api_key is not None else ("", message.name)


class VersionStatuses(NamedTuple):
    """The status of each version of an old and a new message, either of which may be missing.

    `groups` has the versions of the new message that are not new.
    """

    versions: Mapping[Status, VersionRange]
    groups: Sequence[VersionGroup]

    @classmethod
    def of(cls, old: Message | None, new: Message | None, releases: Releases | None) -> VersionStatuses:
        """The statuses, by the releases or, without any, by the old message.

        A released version is compared with the old message where that has the form of the release or of the new one.
        """
        own, valid = old.valid if old else NONE, new.valid if new else NONE
        holders = [VersionGroup("released", old, released_versions(old))] if old else []
        if releases and (message := old or new):
            holders = list(releases.holders(message, own | valid))
        released = NONE
        groups: dict[tuple[Status, int], VersionGroup] = {}

        def add(status: Status, reference: Message, versions: VersionRange, release: str = "") -> None:
            group = groups.get((status, id(reference)), VersionGroup(status, reference, NONE, release))
            if versions:
                groups[status, id(reference)] = group._replace(versions=group.versions | versions)

        for _, release, held_versions, name in holders:
            released |= held_versions
            if old and old.data == release.data:
                add("released", old, held_versions & valid)
                continue
            for interval in _intervals(old, new, release, held_versions) if new else ():
                if old and interval <= own and _form(old, interval) in (_form(new, interval), _form(release, interval)):
                    add("released", old, interval)
                else:
                    add("released", release, interval, name)
        unstable = unstable_version(old) - released if old else NONE
        base = own - released - unstable
        if old:
            add("base", old, base & valid)
            add("unstable", old, unstable & valid)
        versions: dict[Status, VersionRange] = {"released": released, "base": base, "unstable": unstable}
        return cls({**versions, "new": valid - own - released}, tuple(groups.values()))

    def best(self, versions: VersionRange) -> Status:
        """The most binding status of versions; that of a message which never had any is the base's."""
        return next((status for status in STATUSES if versions & self.versions[status]), "base")


def _intervals(
    old: Message | None, new: Message, release: Message, held_versions: VersionRange
) -> Iterator[VersionRange]:
    """The released versions of the new message, cut where the bytes of any of the three messages may change."""
    messages = [message for message in (old, new, release) if message]
    require_limits(*messages)
    ranges = [versions for message in messages for versions in (message.valid, *wire_ranges(message))]
    yield from boundaries(ranges, held_versions & new.valid)


def _form(message: Message | None, versions: VersionRange) -> tuple[object, ...]:
    """The header, the bytes, and what they mean, in versions in which these are the same."""
    if message is None:
        return ()
    version = versions.lowest
    body = layout(message, version, version in message.flexible)
    header = header_of(message, version) if message.is_rpc else None
    return header, encoding(body), tuple(_meaning(body))


def _meaning(body: Layout) -> Iterator[object]:
    """The names of the fields, and the defaults of the tagged ones, which the absence of a tag means."""
    for slot in body.all_slots:
        yield slot.field.name
        yield from _meaning(slot.body) if slot.body else ()
    yield from (default_value(slot.field) for slot in body.tags or ())


# The releases that a command names


def releases_of(
    configuration: Configuration,
    base: Path,
    released: Sequence[str] = (),
    repository: Path | None = None,
    head: Path = "",
) -> Releases | None:
    """The releases: those `released`, else those of the configuration, else the release tags; None for the base.

    A name is a path of a schema set, a revision, or a glob of tags with a version number. Tags only say what is
    released of a `base` that is a revision, `REV:` or `REV:path`. With a `head` that is a revision too, the releases
    before it count, and the base. Raises UsageError for a name of nothing, and SourceError for a set that cannot be
    read.
    """
    home = os.fspath(repository) if repository else None
    patterns = released or configuration.config.released
    option = "--released" if released else "the configuration's released:"
    names = _names(patterns, home, option) if patterns else _release_tags(home) if _revision(base) else []
    later = _later_releases(head, base, home) - set(released)
    names = [name for name in names if name.removesuffix(":") not in later]
    if not names:
        return None
    trees = _load_all(names, repository, configuration.keeps)
    first_trees = [] if patterns else list(islice(trees, MOST_TRIED))
    if not patterns and not any(tree.sources for tree in first_trees):
        return None  # the tags are of something else
    return Releases([name.removesuffix(":") for name in names], chain(first_trees, trees))


MOST_TRIED: Final = 3
"""The number of the newest tags in which definitions are looked for."""


def releases_or_base(configuration: Configuration, revision: str, repository: Path | None = None) -> Releases | None:
    """The releases, without any the revision; None where there is no repository, so that all versions may be released.

    Raises UsageError and SourceError as `releases_of` does.
    """
    releases = releases_of(configuration, f"{revision}:", repository=repository)
    if releases is not None:
        return releases
    try:
        return Releases([revision], [load_base(f"{revision}:", repository, configuration.keeps)])
    except SourceError:
        return None


def releases_note(releases: Releases | None, base: Path) -> tuple[str, ...]:
    """Which versions are released, in a line; nothing for a base that is no revision, and so is a release itself."""
    revision = _revision(base)
    if releases:
        return (str(releases),)
    return (f"released: the versions in {revision}, as there are no release tags",) if revision else ()


def _revision(base: Path) -> str:
    """The revision of `REV:` or `REV:path`; empty for a path."""
    name = os.fspath(base)
    return "" if os.path.exists(name) else name.partition(":")[0] if ":" in name else ""


def _later_releases(head: Path, base: Path, repository: str | None) -> set[str]:
    """The tags of the head, and of what came after it, but not of the base; none for a head that is no revision."""
    revision = _revision(head)
    if not revision:
        return set()
    tags = version_tags(repository)
    if revision in tags:
        later = {tag for tag in tags if version_key(tag) >= version_key(revision)}
    else:
        arguments = ("--format=%(refname:lstrip=2)", f"--contains={revision}", "refs/tags")
        later = {*open_repository(repository).run("for-each-ref", *arguments).splitlines()}
    return later - {_revision(base)}


def _release_tags(repository: str | None) -> list[str]:
    """The tags of releases, but for candidates, the newest first; none where there is no repository."""
    with suppress(SourceError):
        return [f"{tag}:" for tag in reversed(version_tags(repository)) if version_key(tag)[1]]
    return []


def _names(patterns: Iterable[str], repository: str | None, option: str) -> list[str]:
    """The sets and revisions that patterns name, the newest first; those without a version number come before.

    Raises UsageError for a pattern that names nothing.
    """
    names: list[str] = []
    for pattern in patterns:
        if os.path.exists(pattern) or ":" in pattern:
            names.append(pattern)
        elif is_glob(pattern):
            tags = [f"{tag}:" for tag in version_tags(repository) if fnmatchcase(tag, pattern)]
            names += tags
            if not tags:
                raise UsageError(f"{option} {pattern}: no tag with a version number matches")
        elif is_revision(pattern, repository):
            names.append(f"{pattern}:")
        else:
            raise UsageError(f"{option} {pattern}: neither a schema set, nor a revision, nor a glob of tags")
    others = [name for name in dict.fromkeys(names) if not version_key(name)[0]]
    numbered_names = {name for name in names if version_key(name)[0]}
    return [*others, *sorted(numbered_names, key=lambda name: version_key(name.removesuffix(":")), reverse=True)]


def _load_all(names: Iterable[str], repository: Path | None, keep: Callable[[str], bool]) -> Iterator[Tree]:
    """The trees of releases, without the files that an earlier tree has, in both messages of an RPC, byte for byte."""
    previous: set[bytes] = set()
    for name in names:
        directories: Mapping[str, list[tuple[str, bytes]]] = {}
        with suppress(NothingThereError):  # a release from before the definitions, or of that directory
            directories = read_directories(name, repository, keep)
        every_file = [file for files in directories.values() for file in files]
        fresh = {_stem(path) for path, data in every_file if data not in previous}
        previous.update(data for _, data in every_file)
        new = {at: [file for file in files if _stem(file[0]) in fresh] for at, files in directories.items()}
        yield make_tree(name, new.items())


def _stem(path: str) -> str:
    """The name of a file without the end that tells the messages of an RPC apart."""
    return re.sub(r"_?(request|response)?\.json$", "", path.rpartition("/")[2], flags=re.IGNORECASE)
