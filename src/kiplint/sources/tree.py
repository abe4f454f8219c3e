"""Trees of files: a directory, a git revision or an archive as schema sets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import msgspec

from kiplint.sources.schema_files import (
    Keep,
    NothingThereError,
    SchemaFile,
    SchemaFiles,
    definitions,
    with_context,
)
from kiplint.text.show import printable

REVISION: Final = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
"""The revision of `REV:path`, with its colon."""


class FileTree(msgspec.Struct, frozen=True):
    """The JSON files of a tree.

    `name` is what the user called it; `prefix` goes before the path of a file to show it, and ends in a slash or
    colon; `home` goes before it to ask whether it is excluded. `folders` maps each folder's path, without slashes
    around it, to its files: name to whatever `read` takes to give the bytes of several. `links` are the paths of links
    that could be files or folders of definitions; they are not followed.
    """

    name: str
    prefix: str
    home: str
    folders: dict[str, dict[str, Any]]
    read: Callable[[list[Any]], list[bytes]]
    links: tuple[str, ...] = ()

    def sets(self, keep: Keep) -> Iterator[SchemaFiles]:
        """One set for each folder with definitions, outer before inner; raises SourceError when there is none."""
        empty = True
        links = tuple(printable(self.prefix + link) for link in sorted(self.links) if keep(self.home + link))
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            found, left_out = definitions(self.files(folder, keep), certain=not folder)
            if found:
                directory = self.directory(folder)
                yield SchemaFiles(directory, found, relative=folder, left_out=left_out, links=links)
                empty, links = False, ()
        if empty:
            paths = (f"{folder}/{name}".lstrip("/") for folder, files in self.folders.items() for name in files)
            rest = "" if all(keep(self.home + path) for path in paths) else " that is not excluded by the configuration"
            rest += "; links are not followed" if links else ""
            raise NothingThereError(f"nothing to check: no message definition in {self.name}{rest}")

    def named_files(self, names: Collection[str], keep: Keep) -> SchemaFiles | None:
        """The set of some files of the outermost folder, the others there being context; None if all are excluded."""
        files = self.files("", keep)
        paths = {printable(self.prefix + name) for name in names}
        selection = [file for file in files if file.path in paths]
        others = (SchemaFile(file.path, file.data, is_reported=False) for file in files if file.path not in paths)
        return with_context(self.directory(""), selection, others) if selection else None

    def files(self, folder: str, keep: Keep) -> list[SchemaFile]:
        """The files of a folder that are not excluded."""
        before = f"{folder}/" if folder else ""
        files = self.folders.get(folder, {})
        names = [name for name in sorted(files) if keep(self.home + before + name)]
        texts = zip(names, self.read([files[name] for name in names]), strict=True)
        return [SchemaFile(printable(self.prefix + before + name), text) for name, text in texts]

    def directory(self, folder: str) -> str:
        """The path of a folder, to show."""
        return printable(self.prefix + folder).rstrip("/").removesuffix("!") or (self.prefix[:1] or os.curdir)


def is_walked(folder: str) -> bool:
    """Whether a folder is searched: all but hidden folders and `node_modules`."""
    return not folder.startswith(".") and folder != "node_modules"


def by_folder(files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Files by path, grouped by folder; hidden folders and `node_modules` are left out."""
    folders: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if not folder or all(map(is_walked, folder.split("/"))):
            folders.setdefault(folder, {})[name] = file
    return folders


def home_of(directory: str) -> str:
    """The top of the work tree around a directory, with a separator at its end, or empty where there is none."""
    here = os.path.abspath(directory)
    while not os.path.lexists(os.path.join(here, ".git")):
        here, below = os.path.dirname(here), here
        if here == below:
            return ""
    return os.path.join(here, "")
