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
    `git show` takes it, or `-`; duplicates count once. `keep` says of a path whether it is not excluded.
    `repository` is where revisions are looked up: a work tree, a bare repository or a bundle; by default the one around
    the working directory. Raises SourceError for what cannot be read, for a tree without definitions, and for a named
    file that is other JSON. With `empty`, a tree without definitions is added to it, if another name has some.
    """
    names = list(names)
    any_set = False
    for schemas in _open(names, keep, repository, empty if len(names) > 1 else None):
        any_set = True
        yield schemas
    if empty and not any_set:
        raise NothingThereError(empty[0])


def _open(names: Iterable[str], keep: Keep, repository: str | None, empty: list[str] | None) -> Iterator[SchemaFiles]:
    files: dict[str, dict[str, bytes | None]] = {}
    inside: dict[str, tuple[FileTree, list[str]]] = {}
    names_by_path: dict[str, str] = {}
    for name in names:
        names_by_path.setdefault(os.path.abspath(name), name)
    for name in names_by_path.values():
        exists = os.path.lexists(name)
        if name == STDIN:
            files.setdefault("", {})[UNNAMED] = read_stdin(LARGEST_ENTRY)
        elif os.path.isdir(name):
            yield from _sets(directory_tree(name), keep, empty)
        elif exists and not keep(name):
            continue
        elif exists and not name.lower().endswith(ARCHIVES):
            files.setdefault(os.path.dirname(name), {})[name] = None
        else:
            tree, file = _tree(name, repository)
            if file:
                inside.setdefault(tree.prefix, (tree, []))[1].append(file)
            else:
                yield from _sets(tree, keep, empty)
    yield from (with_siblings(directory, contents, keep) for directory, contents in files.items())
    yield from filter(None, (tree.named_files(file_names, keep) for tree, file_names in inside.values()))


def _sets(tree: FileTree, keep: Keep, empty: list[str] | None) -> Iterator[SchemaFiles]:
    """The sets of one name; without definitions its error is added to `empty`, unless that is None."""
    try:
        yield from tree.sets(keep)
    except NothingThereError as error:
        if empty is None:
            raise
        empty.append(str(error))


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
    label = name or "''"
    raise SourceError(f"no such file or directory: {label}{hint}")
