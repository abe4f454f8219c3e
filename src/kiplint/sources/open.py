"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress

from kiplint.sources.archive import ARCHIVES, open_archive
from kiplint.sources.disk import STDIN, STDIN_PATH, directory_tree, read_stdin, with_siblings
from kiplint.sources.git import is_revision, revision_tree
from kiplint.sources.schema_files import (
    MAX_BYTES_READ,
    FileTree,
    Includes,
    NothingThereError,
    SchemaFiles,
    SourceError,
)


def open_sets(
    names: Iterable[str],
    includes: Includes,
    repository: str | None = None,
    empty: list[str] | None = None,
) -> Iterator[SchemaFiles]:
    """The schema sets that names stand for; what exists on disk comes before a revision of the same spelling.

    A name is a directory, a file (its siblings are its context), an archive, `ARCHIVE!/path`, `REV:path` as
    `git show` takes it, or `-`. A set that several names stand for is given once.
    `repository` is where revisions are looked up: a work tree, a bare repository or a bundle; by default the one around
    the working directory. Raises SourceError for what cannot be read, for a tree without definitions, and for a named
    file that is other JSON. With a list `empty`, the message about each tree without definitions is appended to it, and
    the last one is raised only if no name has definitions.
    """
    reported_paths: set[str] = set()
    for schemas in _open_all(names, includes, repository, empty):
        paths = {file.path for file in schemas.files if file.is_reported}
        if not paths <= reported_paths:
            reported_paths |= paths
            yield schemas
    if empty and not reported_paths:
        raise NothingThereError(empty[-1])


def _open_all(
    names: Iterable[str], includes: Includes, repository: str | None, empty: list[str] | None
) -> Iterator[SchemaFiles]:
    """The sets of all names, as `open_sets` gives them but repeated if several names stand for the same set."""
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

    for tree in trees:
        try:
            yield from tree.sets(includes)
        except NothingThereError as error:
            if empty is None:
                raise
            empty.append(str(error))
    named_sets = [
        *(with_siblings(directory, contents, includes) for directory, contents in files_by_directory.items()),
        *(trees_by_prefix[prefix].named_files(files, includes) for prefix, files in files_by_prefix.items()),
    ]
    yield from filter(None, named_sets)


def _tree_and_file(name: str, repository: str | None) -> tuple[FileTree, str]:
    """The tree that an archive, a path in one, or `REV:path` names; if that is a file, its folder and its name."""
    archive, _, path = name.partition("!/")
    if archive.lower().endswith(ARCHIVES) and os.path.lexists(archive):
        return open_archive(archive, path)
    if ":" in name:
        return revision_tree(name, repository)
    hint = ""
    with suppress(SourceError):
        hint = f"; for the revision, write {name}:" if is_revision(name, repository) else ""
    raise SourceError(f"no such file or directory: {name}{hint}")
