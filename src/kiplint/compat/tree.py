"""A tree of schema sets: a directory, a revision or an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from kiplint.engine.config import StrPath
from kiplint.engine.errors import UsageError, internal_error
from kiplint.limits import LAYOUTS, REPORTED_PROBLEMS, Limit, ProblemLimits
from kiplint.model.definition import Definition
from kiplint.model.layout import exceeded_limit, layout_count
from kiplint.model.load import load as load_definition
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.built_in import built_in, find_release, release_tree, title
from kiplint.sources.disk import STDIN
from kiplint.sources.open import open_sets
from kiplint.sources.repository import HERE, Repository, RevisionPath
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.text.show import printable


class TooLargeError(UsageError):
    """The layouts of a message are above a limit."""

    def __init__(self, file: str, limit: Limit) -> None:
        """`file` is the path of the message's definition."""
        super().__init__(limit.exceeded(f"{file}: the message"))
        self.reason = limit.exceeded(file)


def require_limits(*messages: Message) -> None:
    """Raise TooLargeError for a message whose layouts are too large, or too deep, to be compared or shown."""
    for message in messages:
        if limit := exceeded_limit(message):
            raise TooLargeError(message.file, limit)


def require_comparable(*messages: Message) -> None:
    """Raise TooLargeError for a message whose layouts are too large, too deep or too many to be compared."""
    require_limits(*messages)
    for message in messages:
        if message.valid.highest >= LAYOUTS and layout_count(message) > LAYOUTS:
            raise TooLargeError(message.file, LAYOUTS)


def failure_reason(error: Exception) -> str:
    """Why one message cannot be compared or shown, which takes nothing from the other messages.

    An error of no message, such as one of git while a release is read, is raised. So is one that no limit explains,
    with KIPLINT_DEBUG set.
    """
    if isinstance(error, TooLargeError):
        return error.reason
    if isinstance(error, (UsageError, SourceError, OSError, MemoryError)):
        raise error
    return internal_error(error)


class Tree(NamedTuple):
    """A tree of schema sets."""

    name: str
    """The name of the tree as given."""
    sets: Mapping[str, SchemaSet]
    """The schema sets by directory, relative to the tree."""
    sources: Mapping[str, bytes]
    """The bytes of the definitions, by path."""
    unparsable: tuple[Definition, ...] = ()
    """The definitions that cannot be read."""

    @property
    def is_single_file(self) -> bool:
        """Whether it is one file, named or from standard input."""
        return self.name == STDIN or self.name.lower().endswith(".json")

    @property
    def root(self) -> str:
        """The path of its directory; of a single file the one that it is in."""
        return os.path.dirname(self.name) if self.is_single_file else self.name

    @property
    def directories(self) -> list[str]:
        """The paths of its root and of its sets, where their configurations are looked for."""
        return [self.root, *(os.path.join(self.root, directory) for directory in self.sets)]

    @property
    def messages(self) -> Iterator[Message]:
        """All messages of all sets."""
        return (message for schemas in self.sets.values() for message in schemas.messages)

    @property
    def main(self) -> SchemaSet:
        """The set with the most RPCs; the records of coordinators do not count."""

        def count_rpcs(schemas: SchemaSet) -> int:
            return sum(not rpc.is_coordinator for rpc in schemas.rpcs)

        return max(self.sets.values(), key=count_rpcs, default=SchemaSet())


def make_tree(
    name: str,
    directories: Iterable[tuple[str, Iterable[tuple[str, bytes]]]],
    most: ProblemLimits = REPORTED_PROBLEMS,
) -> Tree:
    """The tree of directories: each is a path relative to the tree's root, and its files as pairs of path and bytes."""
    sets: dict[str, SchemaSet] = {}
    sources: dict[str, bytes] = {}
    unparsable: list[Definition] = []
    for directory, files in directories:
        definitions: list[Definition] = []
        for path, data in files:
            sources[path] = data
            definitions.append(load_definition(path, data, most))
        unparsable += (definition for definition in definitions if not definition.is_readable)
        sets[directory] = SchemaSet(definitions, directory)
    return Tree(name, sets, sources, tuple(unparsable))


def sets_of_clients(tree: Tree) -> Tree:
    """The tree without the sets that have no requests, which only nodes read; as it is where no set has any."""
    sets = {
        directory: schemas
        for directory, schemas in tree.sets.items()
        if any(not rpc.is_coordinator for rpc in schemas.rpcs)
    }
    return _with_sets(tree, sets) if sets else tree


def reported_sets(tree: Tree, keeps: Callable[[str], bool], root: str = "") -> Tree:
    """The tree without the sets whose files are all excluded; for a base, as if they were in the `root` of the head."""
    return _with_sets(
        tree,
        {
            directory: schemas
            for directory, schemas in tree.sets.items()
            if any(
                keeps(os.path.join(root or tree.root, directory, file_name(definition.file)))
                for definition in schemas.definitions
            )
        },
    )


def _with_sets(tree: Tree, sets: Mapping[str, SchemaSet]) -> Tree:
    """The tree with some of its sets."""
    definitions = [definition for schemas in sets.values() for definition in schemas.definitions]
    sources = {definition.file: definition.data for definition in definitions}
    unparsable = tuple(definition for definition in tree.unparsable if definition.file in sources)
    return Tree(tree.name, sets, sources, unparsable)


def file_name(path: str) -> str:
    """The last part of a path, which may also be of Windows or of `REV:path`."""
    return re.split(r"[/\\:]", path)[-1]


def pair_sets(base: Tree, head: Tree) -> Iterator[tuple[SchemaSet, SchemaSet]]:
    """The sets to compare: those of the same relative directory, or of two trees with a single set these two.

    A set that only one tree has is paired with an empty set.
    """
    if len(base.sets) == 1 and len(head.sets) == 1:
        (base_set,), (head_set,) = base.sets.values(), head.sets.values()
        yield base_set, head_set
        return
    for directory in sorted({*base.sets, *head.sets}):
        yield base.sets.get(directory) or SchemaSet(), head.sets.get(directory) or SchemaSet()


def with_counterparts(base: Tree, head: Tree) -> tuple[Tree, Tree]:
    """The trees, where one has a single set, and the other has several without its directory.

    Of a built-in release the set counts that has most of the messages; for any other tree it raises UsageError.
    """
    smaller, larger = sorted((base, head), key=lambda tree: len(tree.sets))
    if len(smaller.sets) != 1 or len(larger.sets) < 2 or smaller.sets.keys() & larger.sets.keys():
        return base, head
    if find_release(larger.name) and not os.path.lexists(larger.name):
        counterpart = counterpart_of(larger, smaller, os.curdir)
        return (counterpart, head) if larger is base else (base, counterpart)
    names = ", ".join(printable(directory or ".") for directory in sorted(larger.sets))
    raise UsageError(
        f"{printable(larger.name)} has {len(larger.sets)} sets, {printable(smaller.name)} has one: "
        f"name one of {names} below {printable(larger.name)}"
    )


def load(source: StrPath, repository: Repository = HERE) -> Tree:
    """The tree that a SET argument names; files named one by one come without their siblings.

    It has files that a configuration excludes, too: they are in their set, and only not reported. Raises SourceError
    for a source that cannot be opened.
    """
    return make_tree(os.fspath(source), read_directories(source, repository).items())


def load_head(source: StrPath, repository: Repository, keeps: Callable[[str], bool]) -> Tree:
    """The tree of a head, without the sets whose files are all excluded. Raises NothingThereError if no set is left."""
    tree = reported_sets(load(source, repository), keeps)
    if not tree.sets:
        raise NothingThereError(f"nothing to compare: the configuration excludes all definitions in {tree.name}")
    return tree


def read_directories(source: StrPath, repository: Repository) -> dict[str, list[tuple[str, bytes]]]:
    """The paths and bytes of the definitions that a SET argument names, without siblings, by directory below it."""
    directories: dict[str, list[tuple[str, bytes]]] = {}
    sets, notes = open_sets([os.fspath(source)], lambda path: True, repository)
    if notes and not sets:
        raise NothingThereError(notes[0])
    for files in sets:
        pairs = directories.setdefault(files.relative, [])
        pairs += [(file.path, file.data) for file in files.files if file.is_reported]
    return directories


def load_or_newest(source: StrPath | None, repository: Repository = HERE) -> tuple[Tree, tuple[str, ...]]:
    """The tree that a SET argument names, and no note; without one that of the working directory.

    If that has no definition, it is the newest built-in release, which the note names.
    """
    try:
        return load(os.curdir if source is None else source, repository), ()
    except NothingThereError:
        if source is not None:
            raise
    *_, newest = built_in().origins
    return load_release(newest), (f"no definitions in the working directory: this is {title(newest)}",)


def load_release(release: str) -> Tree:
    """The tree of a built-in release, such as `4.1.0`."""
    sets = release_tree(release).sets(lambda path: True).sets
    directories = ((item.relative, [(file.path, file.data) for file in item.files]) for item in sets)
    return make_tree(release, directories)


def counterpart_of(release: Tree, head: Tree, path: str) -> Tree:
    """The sets of a built-in release that a tree has too: those in the same directories of Kafka's repository.

    `path` is that of the tree in its repository, with slashes. A tree with a single set elsewhere is compared with
    the set of the release that has most of its messages.
    """
    prefix = "" if path == os.curdir else f"{path}/"
    folders = {folder: f"{prefix}{folder}".rstrip("/") for folder in head.sets}
    sets = {folder: release.sets[name] for folder, name in folders.items() if name in release.sets}
    if not sets and len(head.sets) == 1:
        names = {message.name for message in head.messages}
        sets = dict.fromkeys(
            head.sets, max(release.sets.values(), key=lambda schemas: len(names & schemas.by_name.keys()))
        )
    sources = {item.file: item.data for schemas in sets.values() for item in schemas.definitions}
    return Tree(release.name, sets, sources)


def load_base(source: StrPath, repository: Repository = HERE) -> Tree:
    """The tree of a base: empty for a whole revision without definitions, and before the first commit."""
    name = os.fspath(source)
    place = RevisionPath.of(name)
    if not place or place.path:
        return load(source, repository)
    with suppress(NothingThereError):
        if not repository.is_unborn(place.revision):
            return load(source, repository)
    return make_tree(name, ())


def load_rpcs(source: StrPath, repository: Repository = HERE) -> Tree:
    """The tree that a SET argument names; raises UsageError when it has no RPC."""
    tree = load(source, repository)
    if all(rpc.is_coordinator for rpc in tree.main.rpcs):
        raise UsageError(f"{tree.name} has no RPC: name the directory with the requests and responses")
    return tree


def unparsable_files(*trees: Tree | None) -> tuple[str, ...]:
    """The paths of the definitions in the trees that cannot be read."""
    return tuple(item.file for tree in trees if tree for item in tree.unparsable)
