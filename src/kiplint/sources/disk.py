"""Files on disk: single ones of a schema set with their siblings, and their paths as users see them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kiplint.limits import Limit
from kiplint.sources.schema_files import (
    LARGEST_ENTRY,
    Keep,
    SchemaFile,
    SchemaFiles,
    SourceError,
    marks_of,
    with_context,
)
from kiplint.text.files import IS_LINK, open_file, read_file, standard_input
from kiplint.text.show import printable

STDIN = "-"
"""The name that stands for standard input."""
UNNAMED = "<stdin>"


def with_siblings(directory: str, contents: Mapping[str, bytes | None], keep: Keep) -> SchemaFiles:
    """The set of named files of one directory, whose bytes may be known, with the other definitions there."""
    for path, data in contents.items():
        if data is None and not os.path.isfile(path):
            raise SourceError(f"cannot read {show_path(path)}: it is not a file")
    root = directory or os.curdir
    files = [SchemaFile(show_path(path), read(path) if data is None else data) for path, data in contents.items()]
    named_paths = {file.path for file in files}
    place = show_path(root)
    entries = filter(is_json, entries_of(root) if os.path.isdir(root) else ())
    siblings = ((path_below(place, entry.path), entry.path) for entry in entries)
    others = (sibling for sibling in siblings if sibling[0] not in named_paths and keep(sibling[1]))
    context = (SchemaFile(name, read(path, listed=True), is_reported=False) for name, path in others)
    return with_context(place, files, context)


def show_path(path: str) -> str:
    """A path as users see it: relative to the working directory when below it, else as given."""
    if path == UNNAMED:
        return path
    here = os.getcwd()
    full = os.path.abspath(path)
    inside = full == here or full.startswith(here + os.sep) or here == os.sep
    return printable(os.path.relpath(full, here) if inside else os.path.normpath(path))


def read(path: str, *, listed: bool = False) -> bytes:
    """The bytes of a file of a set, of an oversized one only the beginning.

    Raises SourceError for a file that cannot be read, and for a link.
    """
    try:
        return _read(path, is_regular=listed)
    except OSError as error:
        reason = "it is a symbolic link" if error.errno in IS_LINK else error.strerror
        raise SourceError(f"cannot read {show_path(path)}: {reason}") from None


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


def path_below(place: str, path: str) -> str:
    """The path of a file in a directory that is shown as `place`, as users see it."""
    name = printable(os.path.basename(path))
    return name if place == os.curdir else os.path.join(place, name)


def entries_of(directory: str) -> list[os.DirEntry[str]]:
    """What is in a directory; raises SourceError when it cannot be read."""
    try:
        return list(os.scandir(directory))
    except OSError as error:
        raise SourceError(f"cannot read {show_path(directory)}: {error.strerror}") from None


def is_json(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a regular file that is called JSON."""
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
