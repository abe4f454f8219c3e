"""A tree of schema sets, as a directory, a revision or an archive holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet


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
        definitions = [load(path, data) for path, data in files]
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
