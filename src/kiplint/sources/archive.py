"""Zip archives and jars, which are read in memory within limits."""

from __future__ import annotations

import os
import stat
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from kiplint.limits import ARCHIVE_BYTES, ARCHIVE_ENTRIES, ARCHIVE_HEADER, Limit
from kiplint.sources.disk import show_path
from kiplint.sources.schema_files import LARGEST_ENTRY, SourceError
from kiplint.sources.tree import FileTree, by_folder
from kiplint.text.files import open_file
from kiplint.text.words import did_you_mean


def open_archive(name: str, inner: str = "") -> tuple[FileTree, str]:
    """The tree in an archive, below a path in it, and the name of the file if the path is a file.

    An archive whose definitions all lie in one folder such as `kafka-4.0.0-src` is taken from there on, so that those
    of two releases correspond. Raises SourceError for what is not an archive, damaged, encrypted, too much, or hostile.
    """
    shown = show_path(name)
    if not os.path.isfile(name):
        raise SourceError(f"cannot read {shown}: it is not a file")
    try:
        with open_file(name) as opened:
            files, links = _read_zip(shown, _BoundedFile(shown, opened))
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"cannot read {shown}: {error.strerror or 'the archive is damaged'}") from None
    except Exception as error:  # zipfile raises a dozen kinds for damaged archives
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise SourceError(f"cannot read {shown}: the archive is damaged ({reason})") from None
    tops = {path.partition("/")[0] if "/" in path else "" for path in files}
    folder, file = inner.strip("/"), ""
    if not folder and len(tops) == 1 and "-" in (top := tops.pop()):
        folder = top
    if folder in files:
        folder, _, file = folder.rpartition("/")
    before = f"{folder}/" if folder else ""
    files_below = {path.removeprefix(before): data for path, data in files.items() if path.startswith(before)}
    if not files_below and folder:
        folders = {path.rpartition("/")[0] for path in files}
        raise SourceError(f"no such path in {shown}: {folder}{did_you_mean(folder, {*files, *folders})}")
    links_below = tuple(link.removeprefix(before) for link in links if link.startswith(before))
    label = f"{shown}!/{folder}" if folder else shown
    folders_below = by_folder(files_below)
    return FileTree(
        label, f"{shown}!/{before}", f"{name}/{before}", folders_below, lambda data: data, links_below
    ), file


class _BoundedFile:
    """A file with a limit on the bytes of a single read, such as that of the directory of an archive."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name, self._file = name, file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer at the end; raises SourceError when the limit is reached."""
        data = self._file.read(min(size, ARCHIVE_HEADER + 1) if size >= 0 else ARCHIVE_HEADER + 1)
        if len(data) > ARCHIVE_HEADER:
            raise _too_much(self._name, ARCHIVE_HEADER)
        return data


def _too_much(name: str, limit: Limit) -> SourceError:
    return SourceError(f"cannot read {name}: {limit.exceeded('it')}")


def _read_zip(name: str, file: Any) -> tuple[dict[str, bytes], list[str]]:
    """The JSON files of an archive, and the links that are called so; two entries of one path are refused."""
    files: dict[str, bytes] = {}
    links: list[str] = []
    total = 0
    with ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > ARCHIVE_ENTRIES:
            raise _too_much(name, ARCHIVE_ENTRIES)
        for entry in entries:
            if not entry.filename.endswith(".json"):
                continue
            path = _path_of(name, entry.filename)
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
                files[path] = text.read(LARGEST_ENTRY)
            total += len(files[path])
            if total > ARCHIVE_BYTES:
                raise _too_much(name, ARCHIVE_BYTES)
    return files, links


def _path_of(name: str, entry: str) -> str:
    """The path of an entry without needless parts; raises SourceError when it leads out of the archive."""
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    if entry.startswith("/") or ".." in parts:
        raise SourceError(f"cannot read {name}: its entry {entry} leads out of the archive")
    return "/".join(parts)
