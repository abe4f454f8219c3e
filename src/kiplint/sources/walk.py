"""Schema sets in a directory and below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from kiplint.sources.disk import entries_of, home_of, is_json, path_below, read, show_path
from kiplint.sources.schema_files import Keep, Keeper, SchemaFile, SchemaFiles, is_walked, sorted_out

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
        files = [SchemaFile(path_below(place, path), read(path, listed=True)) for path in paths if keeper(path)]
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
        entries = entries_of(os.path.join(top, folder))
        if any(entry.name == DELTA_LOG for entry in entries):
            continue
        before = f"{folder}/" if folder else ""
        if names := [entry.name for entry in entries if is_json(entry)]:
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
