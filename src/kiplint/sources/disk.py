"""Schema sets on disk: directories, trees of directories, single files with their siblings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kiplint.limits import Limit
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    Keep,
    Keeper,
    SchemaFile,
    SchemaFiles,
    SourceError,
    is_walked,
    marks_of,
    sorted_out,
    with_context,
)
from kiplint.text.files import IS_LINK, LinkText, open_file, read_file, standard_input
from kiplint.text.show import printable

STDIN = "-"
"""The name that stands for standard input."""
UNNAMED = "<stdin>"


def walk(top: str, keep: Keep) -> Iterator[SchemaFiles]:
    """The sets of a directory and of all below it; raises SourceError when there is none."""
    empty, keeper = True, Keeper(keep)
    for schemas in _walk(top, keeper):
        empty = False
        yield schemas
    if empty:
        raise keeper.nothing_in(top)


def with_siblings(directory: str, contents: Mapping[str, bytes | None], keep: Keep) -> SchemaFiles:
    """The set of named files of one directory, whose bytes may be known, with the other definitions there."""
    for path, data in contents.items():
        if data is None and not os.path.isfile(path):
            raise SourceError(f"cannot read {show_path(path)}: it is not a file")
    root = directory or os.curdir
    files = [SchemaFile(show_path(path), read(path, root) if data is None else data) for path, data in contents.items()]
    named_paths = {file.path for file in files}
    place = show_path(root)
    siblings = ((_below(place, path), path) for path in (_listing(root)[1] if os.path.isdir(root) else ()))
    others = (sibling for sibling in siblings if sibling[0] not in named_paths and keep(sibling[1]))
    context = (SchemaFile(name, read(path, root, listed=True), is_reported=False) for name, path in others)
    return with_context(place, files, context)


def show_path(path: str) -> str:
    """A path as users see it: relative to the working directory when below it, else as given."""
    if path == UNNAMED:
        return path
    here = os.getcwd()
    full = os.path.abspath(path)
    inside = full == here or full.startswith(here + os.sep) or here == os.sep
    return printable(os.path.relpath(full, here) if inside else os.path.normpath(path))


def read(path: str, root: str, *, listed: bool = False) -> bytes:
    """The bytes of a file of a set whose directory is `root`, of an oversized one only the beginning.

    A link is followed only to a file below the root that is walked itself; else its text is all that is read. Raises
    SourceError for a file that cannot be read.
    """
    try:
        return _read(path, is_regular=listed)
    except OSError as error:
        if error.errno not in IS_LINK:
            raise SourceError(f"cannot read {show_path(path)}: {error.strerror}") from None
    try:
        top, target = os.path.join(os.path.realpath(root), ""), os.path.realpath(path)
        *folders, name = target.removeprefix(top).split(os.sep)
        if target.startswith(top) and all(map(is_walked, folders)) and name.endswith(".json"):
            return _read(target)
        return LinkText(os.fsencode(os.readlink(path)))
    except OSError as error:
        raise SourceError(f"cannot read {show_path(path)}: {error.strerror}") from None


def _read(path: str, *, is_regular: bool = False) -> bytes:
    data = read_file(path, LARGEST_ENTRY, cut=True, listed=is_regular, links=False)
    if len(data) < LARGEST_ENTRY:
        return data
    with open_file(path, links=False) as file:
        file.seek(LARGEST_ENTRY)
        return data + marks_of(file.read)[0]


def read_stdin(most: int) -> bytes:
    """The beginning of standard input, `most` bytes; raises SourceError when it cannot be read."""
    try:
        return standard_input().read(most)
    except OSError as error:
        raise SourceError(f"cannot read standard input: {error.strerror}") from None


def read_input(name: str, limit: Limit) -> bytes:
    """Read a file, or standard input if the name is `-`. Raises SourceError if that fails or exceeds the limit."""
    if name == STDIN:
        data = read_stdin(limit + 1)
        if len(data) > limit:
            raise SourceError(limit.exceeded("standard input"))
        return data
    try:
        return read_file(name, limit)
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror}") from None


def home_of(directory: str) -> str:
    """The top of the work tree around a directory, with a separator at its end, or empty where there is none."""
    here = os.path.abspath(directory)
    while not os.path.lexists(os.path.join(here, ".git")):
        here, below = os.path.dirname(here), here
        if here == below:
            return ""
    return os.path.join(here, "")


def _walk(top: str, keep: Keep) -> Iterator[SchemaFiles]:
    waiting = [top]
    while waiting:
        directory = waiting.pop()
        folders, paths = _listing(directory)
        waiting += reversed(folders)
        place = show_path(directory)
        files = [SchemaFile(_below(place, path), read(path, top, listed=True)) for path in paths if keep(path)]
        definitions, left_out = sorted_out(files, certain=directory == top)
        if definitions:
            relative = "" if directory == top else os.path.relpath(directory, top).replace(os.sep, "/")
            yield SchemaFiles(place, definitions, relative=relative, left_out=left_out)


def _below(place: str, path: str) -> str:
    """The path of a file in a directory that is shown as `place`, as users see it."""
    name = printable(os.path.basename(path))
    return name if place == os.curdir else os.path.join(place, name)


def _listing(directory: str) -> tuple[list[str], list[str]]:
    """The folders to walk and the JSON files of a directory, sorted; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"cannot read {show_path(directory)}: {error.strerror}") from None
    folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False) and is_walked(entry.name)]
    return folders, [entry.path for entry in entries if entry.name.endswith(".json") and _is_file(entry)]


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False
