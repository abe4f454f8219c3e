"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from kiplint.sources import disk
from kiplint.sources.disk import STDIN, read_stdin
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    Keep,
    NothingThereError,
    SchemaFiles,
    SourceError,
)
from kiplint.sources.walk import walk
from kiplint.text.files import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.sources.tree import FileTree

ARCHIVES = (".jar", ".zip")
INSIDE = "!/"


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
    waiting = list(names)
    any_set = False
    for schemas in _open(waiting, keep, repository, empty if len(waiting) > 1 else None):
        any_set = True
        yield schemas
    if empty and not any_set:
        raise NothingThereError(empty[0])


def _open(names: Iterable[str], keep: Keep, repository: str | None, empty: list[str] | None) -> Iterator[SchemaFiles]:
    files: dict[str, dict[str, bytes | None]] = {}
    inside: dict[str, tuple[FileTree, list[str]]] = {}
    once: dict[str, str] = {}
    for name in names:
        once.setdefault(os.path.abspath(name), name)
    for name in once.values():
        if name == STDIN:
            files.setdefault("", {})[disk.UNNAMED] = read_stdin(LARGEST_ENTRY)
        elif os.path.isdir(name):
            yield from _some(walk(name, keep), empty)
        elif os.path.lexists(name) and not name.lower().endswith(ARCHIVES):
            _refuse_bundle(name)
            if keep(name):
                files.setdefault(os.path.dirname(name), {})[name] = None
        elif not os.path.lexists(name) or keep(name):
            tree, file = _tree(name, repository)
            if file:
                inside.setdefault(tree.prefix, (tree, []))[1].append(file)
            else:
                yield from _some(tree.sets(keep), empty)
    for directory, texts_by_name in files.items():
        yield disk.with_siblings(directory, texts_by_name, keep)
    for tree, file_names in inside.values():
        if schemas := tree.files(file_names, keep):
            yield schemas


def text_of_tree(name: str, path: str, repository: str | None = None) -> str:
    """A text file of the tree that a set is part of, such as a source file of Kafka beside its schemas.

    `name` is the set, `path` the path of the file from the top of the tree. Empty where there is no such file.
    """
    try:
        if not os.path.lexists(name):
            from kiplint.sources.git import read_blob

            return read_blob(name, path, repository).decode(errors="replace") if ":" in name else ""
        if name.lower().endswith(ARCHIVES):
            return ""
        folder = os.path.abspath(name)
        while not os.path.isfile(os.path.join(folder, path)):
            folder, below = os.path.dirname(folder), folder
            if folder == below:
                return ""
        return read_file(os.path.join(folder, path), LARGEST_ENTRY, links=False).decode(errors="replace")
    except (OSError, SourceError):
        return ""


def _some(sets: Iterator[SchemaFiles], empty: list[str] | None) -> Iterator[SchemaFiles]:
    """The sets of one name; without definitions its error is added to `empty`, unless that is None."""
    try:
        yield from sets
    except NothingThereError as error:
        if empty is None:
            raise
        empty.append(str(error))


def _tree(name: str, repository: str | None) -> tuple[FileTree, str]:
    """The tree of a name that is not a plain file or directory, and the file in it if the name is a file."""
    archive, _, inner = name.partition(INSIDE)
    if archive.lower().endswith(ARCHIVES) and os.path.lexists(archive):
        from kiplint.sources.tree import open_archive

        return open_archive(archive, inner)
    from kiplint.sources.git import is_revision, open_revision

    if ":" in name:
        return open_revision(name, repository)
    hint = ""
    with suppress(SourceError):
        hint = f"; for the revision, write {name}:" if is_revision(name, repository) else ""
    label = name or "''"
    raise SourceError(f"no such file or directory: {label}{hint}")


def _refuse_bundle(name: str) -> None:
    if name.endswith(".bundle") and os.path.isfile(name):
        raise SourceError(f"{name} is a git bundle: name a revision (REV:path), and the bundle as its repository")
