"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial

from kiplint.sources import disk
from kiplint.sources.disk import STDIN, read_stdin
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    MOST_LOOKED_AT,
    Keep,
    NothingThereError,
    SchemaFiles,
    SourceError,
    is_walked,
)
from kiplint.sources.walk import walk
from kiplint.text.files import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.sources.tree import FileTree

ARCHIVES = (".jar", ".zip")
INSIDE = "!/"
_MAIN = "clients/src/main/resources/common/message"
"""Kafka's own set of RPCs: no other set of its repository has any, so none is looked for from there."""
_ENDINGS = ("Request.json", "Response.json")

_Files = Mapping[str, Callable[[], bytes]]
"""The files of requests and responses, by path from the top of a repository, as functions that read them."""


def open_sets(
    names: Iterable[str],
    keep: Keep,
    stdin_filename: str = "",
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
    for schemas in _open(waiting, keep, stdin_filename, repository, empty if len(waiting) > 1 else None):
        any_set = True
        yield schemas
    if empty and not any_set:
        raise NothingThereError(empty[0])


def _open(
    names: Iterable[str], keep: Keep, stdin_filename: str, repository: str | None, empty: list[str] | None
) -> Iterator[SchemaFiles]:
    files: dict[str, dict[str, bytes | None]] = {}
    inside: dict[str, tuple[FileTree, list[str]]] = {}
    once: dict[str, str] = {}
    for name in names:
        once.setdefault(os.path.abspath(name), name)
    for name in once.values():
        if name == STDIN:
            label = stdin_filename or disk.UNNAMED
            files.setdefault(os.path.dirname(label), {})[label] = read_stdin(LARGEST_ENTRY)
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


class OtherSets:
    """The sets beside each set of a run: those of its git repository or revision, and those below `names`.

    Their requests and responses are read on demand, once for each repository. A repository that defines a request or
    response twice holds several protocols, whose sets are not compared.
    """

    def __init__(self, names: Sequence[str], keep: Keep, repository: str | None = None) -> None:
        self._names, self._keep, self._repository = names, keep, repository
        self._protocols: dict[str, _Protocol] = {}

    def declare_headers(self, directory: str) -> bool:
        """Whether a set other than that of `directory`, a path as `SchemaFiles` has it, has `headerVersions`."""
        try:
            top, own = _home(directory or os.curdir)
            if own == _MAIN:
                return False
            if top not in self._protocols:
                self._protocols[top] = _Protocol(self._files(top))
            return self._protocols[top].declares_headers(own)
        except (OSError, SourceError):
            return False

    def _files(self, top: str) -> _Files:
        if top.endswith(":"):
            return _of_revision(top, self._repository)
        paths = _walk(self._names, top) | ({path: os.path.join(top, path) for path in _read_index(top)} if top else {})
        return {path: partial(_bytes_of, full) for path, full in paths.items() if self._keep(full)}


def _home(directory: str) -> tuple[str, str]:
    """The top of the repository that a directory is in, `REV:` for one of a revision, and its path from there."""
    if os.path.lexists(directory):
        top = disk.home_of(directory)
        return top, _inner(directory, top)
    revision, _, inner = directory.partition(":")
    return f"{revision}:", inner.strip("/")


class _Protocol:
    """The requests and responses of a repository."""

    def __init__(self, files: _Files) -> None:
        self._files = files

    def declares_headers(self, own: str) -> bool:
        """Whether a folder other than `own` has `headerVersions`, and all folders are of the same protocol."""
        return bool(self._declaring - {own}) and self._is_single

    @cached_property
    def _declaring(self) -> frozenset[str]:
        read = (path.rpartition("/")[0] for path, read in self._files.items() if b'"headerVersions"' in read())
        return frozenset(read)

    @cached_property
    def _is_single(self) -> bool:
        """Whether no request or response has two definitions; copies, as a build makes them, do not count."""
        reads_by_name: dict[str, list[Callable[[], bytes]]] = {}
        for path, read in self._files.items():
            reads_by_name.setdefault(path.rpartition("/")[2], []).append(read)
        return all(len({read() for read in reads}) == 1 for reads in reads_by_name.values() if len(reads) > 1)


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


def _of_revision(revision: str, repository: str | None) -> _Files:
    from kiplint.sources.git import open_revision

    tree, _ = open_revision(revision, repository)
    return {
        f"{folder}/{name}".lstrip("/"): partial(lambda blob: tree.read([blob])[0], blob)
        for folder, names in tree.folders.items()
        for name, blob in names.items()
        if name.endswith(_ENDINGS)
    }


def _read_index(top: str) -> Iterable[str]:
    """The files that git has of a work tree, out of its index; all that are there before the first is added.

    The index is read here, because a git process takes longer than the check of a set.
    """
    folder = os.path.join(top, ".git")
    if os.path.isfile(folder):
        folder = os.path.join(top, os.fsdecode(_bytes_of(folder)).removeprefix("gitdir:").strip())
    place = os.path.join(folder, "index")
    if not os.path.isfile(place):
        return _walk([top], top)
    index = read_file(place, MOST_LOOKED_AT, cut=True)
    if index[4:8] == b"\0\0\0\4":  # this format has parts of paths
        return _of_revision("HEAD:", top)
    entries = re.findall(rb"\0([\s\S])([^\0]+(?:Request|Response)\.json)\0", index)
    return [os.fsdecode(path) for length, path in entries if length[0] == len(path)]


def _walk(names: Iterable[str], top: str) -> dict[str, str]:
    """The files below directories, by path from the top."""
    paths: dict[str, str] = {}
    for name in names:
        for folder, folders, files in os.walk(name):
            folders[:] = filter(is_walked, folders)
            inner = _inner(folder, top)
            definitions = (file for file in files if file.endswith(_ENDINGS))
            paths |= {f"{inner}/{file}".lstrip("/"): os.path.join(folder, file) for file in definitions}
    return paths


def _inner(folder: str, top: str) -> str:
    """The path of a folder from the top of its repository, by default the working directory, with slashes."""
    inner = os.path.relpath(os.path.realpath(folder), os.path.realpath(top or os.curdir)).replace(os.sep, "/")
    return "" if inner == "." else inner


def _bytes_of(path: str) -> bytes:
    """The bytes of a file, none where it is gone."""
    try:
        return read_file(path, LARGEST_ENTRY, cut=True, listed=True, links=False)
    except OSError:
        return b""
