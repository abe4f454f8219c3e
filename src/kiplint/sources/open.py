"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from kiplint.sources.archive import ARCHIVES, open_archive
from kiplint.sources.disk import STDIN, STDIN_PATH, directory_tree, read_stdin, with_siblings
from kiplint.sources.repository import HERE, Repository, RevisionPath
from kiplint.sources.schema_files import (
    MAX_BYTES_READ,
    FileTree,
    Includes,
    NothingThereError,
    SchemaFiles,
    SourceError,
)


class OpenedSets(NamedTuple):
    """The schema sets that names stand for, and notes on what was read, such as a name without definitions."""

    sets: tuple[SchemaFiles, ...]
    notes: tuple[str, ...] = ()


def open_sets(names: Iterable[str], includes: Includes, repository: Repository = HERE) -> OpenedSets:
    """The schema sets that names stand for; what exists on disk comes before a revision of the same spelling.

    A name is a directory, a file (its siblings are its context), an archive, `ARCHIVE!/path`, `REV:path` as
    `git show` takes it, or `-`. A set that several names stand for is given once. `repository` is where revisions are
    looked up. Raises SourceError for what cannot be read, and for a named file that is other JSON, and
    NothingThereError where no name has definitions; a name without any beside others is a note.
    """
    trees, named_files = _resolve(names, includes, repository)
    sets: list[SchemaFiles] = []
    notes = [note for tree in trees for note in tree.notes]
    missing = ""
    for tree in trees:
        try:
            sets += tree.sets(includes)
        except NothingThereError as error:
            missing = str(error)
            notes.append(missing)
    sets += filter(None, (read(includes) for read in named_files))
    if missing and not sets:
        raise NothingThereError(missing)
    reported_paths: set[str] = set()
    different_sets: list[SchemaFiles] = []
    for schemas in sets:
        paths = {file.path for file in schemas.files if file.is_reported}
        if not paths <= reported_paths:
            reported_paths |= paths
            different_sets.append(schemas)
    return OpenedSets(tuple(different_sets), tuple(notes))


def _resolve(
    names: Iterable[str], includes: Includes, repository: Repository
) -> tuple[list[FileTree], list[Callable[[Includes], SchemaFiles | None]]]:
    """The trees that names stand for; and for the named files of each directory, the function that reads their set."""
    trees: list[FileTree] = []
    files_by_directory: dict[str, dict[str, bytes | None]] = defaultdict(dict)
    trees_by_prefix: dict[str, FileTree] = {}
    files_by_prefix: dict[str, list[str]] = defaultdict(list)
    for name in {os.path.abspath(name): name for name in names}.values():  # one of all spellings of a path
        exists = os.path.lexists(name)
        if name == STDIN:
            files_by_directory[""][STDIN_PATH] = read_stdin(MAX_BYTES_READ)
        elif os.path.isdir(name):
            trees.append(directory_tree(name))
        elif exists and not includes(name):
            continue
        elif exists and not name.lower().endswith(ARCHIVES):
            files_by_directory[os.path.dirname(name)][name] = None
        else:
            tree, file = _tree_and_file(name, repository)
            if file:
                trees_by_prefix[tree.shown_prefix] = tree
                files_by_prefix[tree.shown_prefix].append(file)
            else:
                trees.append(tree)
    return trees, [
        *(partial(with_siblings, directory, contents) for directory, contents in files_by_directory.items()),
        *(partial(trees_by_prefix[prefix].named_files, files) for prefix, files in files_by_prefix.items()),
    ]


def _tree_and_file(name: str, repository: Repository) -> tuple[FileTree, str]:
    """The tree that an archive, a path in one, or `REV:path` names; if that is a file, its folder and its name."""
    archive, _, path = name.partition("!/")
    if archive.lower().endswith(ARCHIVES) and os.path.lexists(archive):
        return open_archive(archive, path)
    place = RevisionPath.of(name)
    if place:
        return repository.tree(place)
    hint = ""
    with suppress(SourceError):
        hint = f"; for the revision, write {name}:" if repository.is_revision(name) else ""
    raise SourceError(f"no such file or directory: {name}{hint}")
