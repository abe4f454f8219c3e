"""A tree of schema sets, as a directory, a revision or an archive holds it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.model.fields import Container
from kiplint.model.layout import DEEPEST, MOST_FIELDS, unfolded
from kiplint.model.load import Definition
from kiplint.model.load import load as load_definition
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError


class FieldBudget:
    """What is left to be compared of one message; raises UsageError when it is used up."""

    def __init__(self, message: Message) -> None:
        self._file = message.file
        self._left = MOST_FIELDS

    def spend(self, container: Container, times: int = 1) -> None:
        """Account for some layouts of a message or struct; raises UsageError also for structs that are too deep."""
        fields, depth = unfolded(container, self._left // max(times, 1))
        if depth > DEEPEST:
            raise UsageError(f"{self._file}: too deep: its structs stand inside one another more than {DEEPEST} deep")
        self._left -= times * fields
        if self._left < 0:
            raise UsageError(f"{self._file}: too large: its structs and versions unfold into too many fields")


class Tree(NamedTuple):
    """Schema sets by their directory relative to the tree's root, and the definitions that they were read from.

    `broken` are the definitions out of which no message could be made.
    """

    name: str
    sets: Mapping[str, SchemaSet]
    sources: Mapping[str, bytes]
    broken: tuple[Definition, ...] = ()

    @property
    def messages(self) -> Iterator[Message]:
        """All messages of all sets."""
        return (message for one in self.sets.values() for message in one.messages)

    @property
    def main(self) -> SchemaSet:
        """The set with the RPCs: the one that has the most of them; coordinators' records are none."""
        return max(self.sets.values(), key=_rpcs, default=SchemaSet(()))


def _rpcs(schemas: SchemaSet) -> int:
    return sum(not rpc.is_coordinator for rpc in schemas.rpcs)


def make_tree(name: str, directories: Iterable[tuple[str, Iterable[tuple[str, bytes]]]]) -> Tree:
    """The tree of files given as pairs of path and bytes, by directory relative to the tree's root."""
    sets: dict[str, SchemaSet] = {}
    sources: dict[str, bytes] = {}
    broken: list[Definition] = []
    for directory, files in directories:
        definitions = [load_definition(path, data) for path, data in files]
        sources |= {one.file: one.data for one in definitions}
        broken += [one for one in definitions if one.message is None]
        sets[directory] = SchemaSet(tuple(one.message for one in definitions if one.message), directory)
    return Tree(name, sets, sources, tuple(broken))


def pair_sets(old: Tree, new: Tree) -> Iterator[tuple[SchemaSet, SchemaSet]]:
    """The sets to compare: those of one relative directory; a single set on each side whatever its path.

    A set that only one tree has is paired with an empty one.
    """
    if len(old.sets) == 1 and len(new.sets) == 1:
        yield next(iter(old.sets.values())), next(iter(new.sets.values()))
        return
    for directory in sorted({*old.sets, *new.sets}):
        yield old.sets.get(directory) or SchemaSet(()), new.sets.get(directory) or SchemaSet(())


def load(source: Path, repository: Path | None = None, keep: Callable[[str], bool] = lambda path: True) -> Tree:
    """The tree that a SET argument names; files given one by one come without their siblings.

    Raises SourceError for what cannot be opened.
    """
    name = os.fspath(source)
    directories: dict[str, list[tuple[str, bytes]]] = {}
    for one in open_sets([name], keep, repository=os.fspath(repository) if repository else None):
        files = directories.setdefault(one.relative, [])
        files += [(file.path, file.data) for file in one.files if file.wanted]
    return make_tree(name, directories.items())


def load_base(source: Path, repository: Path | None = None, keep: Callable[[str], bool] = lambda path: True) -> Tree:
    """The same, of what stood before: nothing in a whole revision without definitions, or before the first commit."""
    name = os.fspath(source)
    revision = name[:-1]
    if not name.endswith(":"):
        return load(source, repository, keep)
    from kiplint.sources.git import is_unborn

    if is_unborn(revision, os.fspath(repository) if repository else None):
        return make_tree(name, ())
    try:
        return load(source, repository, keep)
    except NothingThereError:
        return make_tree(name, ())


def load_rpcs(source: Path, repository: Path | None = None) -> Tree:
    """The tree that a name stands for; raises UsageError when there is no RPC in it."""
    tree = load(source, repository)
    if all(rpc.is_coordinator for rpc in tree.main.rpcs):
        raise UsageError(f"{tree.name} has no RPC: name the directory with the requests and responses")
    return tree


def broken(*trees: Tree | None) -> tuple[str, ...]:
    """The definitions that could not be read, so that they are missing in whatever comes of the trees."""
    return tuple(one.file for tree in trees if tree for one in tree.broken)
