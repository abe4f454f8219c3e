"""Files on disk: directories, single files of a schema set with their siblings, and paths as users see them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache

from kiplint.limits import Limit
from kiplint.sources.git import REVISION, home_of, work_tree_files
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    FileTree,
    Keep,
    SchemaFiles,
    SourceError,
    by_folder,
    is_walked,
)
from kiplint.text.files import read_file
from kiplint.text.show import printable

STDIN = "-"
"""The name that stands for standard input."""
UNNAMED = "<stdin>"


def directory_tree(top: str) -> FileTree:
    """The tree of a directory: in a checkout what git has or would add, elsewhere what is there.

    Hidden folders, `node_modules` and the logs of Delta tables are passed over. What git knows nothing of, such as the
    outputs of a build, is walked as outside of a checkout. Raises SourceError for a folder that cannot be read.
    """
    files: dict[str, str] = {}
    links: list[str] = []
    paths = work_tree_files(top) if home_of(os.path.realpath(top)) else []
    if not any(os.path.isfile(os.path.join(top, path)) for path in paths):
        paths = _on_disk(top)
    for path in paths:
        is_json, full = path.endswith(".json"), os.path.join(top, path)
        if not is_json and "." in path.rpartition("/")[2]:  # neither a definition nor a link to a folder
            continue
        if os.path.islink(full):
            if (is_json or os.path.isdir(full)) and all(map(is_walked, path.split("/"))):
                links.append(path)
        elif is_json and os.path.isfile(full):
            files[path] = full
    return _tree(top, files, links)


def _tree(top: str, files: Mapping[str, str | bytes], links: list[str]) -> FileTree:
    shown_name = show_path(top)
    prefix = "" if shown_name == os.curdir else os.path.join(shown_name, "")
    return FileTree(top, prefix, os.path.join(top, ""), by_folder(files), read, tuple(links))


def _on_disk(top: str) -> list[str]:
    paths: list[str] = []

    def refuse(error: OSError) -> None:
        raise SourceError(f"cannot read {show_path(str(error.filename))}: {error.strerror}") from None

    for folder, subfolders, names in os.walk(top, onerror=refuse):
        before = folder[len(os.path.join(top, "")) :].replace(os.sep, "/")
        paths += (f"{before}/{name}".lstrip("/") for name in (*names, *subfolders))
        subfolders[:] = filter(is_walked, subfolders)
    return paths


def with_siblings(directory: str, contents: Mapping[str, bytes | None], keep: Keep) -> SchemaFiles | None:
    """The set of named files of one directory, whose bytes may be known, with the other definitions there.

    None if all are excluded. Raises SourceError.
    """
    root = directory or os.curdir
    try:
        entries = list(os.scandir(root)) if os.path.isdir(root) else []
    except OSError as error:
        raise SourceError(f"cannot read {show_path(root)}: {error.strerror}") from None
    siblings = (entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False))
    files: dict[str, str | bytes] = {entry.name: entry.path for entry in siblings}
    named_files = {os.path.basename(path): path if data is None else data for path, data in contents.items()}
    return _tree(root, files | named_files, []).named_files(named_files, keep)


def read(path: str | bytes) -> bytes:
    """The bytes of a file of a set, of an oversized one only the beginning; bytes are known already.

    Raises SourceError for a file that cannot be read, and for a link.
    """
    if isinstance(path, bytes):
        return path
    try:
        return read_file(path, LARGEST_ENTRY, cut=True, links=False)
    except OSError as error:
        raise SourceError(f"cannot read {show_path(path)}: {error.strerror}") from None


def read_stdin(most: int) -> bytes:
    """The beginning of standard input, `most` bytes; raises SourceError when it cannot be read."""
    if sys.stdin is None:
        raise SourceError("cannot read standard input: it is closed")
    try:
        return sys.stdin.buffer.read(most)
    except OSError as error:
        raise SourceError(f"cannot read standard input: {error.strerror}") from None


def read_input(name: str, limit: Limit) -> bytes:
    """Read a file, or standard input if the name is `-`. Raises SourceError if that fails or exceeds the limit."""
    try:
        data = read_stdin(limit + 1) if name == STDIN else read_file(name, limit)
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror}") from None
    if len(data) > limit:
        raise SourceError(limit.exceeded("standard input"))
    return data


def show_path(path: str) -> str:
    """A path as users see it: relative to the working directory when below it, else as given."""
    if path == UNNAMED:
        return path
    here = os.getcwd()
    full = os.path.abspath(path)
    inside = full == here or full.startswith(here + os.sep) or here == os.sep
    return printable(os.path.relpath(full, here) if inside else os.path.normpath(path))


def in_repository(path: str, names: tuple[str, ...]) -> str:
    """The path of a file relative to the top of the repository, with slashes; as it is when the file is not below it.

    `names` are the SET arguments of the run: a file out of `REV:` has its path in the repository already.
    """
    for prefix in _revisions(names):
        if path.startswith(prefix):
            return path[len(prefix) :]
    top, full = home_of(os.curdir) or os.path.join(os.getcwd(), ""), os.path.abspath(path)
    inner = full[len(top) :] if full.startswith(top) and path != UNNAMED else path
    return inner.replace(os.sep, "/")


def in_patch(path: str, names: tuple[str, ...]) -> str:
    """The name of a file in a patch that `patch -p1` and `git apply` take.

    That is relative to the working directory for a file below it, and to the top of the repository for any other one of
    it, `REV:` included.
    """
    is_below = not os.path.isabs(path) and not os.path.normpath(path).startswith("..")
    if is_below and not path.startswith(_revisions(names)):
        return path.replace(os.sep, "/")
    return in_repository(path, names).lstrip("/")


@cache
def _revisions(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names that begin with a revision: the revision with its colon."""
    matches = ((name, REVISION.match(name)) for name in names if ":" in name and "!/" not in name)
    return tuple(revision[0] for name, revision in matches if revision and not os.path.lexists(name))
