"""Files on disk: directories, single files of a schema set with their siblings, and paths as users see them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache

import msgspec

from kiplint.limits import Limit
from kiplint.sources.git import GitMissingError
from kiplint.sources.repository import (
    NoRepositoryError,
    RevisionPath,
    UntrustedRepositoryError,
    open_repository,
    work_tree_of,
)
from kiplint.sources.schema_files import (
    MAX_BYTES_READ,
    FileTree,
    Includes,
    SchemaFiles,
    SourceError,
    by_folder,
    is_searched,
)
from kiplint.text.files import read_file, relative_path
from kiplint.text.show import printable

STDIN = "-"
"""The name that stands for standard input."""
STDIN_PATH = "<stdin>"
"""The path under which standard input is reported."""


def directory_tree(top: str) -> FileTree:
    """The tree of a directory: in a work tree, the files that git tracks or would add; elsewhere, all files.

    Hidden folders, `node_modules` and the logs of Delta tables are skipped. A directory of which git ignores all,
    such as the output of a build, is read like one outside of a work tree. Raises SourceError for an unreadable folder,
    and when git fails.
    """
    paths, notes = _listed_by_git(top)
    if not any(os.path.isfile(os.path.join(top, path)) for path in paths):
        paths = _walk(top)
    files: dict[str, str] = {}
    links: list[str] = []
    for path in paths:
        full_path = os.path.join(top, path)
        is_json = path.endswith(".json")
        if not is_json and "." in os.path.basename(path):  # neither a definition nor a link to a folder
            continue
        if os.path.islink(full_path):
            in_searched_folders = all(is_searched(part) for part in path.split("/"))
            if in_searched_folders and (is_json or os.path.isdir(full_path)):
                links.append(path)
        elif is_json and os.path.isfile(full_path):
            files[path] = full_path
    return msgspec.structs.replace(_tree(top, files, links), notes=notes)


def _listed_by_git(top: str) -> tuple[list[str], tuple[str, ...]]:
    """The files below the directory `top` that git tracks or would add; empty without a work tree.

    The notes say why git does not list the files of a repository that is there.
    """
    if not work_tree_of(os.path.realpath(top)):
        return [], ()
    try:
        return open_repository(top).files(), ()
    except NoRepositoryError:
        return [], ()
    except (UntrustedRepositoryError, GitMissingError) as error:
        return [], (f"files that git ignores are read too: {error}",)


def _tree(top: str, files: Mapping[str, str | bytes], links: list[str]) -> FileTree:
    """The tree of the directory `top`; `files` has, by path below it, the full path of each file or its bytes."""
    shown_name = show_path(top)
    shown_prefix = "" if shown_name == os.curdir else f"{shown_name.rstrip('/')}/"
    return FileTree(top, shown_prefix, os.path.join(top, ""), by_folder(files), _read, tuple(links))


def _walk(top: str) -> list[str]:
    """The paths of the files and folders below a directory, relative to it and with slashes."""
    paths: list[str] = []

    def refuse(error: OSError) -> None:
        raise SourceError(f"cannot read {show_path(str(error.filename))}: {error.strerror}") from None

    for folder, subfolders, names in os.walk(top, onerror=refuse):
        relative = relative_path(folder, top)
        prefix = "" if relative == os.curdir else f"{relative}/"
        paths += (prefix + name for name in (*names, *subfolders))
        subfolders[:] = filter(is_searched, subfolders)  # `os.walk` enters those that are left
    return paths


def with_siblings(
    directory: str, contents: Mapping[str, bytes | None], includes: Includes
) -> tuple[SchemaFiles, list[str]]:
    """The set of named files of one directory, and the paths of those that are none, as in `FileTree.named_files`.

    `contents` has the bytes of each named file by its path, or None to read them from disk. Raises SourceError.
    """
    root = directory or os.curdir
    try:
        entries = list(os.scandir(root)) if os.path.isdir(root) else []
    except OSError as error:
        raise SourceError(f"cannot read {show_path(root)}: {error.strerror}") from None
    json_entries = [entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)]
    files: dict[str, str | bytes] = {entry.name: entry.path for entry in json_entries}
    named_files = {os.path.basename(path): path if data is None else data for path, data in contents.items()}
    return _tree(root, files | named_files, []).named_files(named_files, includes)


def _read(path: str | bytes) -> bytes:
    """The bytes of a file of a set, cut at `MAX_BYTES_READ`; bytes in place of a path are returned as they are.

    Raises SourceError for a file that cannot be read, and for a link.
    """
    if isinstance(path, bytes):
        return path
    try:
        return read_file(path, MAX_BYTES_READ, cut=True, follow_links=False)
    except OSError as error:
        raise SourceError(f"cannot read {show_path(path)}: {error.strerror}") from None


def read_stdin(size: int) -> bytes:
    """At most `size` bytes from the beginning of standard input; raises SourceError when it cannot be read."""
    if sys.stdin is None:
        raise SourceError("cannot read standard input: it is closed")
    try:
        return sys.stdin.buffer.read(size)
    except OSError as error:
        raise SourceError(f"cannot read standard input: {error.strerror}") from None


def read_input(name: str, limit: Limit) -> bytes:
    """The bytes of a file, or of standard input if the name is `-`; raises SourceError for more than the limit."""
    if name == STDIN:
        data = read_stdin(limit + 1)
        if len(data) > limit:
            raise SourceError(limit.exceeded("standard input"))
        return data
    try:
        return read_file(name, limit)
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror}") from None


def show_path(path: str) -> str:
    """A path as users see it, with slashes: relative to the working directory if below it, otherwise normalized."""
    if path == STDIN_PATH:
        return path
    here = os.getcwd()
    full_path = os.path.abspath(path)
    is_below = full_path == here or full_path.startswith(os.path.join(here, ""))
    return printable(relative_path(full_path) if is_below else os.path.normpath(path).replace(os.sep, "/"))


def path_in_repository(path: str, names: tuple[str, ...]) -> str:
    """The path of a file relative to the top of the repository, with slashes; as it is when the file is not below that.

    `names` are the SET arguments of the run, which tell a file of `REV:path` from one on disk.
    """
    for prefix in _revision_prefixes(names):
        if path.startswith(prefix):
            return path.removeprefix(prefix)
    top = work_tree_of(os.curdir) or os.path.join(os.getcwd(), "")
    full_path = os.path.abspath(path)
    is_below = full_path.startswith(top) and path != STDIN_PATH
    return (full_path.removeprefix(top) if is_below else path).replace(os.sep, "/")


def name_in_patch(path: str, names: tuple[str, ...]) -> str:
    """The name of a file in a patch for `patch -p1` or `git apply`; `names` are the SET arguments of the run.

    It is relative to the working directory for a file below that, otherwise to the top of the repository.
    """
    is_below = not os.path.isabs(path) and not os.path.normpath(path).startswith("..")
    if is_below and not path.startswith(_revision_prefixes(names)):
        return path.replace(os.sep, "/")
    return path_in_repository(path, names).lstrip("/")


@cache
def _revision_prefixes(names: tuple[str, ...]) -> tuple[str, ...]:
    """The revisions that some of the SET arguments begin with, each with its colon, such as `4.0.0:`."""
    revision_names = [name for name in names if "!/" not in name]
    places = map(RevisionPath.of, revision_names)
    return tuple(f"{place.revision}:" for place in places if place)
