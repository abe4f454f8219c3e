"""Trees of files that are not on disk: git revisions, and archives, which are read in memory within limits."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import IO, Any, BinaryIO

import msgspec

from kiplint.limits import ARCHIVE_BYTES, ARCHIVE_ENTRIES, ARCHIVE_HEADER, Counter, Limit
from kiplint.sources.disk import UNNAMED, home_of, show_path
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
from kiplint.text.files import open_file
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean


class FileTree(msgspec.Struct, frozen=True):
    """The JSON files of a tree.

    `name` is what the user called it; `prefix` goes before the path of a file to show it, and ends in a slash or
    colon; `home` goes before it to ask whether it is excluded. `folders` maps each folder's path, without slashes
    around it, to its files: name to whatever `read` takes to give the bytes of several. `links` are the paths of links
    that are called JSON; they are not followed.
    """

    name: str
    prefix: str
    home: str
    folders: dict[str, dict[str, Any]]
    read: Callable[[list[Any]], list[bytes]]
    links: tuple[str, ...] = ()

    def sets(self, keep: Keep) -> Iterator[SchemaFiles]:
        """One set for each folder with definitions, outer before inner; raises SourceError when there is none."""
        empty, keeper = True, Keeper(keep)
        links = tuple(printable(self.prefix + link) for link in sorted(self.links) if keep(self.home + link))
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            definitions, left_out = sorted_out(self._files(folder, keeper), certain=not folder)
            if definitions:
                place = self._place_of(folder)
                yield SchemaFiles(place, definitions, relative=folder, left_out=left_out, links=links)
                empty, links = False, ()
        if empty:
            raise keeper.nothing_in(self.name, has_links=bool(links))

    def files(self, names: Collection[str], keep: Keep) -> SchemaFiles | None:
        """The set of some files of the outermost folder, the others there being context; None if all are excluded."""
        files = self._files("", keep)
        paths = {printable(self.prefix + name) for name in names}
        selection = [file for file in files if file.path in paths]
        others = (SchemaFile(file.path, file.data, is_reported=False) for file in files if file.path not in paths)
        return with_context(self._place_of(""), selection, others) if selection else None

    def below(self, path: str) -> tuple[FileTree, str]:
        """The tree below a path, and the name of the file if the path is a file; raises SourceError if neither."""
        path = path.strip("/")
        if not path:
            return self, ""
        inner = {
            folder[len(path) :].strip("/"): files
            for folder, files in self.folders.items()
            if folder == path or folder.startswith(f"{path}/")
        }
        if inner:
            return self._at(path, inner), ""
        above, _, name = path.rpartition("/")
        if name in self.folders.get(above, {}):
            return self._at(above, {"": self.folders[above]}), name
        beside = self.folders.get(above)
        hint = did_you_mean(name, beside, path.removesuffix(name)) if beside else did_you_mean(path, self.folders)
        raise SourceError(f"no such path in {self.name}: {path}{hint}")

    def _at(self, path: str, folders: dict[str, dict[str, Any]]) -> FileTree:
        if not path:
            return FileTree(self.name, self.prefix, self.home, folders, self.read, self.links)
        prefix = f"{self.prefix}{path}/"
        links = tuple(link.removeprefix(f"{path}/") for link in self.links if link.startswith(f"{path}/"))
        return FileTree(prefix.rstrip("/"), prefix, f"{self.home}{path}/", folders, self.read, links)

    def _files(self, folder: str, keep: Keep) -> list[SchemaFile]:
        before = f"{folder}/" if folder else ""
        files = self.folders[folder]
        names = [name for name in sorted(files) if keep(self.home + before + name)]
        texts = self.read([files[name] for name in names])
        return [
            SchemaFile(printable(self.prefix + before + name), text) for name, text in zip(names, texts, strict=True)
        ]

    def _place_of(self, folder: str) -> str:
        return (self.prefix + folder).rstrip("/").removesuffix("!")


def by_folder(files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Files by path, grouped by folder; hidden folders and `node_modules` are left out."""
    folders: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if not folder or all(map(is_walked, folder.split("/"))):
            folders.setdefault(folder, {})[name] = file
    return folders


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
    is_below = not os.path.isabs(path) and not os.path.normpath(path).startswith("..")
    if is_below and not path.startswith(_revisions(names)):
        return path.replace(os.sep, "/")
    return in_repository(path, names).lstrip("/")


@cache
def _revisions(names: tuple[str, ...]) -> tuple[str, ...]:
    matches = ((name, _REVISION.match(name)) for name in names if ":" in name and _INSIDE not in name)
    return tuple(revision[0] for name, revision in matches if revision and not os.path.lexists(name))


@cache
def _tops(here: str, *places: str) -> tuple[str, ...]:
    """The possible tops of the repository: the platform's variables, git's work tree, and the working directory."""
    tops = (*filter(None, places), home_of(here) or here, here)
    return tuple(dict.fromkeys(path for top in tops for path in (os.path.normpath(top), os.path.realpath(top))))


class Bounded:
    """A file with a limit on the bytes of a single read, such as that of a directory of an archive.

    Raises SourceError when the limit is reached.
    """

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name, self._file = name, file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer at the end."""
        data = self._file.read(min(size, ARCHIVE_HEADER + 1) if size >= 0 else ARCHIVE_HEADER + 1)
        if len(data) > ARCHIVE_HEADER:
            raise _too_much(self._name, ARCHIVE_HEADER)
        return data


def _too_much(name: str, limit: Limit) -> SourceError:
    return SourceError(f"cannot read {name}: {limit.exceeded('it')}")


def entry_path(name: str, entry: str) -> str:
    """The path of an entry without needless parts; raises SourceError when it leads out of the archive."""
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    if entry.startswith("/") or ".." in parts:
        raise SourceError(f"cannot read {name}: its entry {entry} leads out of the archive")
    return "/".join(parts)


def zip_files(name: str, file: Any) -> tuple[dict[str, bytes], list[str]]:
    """The JSON files of a zip archive or jar, and the links that are called so; two entries of one path are refused."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

    files: dict[str, bytes] = {}
    links: list[str] = []
    room = Counter(ARCHIVE_BYTES)
    with ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > ARCHIVE_ENTRIES:
            raise _too_much(name, ARCHIVE_ENTRIES)
        for entry in entries:
            if not entry.filename.endswith(".json"):
                continue
            path = entry_path(name, entry.filename)
            if stat.S_ISLNK(entry.external_attr >> 16):
                links.append(path)
                continue
            if entry.flag_bits & 1:
                raise SourceError(f"cannot read {name}: its entry {path} is encrypted")
            if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile unpacks others without bound
                raise SourceError(f"cannot read {name}: its entry {path} is compressed in an unusual way")
            if path in files:
                raise SourceError(f"cannot read {name}: it has two entries {path}")
            with archive.open(entry) as text:
                files[path], size = _beginning(text)
            if not room.take(size):
                raise _too_much(name, ARCHIVE_BYTES)
    return files, links


def _beginning(text: IO[bytes]) -> tuple[bytes, int]:
    """The bytes of an entry, or its beginning and its marks (`marks_of`), and the number of bytes read."""
    data = text.read(LARGEST_ENTRY)
    if len(data) < LARGEST_ENTRY:
        return data, len(data)
    marks, size = marks_of(text.read)
    return data + marks, len(data) + size


def open_archive(name: str, inner: str = "") -> tuple[FileTree, str]:
    """The tree in an archive, below a path in it, and the name of the file if the path is a file.

    An archive whose definitions all lie in one folder such as `kafka-4.0.0-src` is taken from there on, so that those
    of two releases correspond. Raises SourceError for what is not an archive, damaged, encrypted, too much, or hostile.
    """
    if not os.path.isfile(name):
        raise SourceError(f"cannot read {show_path(name)}: it is not a file")
    try:
        with open_file(name) as file:
            files, links = zip_files(show_path(name), Bounded(show_path(name), file))
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"cannot read {show_path(name)}: {error.strerror or 'the archive is damaged'}") from None
    except Exception as error:  # zipfile raises a dozen kinds for damaged archives
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise SourceError(f"cannot read {show_path(name)}: the archive is damaged ({reason})") from None
    shown = show_path(name)
    tree = FileTree(shown, f"{shown}!/", f"{name}/", by_folder(files), lambda texts: texts, tuple(links))
    tops = {path.partition("/")[0] if "/" in path else "" for path in files}
    if not inner and len(tops) == 1 and "-" in (top := tops.pop()):
        return tree.below(top)
    return tree.below(inner)
