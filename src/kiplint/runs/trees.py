"""Opening what is compared: directories, revisions and archives as trees of schema sets."""

from __future__ import annotations

import os
from collections.abc import Callable

from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.runs.configuration import Path
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.sources.schema_files import SourceError as SourceError  # noqa: PLC0414 (the library has it from here)


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
