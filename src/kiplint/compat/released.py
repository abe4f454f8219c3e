"""The released versions of messages: those that a release has, rather than those that the base has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Final

from kiplint.compat.change import partner
from kiplint.compat.tree import Tree, load
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.sources.git import is_revision
from kiplint.sources.history import version_key, version_tags
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.text.words import listed, plural
from kiplint.versions import NONE, VersionRange

SHOWN = 5
"""How many releases a note names."""


class Releases:
    """The released versions of messages; the schema sets are read in their order, only as far as a message needs."""

    def __init__(self, names: Sequence[str], trees: Iterable[Tree]) -> None:
        self.names = tuple(names)
        self._trees = iter(trees)
        self._known: dict[tuple[str, object], VersionRange] = {}
        self._messages: dict[tuple[str, object], list[Message]] = {}

    def versions(self, message: Message) -> VersionRange:
        """The valid versions of a message that a release has; its unstable version is not released."""
        key = _identity(message)
        while message.valid - self._known.get(key, NONE) and self._read():
            pass
        return message.valid & self._known.get(key, NONE)

    def messages(self, message: Message) -> Iterator[Message]:
        """The message as each release has it, the newest first."""
        known, place = self._messages.setdefault(_identity(message), []), 0
        while place < len(known) or self._read():
            read = known[place:]
            place += len(read)
            yield from read

    def _read(self) -> bool:
        """Read the next release; whether there was one."""
        tree = next(self._trees, None)
        for released in tree.messages if tree else ():
            identity = _identity(released)
            self._known[identity] = self._known.get(identity, NONE) | released_versions(released)
            self._messages.setdefault(identity, []).append(released)
        return tree is not None

    def __str__(self) -> str:
        shown = [*self.names[:SHOWN], *([f"{len(self.names) - SHOWN} more"] if len(self.names) > SHOWN else [])]
        return f"released: the versions in {plural(len(self.names), 'release')} ({listed(shown)})"


def released_versions(message: Message) -> VersionRange:
    """The valid versions without the unstable one."""
    return message.valid - unstable_version(message)


def unstable_version(message: Message) -> VersionRange:
    """The highest version while the message, or the request of a response with the same highest version, marks it."""
    highest = message.valid.highest
    request = partner(message) if message.type == "response" else message
    marked = message.unstable or (request is not None and request.unstable and request.valid.highest == highest)
    return VersionRange.of(highest, highest) if marked and message.valid else NONE


def _identity(message: Message) -> tuple[str, object]:
    """What a message is known by: an RPC by its API key, any other message by its name, whatever its type was then."""
    return (message.type, message.api_key) if message.is_rpc and message.api_key is not None else ("", message.name)


def find_releases(
    patterns: Sequence[str], repository: Path | None = None, keep: Callable[[str], bool] = lambda path: True
) -> Releases | None:
    """The releases that patterns name, the newest tags first; None without patterns.

    A pattern is a path of a schema set, a revision, or a glob of tags with a version number. Raises UsageError for a
    pattern that names nothing, and SourceError for a set that cannot be read.
    """
    if not patterns:
        return None
    place = os.fspath(repository) if repository else None
    names: list[str] = []
    for pattern in patterns:
        if os.path.exists(pattern) or ":" in pattern:
            names.append(pattern)
        elif any(sign in pattern for sign in "*?["):
            tags = [tag for tag in version_tags(place) if fnmatchcase(tag, pattern)]
            names += [f"{tag}:" for tag in reversed(tags)]
            if not tags:
                raise UsageError(f"{pattern}: no tag with a version number matches", kind="released")
        elif is_revision(pattern, place):
            names.append(f"{pattern}:")
        else:
            raise UsageError(f"{pattern}: neither a schema set, nor a revision, nor a glob of tags", kind="released")
    unique = list(dict.fromkeys(names))
    return Releases([name.removesuffix(":") for name in unique], _load_all(unique, repository, keep))


MOST_TRIED: Final = 3
"""In how many of the newest tags definitions are looked for."""


def release_tags(keep: Callable[[str], bool], repository: Path | None = None) -> list[str]:
    """The tags of releases; none where the newest ones have no definitions, and so are of something else."""
    place = os.fspath(repository) if repository else None
    tags = [f"{tag}:" for tag in reversed(version_tags(place)) if version_key(tag)[1]]
    for tag in tags[:MOST_TRIED]:
        with suppress(NothingThereError):
            load(tag, repository, keep)
            return tags
    return []


def advice(base: Path, repository: Path | None, releases: Releases | None) -> tuple[str, ...]:
    """What the releases are; without any, the advice to set `released` for a revision that is not a release tag."""
    if releases:
        return (str(releases),)
    revision, colon, _ = os.fspath(base).partition(":")
    if releases is not None or not colon or os.path.exists(base):
        return ()
    try:
        tags = version_tags(os.fspath(repository) if repository else None)
    except SourceError:
        return ()
    if not tags or revision in tags:
        return ()
    starts = sorted({"".join(takewhile(lambda char: not char.isdigit(), tag)) or "[0-9]" for tag in tags})
    example = "released = [" + ", ".join(f'"{start}*"' for start in starts) + "]"
    return (
        f"released: the versions in {revision}; the release tags of the repository are more exact: "
        f"write {example} into the configuration",
    )


def _load_all(names: Iterable[str], repository: Path | None, keep: Callable[[str], bool]) -> Iterator[Tree]:
    for name in names:
        try:
            yield load(name, repository, keep)
        except NothingThereError:  # a release from before the definitions
            continue
