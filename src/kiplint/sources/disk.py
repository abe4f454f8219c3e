"""Schema sets on disk: directories, trees of directories, single files with their siblings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
from kiplint.text.files import IS_LINK, open_file, read_file, standard_input
from kiplint.text.show import printable

STDIN = "-"
"""The name that stands for standard input."""
UNNAMED = "<stdin>"


DELTA_LOG = "_delta_log"
"""The folder in each Delta table that has its log, in JSON."""


class Listing(NamedTuple):
    """What there is in a directory and below it, by paths from there with slashes.

    `folders` has the names of the JSON files by folder, the directory itself being an empty path. `links` are the
    symbolic links to directories or to what is called JSON; they are not followed.
    """

    folders: dict[str, list[str]]
    links: list[str]


def walk(top: str, keep: Keep) -> Iterator[SchemaFiles]:
    """The sets of a directory and of all below it; raises SourceError when there is none."""
    empty, keeper = True, Keeper(keep)
    listing = list_directory(top)
    link_paths = [os.path.join(top, link) for link in sorted(listing.links)]
    links = tuple(show_path(path) for path in link_paths if keep(path))
    for folder in sorted(listing.folders, key=lambda path: path.split("/")):
        directory = os.path.join(top, *folder.split("/")) if folder else top
        place = show_path(directory)
        paths = [os.path.join(directory, name) for name in sorted(listing.folders[folder])]
        files = [SchemaFile(_below(place, path), read(path, listed=True)) for path in paths if keeper(path)]
        definitions, left_out = sorted_out(files, certain=not folder)
        if definitions:
            yield SchemaFiles(place, definitions, relative=folder, left_out=left_out, links=links)
            empty, links = False, ()
    if empty:
        raise keeper.nothing_in(top, has_links=bool(links))


def list_directory(top: str) -> Listing:
    """What a walk of a directory reads: in a checkout what git has or would add, elsewhere what is there.

    Hidden folders, `node_modules` and Delta tables are passed over. What git knows nothing of, such as the outputs of a
    build, is walked as outside of a checkout. Raises SourceError for a folder that cannot be read.
    """
    return _known_to_git(top) or _on_disk(top)


def with_siblings(directory: str, contents: Mapping[str, bytes | None], keep: Keep) -> SchemaFiles:
    """The set of named files of one directory, whose bytes may be known, with the other definitions there."""
    for path, data in contents.items():
        if data is None and not os.path.isfile(path):
            raise SourceError(f"cannot read {show_path(path)}: it is not a file")
    root = directory or os.curdir
    files = [SchemaFile(show_path(path), read(path) if data is None else data) for path, data in contents.items()]
    named_paths = {file.path for file in files}
    place = show_path(root)
    entries = filter(_is_json, _entries(root) if os.path.isdir(root) else ())
    siblings = ((_below(place, entry.path), entry.path) for entry in entries)
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


def _below(place: str, path: str) -> str:
    """The path of a file in a directory that is shown as `place`, as users see it."""
    name = printable(os.path.basename(path))
    return name if place == os.curdir else os.path.join(place, name)


def _known_to_git(top: str) -> Listing | None:
    """What git has or would add below a directory; None where that is nothing, and outside of a checkout."""
    if not home_of(os.path.realpath(top)):
        return None
    from kiplint.sources.git import work_tree_files

    paths = work_tree_files(top)
    if not any(os.path.isfile(os.path.join(top, path)) for path in paths):
        return None
    listing = Listing({}, [])
    logs = (f"/{path}".partition(f"/{DELTA_LOG}/") for path in paths if DELTA_LOG in path)
    tables = {f"{table}/" for table, separator, _ in logs if separator}
    for path in paths:
        folder, _, name = path.rpartition("/")
        parts = folder.split("/") if folder else []
        may_matter = name.endswith(".json") or "." not in name
        if not may_matter or not all(map(is_walked, parts)) or f"/{path}".startswith(tuple(tables)):
            continue
        whole = os.path.join(top, path)
        if os.path.islink(whole):
            if _is_noted(whole, name):
                listing.links.append(path)
        elif name.endswith(".json") and os.path.isfile(whole):
            listing.folders.setdefault(folder, []).append(name)
    return listing


def _on_disk(top: str) -> Listing:
    listing = Listing({}, [])
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        entries = _entries(os.path.join(top, folder))
        if any(entry.name == DELTA_LOG for entry in entries):
            continue
        before = f"{folder}/" if folder else ""
        if names := [entry.name for entry in entries if _is_json(entry)]:
            listing.folders[folder] = names
        for entry in entries:
            if entry.is_symlink():
                if _is_noted(entry.path, entry.name):
                    listing.links.append(before + entry.name)
            elif entry.is_dir() and is_walked(entry.name):
                waiting.append(before + entry.name)
    return listing


def _is_noted(path: str, name: str) -> bool:
    """Whether a link is one that a reader could expect to be followed."""
    return name.endswith(".json") or (is_walked(name) and os.path.isdir(path))


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(directory))
    except OSError as error:
        raise SourceError(f"cannot read {show_path(directory)}: {error.strerror}") from None


def _is_json(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
