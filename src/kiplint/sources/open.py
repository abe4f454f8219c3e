"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from kiplint.sources.archive import open_archive
from kiplint.sources.disk import STDIN, UNNAMED, directory_tree, read_stdin, with_siblings
from kiplint.sources.git import is_revision, revision_tree
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    FileTree,
    Keep,
    NothingThereError,
    SchemaFiles,
    SourceError,
)

ARCHIVES = (".jar", ".zip")


def open_sets(
    names: Iterable[str],
    keep: Keep,
    repository: str | None = None,
    empty: list[str] | None = None,
) -> Iterator[SchemaFiles]:
    """The schema sets that names stand for; what exists on disk comes before a revision of the same spelling.

    A name is a directory, a file (its siblings are its context), an archive, `ARCHIVE!/path`, `REV:path` as
    `git show` takes it, or `-`; what another name stands for as well counts once. `keep` says of a path whether it is
    not excluded.
    `repository` is where revisions are looked up: a work tree, a bare repository or a bundle; by default the one around
    the working directory. Raises SourceError for what cannot be read, for a tree without definitions, and for a named
    file that is other JSON. With `empty`, a tree without definitions is added to it, if another name has some.
    """
    reported_paths: set[str] = set()
    for schemas in _open_all(names, keep, repository, empty):
        paths = {file.path for file in schemas.files if file.is_reported}
        if not paths <= reported_paths:
            reported_paths |= paths
            yield schemas


def _open_all(
    names: Iterable[str], keep: Keep, repository: str | None, empty: list[str] | None
) -> Iterator[SchemaFiles]:
    """The sets of all names, with those that several of them stand for."""
    trees: list[FileTree] = []
    files: dict[str, dict[str, bytes | None]] = {}
    inside: dict[str, tuple[FileTree, list[str]]] = {}
    for name in {os.path.abspath(name): name for name in names}.values():
        exists = os.path.lexists(name)
        if name == STDIN:
            files.setdefault("", {})[UNNAMED] = read_stdin(LARGEST_ENTRY)
        elif os.path.isdir(name):
            trees.append(directory_tree(name))
        elif exists and not keep(name):
            continue
        elif exists and not name.lower().endswith(ARCHIVES):
            files.setdefault(os.path.dirname(name), {})[name] = None
        else:
            tree, file = _tree(name, repository)
            if file:
                inside.setdefault(tree.prefix, (tree, []))[1].append(file)
            else:
                trees.append(tree)
    has_sets = bool(files or inside)
    for tree in trees:
        try:
            for schemas in tree.sets(keep):
                has_sets = True
                yield schemas
        except NothingThereError as error:
            if empty is None or (tree is trees[-1] and not has_sets):
                raise
            empty.append(str(error))
    yield from filter(None, (with_siblings(directory, contents, keep) for directory, contents in files.items()))
    yield from filter(None, (tree.named_files(file_names, keep) for tree, file_names in inside.values()))


def _tree(name: str, repository: str | None) -> tuple[FileTree, str]:
    """The tree of a name that is not a plain file or directory, and the file in it if the name is a file."""
    archive, _, inner = name.partition("!/")
    if archive.lower().endswith(ARCHIVES) and os.path.lexists(archive):
        return open_archive(archive, inner)
    if ":" in name:
        return revision_tree(name, repository)
    hint = ""
    with suppress(SourceError):
        hint = f"; for the revision, write {name}:" if is_revision(name, repository) else ""
    raise SourceError(f"no such file or directory: {name}{hint}")
