"""Jars, zip archives and compressed tarballs, which are read in memory within limits."""

from __future__ import annotations

import gzip
import io
import posixpath
import stat
import tarfile
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from kiplint.limits import ARCHIVE_BYTES, ARCHIVE_ENTRIES
from kiplint.sources.disk import show_path
from kiplint.sources.schema_files import MAX_BYTES_READ, FileTree, SourceError, by_folder
from kiplint.text.files import read_file
from kiplint.text.words import did_you_mean

TARBALLS = (".tgz", ".tar.gz")
ARCHIVES = (".jar", ".zip", *TARBALLS)
"""The suffixes of archive names."""

_ENTRY_MARK = b"PK\1\2"
"""The first bytes of each entry in the directory of an archive."""


def open_archive(name: str, path: str = "") -> tuple[FileTree, str]:
    """The tree below a path in an archive, and an empty name; for a file, the tree of its folder and the file's name.

    Without a path, an archive with a single top folder that has a hyphen, such as `kafka-4.0.0-src`, is read from there
    on, so that the files of two releases have the same paths. Raises SourceError for what is not an archive, damaged,
    encrypted or beyond a limit.
    """
    shown_name = show_path(name)
    try:
        if name.lower().endswith(TARBALLS):
            files, links = _read_tarball(shown_name, name)
        else:
            files, links = _read_zip(shown_name, read_file(name, ARCHIVE_BYTES))
    except SourceError:
        raise
    except Exception as error:  # zipfile and tarfile raise a dozen kinds for damaged archives
        first_line, _, _ = str(error).partition("\n")
        reason = f"the archive is damaged ({first_line or type(error).__name__})"
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise SourceError(f"cannot read {shown_name}: {reason}") from None
    folder, file = path.strip("/"), ""
    top, *other_tops = sorted({file_path.partition("/")[0] for file_path in files}) or [""]
    if not folder and not other_tops and "-" in top and top not in files:
        folder = top
    if folder in files:
        folder, _, file = folder.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    files_below = {key.removeprefix(prefix): data for key, data in files.items() if key.startswith(prefix)}
    if not files_below and folder:
        folders = {file_path.rpartition("/")[0] for file_path in files}
        raise SourceError(f"no such path in {shown_name}: {folder}{did_you_mean(folder, {*files, *folders})}")
    links_below = tuple(link.removeprefix(prefix) for link in links if link.startswith(prefix))
    label = f"{shown_name}!/{folder}" if folder else shown_name
    tree = FileTree(label, f"{shown_name}!/{prefix}", f"{name}/{prefix}", by_folder(files_below), links=links_below)
    return tree, file


def _read_zip(name: str, data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """The JSON files of an archive by path, each cut at `MAX_BYTES_READ`, and the paths of links to JSON files."""
    if data.count(_ENTRY_MARK) > ARCHIVE_ENTRIES:
        raise SourceError(f"cannot read {name}: {ARCHIVE_ENTRIES.exceeded('it')}")
    files: dict[str, bytes] = {}
    links: list[str] = []
    total_size = 0
    with ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            path = posixpath.normpath(entry.filename)
            if not path.endswith(".json"):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):  # the upper half has the mode of the file
                links.append(path)
                continue
            if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile unpacks others without bound
                raise SourceError(f"cannot read {name}: its entry {path} uses an unsupported compression")
            with archive.open(entry) as file:
                files[path] = file.read(MAX_BYTES_READ)
            total_size += len(files[path])
            if total_size > ARCHIVE_BYTES:
                raise SourceError(f"cannot read {name}: {ARCHIVE_BYTES.exceeded('it')}")
    return files, links


def _read_tarball(name: str, path: str) -> tuple[dict[str, bytes], list[str]]:
    """The JSON files of a compressed tarball by path, and the paths of links to JSON files, as `_read_zip` gives them.

    It is read as a stream: a source release of Kafka has a hundred times as many bytes as its definitions.
    """
    files: dict[str, bytes] = {}
    links: list[str] = []
    with gzip.open(path) as data, tarfile.open(fileobj=_BoundedReader(name, data), mode="r|") as archive:
        for count, entry in enumerate(archive, 1):
            if count > ARCHIVE_ENTRIES:
                raise SourceError(f"cannot read {name}: {ARCHIVE_ENTRIES.exceeded('it')}")
            entry_path = posixpath.normpath(entry.name)
            if not entry_path.endswith(".json"):
                continue
            if entry.issym() or entry.islnk():
                links.append(entry_path)
            elif file := archive.extractfile(entry):
                files[entry_path] = file.read(MAX_BYTES_READ)
    return files, links


class _BoundedReader(io.RawIOBase):
    """Reads the unpacked bytes of an archive; raises SourceError beyond the limit."""

    def __init__(self, name: str, data: io.BufferedIOBase) -> None:
        self._name, self._data, self._size = name, data, 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._data.read(size)
        self._size += len(chunk)
        if self._size > ARCHIVE_BYTES:
            raise SourceError(f"cannot read {self._name}: {ARCHIVE_BYTES.exceeded('it')}")
        return chunk
