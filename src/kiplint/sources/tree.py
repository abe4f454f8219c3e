"""Trees of files that are not on disk: the sets in a git revision or an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import msgspec

from kiplint.sources.disk import UNNAMED
from kiplint.sources.schema_files import (
    Keep,
    Keeper,
    SchemaFile,
    SchemaFiles,
    SourceError,
    is_walked,
    nearest,
    sorted_out,
    with_context,
)
from kiplint.text.show import printable


class FileTree(msgspec.Struct, frozen=True):
    """The JSON files of a tree.

    `name` is what the user called it; `prefix` goes before the path of a file to show it, and ends in a slash or
    colon; `home` goes before it to ask whether it is excluded. `folders` maps each folder's path, without slashes
    around it, to its files: name to whatever `read` takes to give the bytes of several.
    """

    name: str
    prefix: str
    home: str
    folders: dict[str, dict[str, Any]]
    read: Callable[[list[Any]], list[bytes]]

    def sets(self, keep: Keep) -> Iterator[SchemaFiles]:
        """One set for each folder with definitions, outer before inner; raises SourceError when there is none."""
        empty, keeper = True, Keeper(keep)
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            definitions, left_out = sorted_out(self._files(folder, keeper), certain=not folder)
            if definitions:
                empty = False
                yield SchemaFiles(self._shown(folder), definitions, relative=folder, left_out=left_out)
        if empty:
            raise keeper.nothing_in(self.name)

    def files(self, chosen: Collection[str], keep: Keep) -> SchemaFiles | None:
        """The set of some files of the outermost folder, the others there being context; None if all are excluded."""
        files = self._files("", keep)
        paths = {printable(self.prefix + name) for name in chosen}
        named = [file for file in files if file.path in paths]
        others = (SchemaFile(file.path, file.data, wanted=False) for file in files if file.path not in paths)
        return with_context(self._shown(""), named, others) if named else None

    def below(self, path: str) -> tuple[FileTree, str]:
        """The tree below a path, and the name of the file if the path is that of one; raises SourceError if neither."""
        path = path.strip("/")
        if not path:
            return self, ""
        inner = {name[len(path) :].strip("/"): self.folders[name] for name in self.folders if _is_in(name, path)}
        if inner:
            return self._at(path, inner), ""
        above, _, name = path.rpartition("/")
        if name in self.folders.get(above, {}):
            return self._at(above, {"": self.folders[above]}), name
        beside = self.folders.get(above)
        hint = nearest(name, beside, path.removesuffix(name)) if beside else nearest(path, self.folders)
        raise SourceError(f"no such path in {self.name}: {path}{hint}")

    def _at(self, path: str, folders: dict[str, dict[str, Any]]) -> FileTree:
        if not path:
            return FileTree(self.name, self.prefix, self.home, folders, self.read)
        prefix = f"{self.prefix}{path}/"
        return FileTree(prefix.rstrip("/"), prefix, f"{self.home}{path}/", folders, self.read)

    def _files(self, folder: str, keep: Keep) -> list[SchemaFile]:
        before = f"{folder}/" if folder else ""
        files = self.folders[folder]
        names = [name for name in sorted(files) if keep(self.home + before + name)]
        texts = self.read([files[name] for name in names])
        return [
            SchemaFile(printable(self.prefix + before + name), text) for name, text in zip(names, texts, strict=True)
        ]

    def _shown(self, folder: str) -> str:
        return (self.prefix + folder).rstrip("/").removesuffix("!")


def by_folder(files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Files by path, as folders of files; hidden folders and those of foreign packages are left out."""
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


def _is_in(folder: str, path: str) -> bool:
    return folder == path or folder.startswith(f"{path}/")


_REVISION = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
_INSIDE = "!/"
_PLATFORMS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which platforms name the top of the repository."""


def in_repository(path: str, names: tuple[str, ...]) -> str:
    """The path of a file relative to the top of the repository, with slashes; as it is when the file is not below it.

    `names` are the SET arguments of the run: a file out of `REV:` has its path in the repository already.
    """
    for prefix in _revisions(names):
        if path.startswith(prefix):
            return path[len(prefix) :]
    if path == UNNAMED:
        return path
    full = os.path.normpath(os.path.join(os.getcwd(), path))
    for top in _tops(os.getcwd(), *(os.environ.get(name, "") for name in _PLATFORMS)):
        if full.startswith(os.path.join(top, "")):
            return full[len(os.path.join(top, "")) :].replace(os.sep, "/")
    return path.replace(os.sep, "/")


def in_patch(path: str, names: tuple[str, ...]) -> str:
    """The name of a file in a patch that `patch -p1` and `git apply` take.

    That is relative to the working directory for a file below it, to the top of the repository for any other one of
    it, `REV:` included, and for a file of an archive to the archive.
    """
    archive, _, member = path.partition(_INSIDE)
    if member and os.path.isfile(archive):
        return member
    below = not os.path.isabs(path) and not os.path.normpath(path).startswith("..")
    revision = any(path.startswith(prefix) for prefix in _revisions(names))
    return path.replace(os.sep, "/") if below and not revision else in_repository(path, names).lstrip("/")


@cache
def _revisions(names: tuple[str, ...]) -> tuple[str, ...]:
    matches = ((name, _REVISION.match(name)) for name in names if ":" in name and _INSIDE not in name)
    return tuple(revision[0] for name, revision in matches if revision and not os.path.lexists(name))


@cache
def _tops(here: str, *named: str) -> tuple[str, ...]:
    """The possible tops of the repository: the platform's variables, git's work tree, and the working directory."""
    known = (*filter(None, named), home_of(here) or here, here)
    return tuple(dict.fromkeys(path for top in known for path in (os.path.normpath(top), os.path.realpath(top))))
