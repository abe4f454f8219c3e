"""Schema sets in archives: jar, zip, tar and its compressed kinds. Read in memory within limits, never extracted."""

from __future__ import annotations

import os
import stat
from typing import IO, Any, BinaryIO

from kiplint.sources.disk import shown
from kiplint.sources.recognize import LARGEST_ENTRY, marks_of
from kiplint.sources.schema_files import SourceError
from kiplint.sources.tree import FileTree, by_folder
from kiplint.text.files import open_file

MOST_ENTRIES = 100_000
MOST_BYTES = 256 << 20
"""What an archive may come to, unpacked: the files that are read, of a compressed tar file all."""

LARGEST_REQUEST = 32 << 20
"""What an archive may ask for in one piece by the sizes that it declares; a directory of entries is one piece."""


class Bounded:
    """A file that gives out so many bytes and no more, and that can only be read forwards unless it is `seekable`.

    `last` is what was read last. Raises SourceError when the limit is reached.
    """

    def __init__(self, name: str, file: Any, *, seekable: bool) -> None:
        self._name, self._file, self._seekable = name, file, seekable
        self._given = 0
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer at the end."""
        self.last = self._file.read(min(size, LARGEST_REQUEST + 1) if size >= 0 else LARGEST_REQUEST + 1)
        if len(self.last) > LARGEST_REQUEST:
            raise SourceError(
                f"cannot read {self._name}: its directory or a header has over {LARGEST_REQUEST >> 20} MiB"
            )
        self._given += 0 if self._seekable else len(self.last)
        if self._given > MOST_BYTES:
            raise too_much(self._name)
        return self.last

    def tell(self) -> int:
        """The place of the next byte."""
        return int(self._file.tell() if self._seekable else self._given)

    def seek(self, to: int, whence: int = 0) -> int:
        """Go to a place, forwards by reading."""
        if self._seekable:
            return int(self._file.seek(to, whence))
        if whence or to < self._given:
            raise ValueError("it leads backwards")
        while self._given < to and self.read(min(to - self._given, 1 << 16)):
            pass
        return self._given

    def seekable(self) -> bool:
        """Whether reading can go back."""
        return self._seekable


def too_much(name: str) -> SourceError:
    """The error of an archive bomb."""
    return SourceError(f"cannot read {name}: unpacked, it has more than {MOST_BYTES >> 20} MiB")


def entry_path(name: str, entry: str) -> str:
    """The path of an entry without needless parts; raises SourceError when it leads out of the archive."""
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    if entry.startswith("/") or ".." in parts:
        raise SourceError(f"cannot read {name}: its entry {entry} leads out of the archive")
    return "/".join(parts)


def zip_files(name: str, file: Any) -> dict[str, bytes]:
    """The JSON files of a zip archive or jar. Links are left out; two entries of one path are refused."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

    files: dict[str, bytes] = {}
    remaining = MOST_BYTES
    with ZipFile(file) as opened:
        entries = opened.infolist()
        if len(entries) > MOST_ENTRIES:
            raise _too_many(name)
        for entry in entries:
            if not entry.filename.endswith(".json") or stat.S_ISLNK(entry.external_attr >> 16):
                continue
            path = entry_path(name, entry.filename)
            if entry.flag_bits & 1:
                raise SourceError(f"cannot read {name}: its entry {path} is encrypted")
            if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile unpacks others without bound
                raise SourceError(f"cannot read {name}: its entry {path} is compressed in an unusual way")
            if path in files:
                raise SourceError(f"cannot read {name}: it has two entries {path}")
            with opened.open(entry) as text:
                files[path], size = _beginning(text)
            remaining -= size
            if remaining < 0:
                raise too_much(name)
    return files


def tar_files(name: str, file: Bounded) -> dict[str, bytes]:
    """The JSON files of a tar archive. Links and devices are left out; of two entries of one path, the last counts."""
    from tarfile import TarFile

    files: dict[str, bytes] = {}
    remaining = MOST_BYTES
    with TarFile(fileobj=file) as opened:  # type: ignore[arg-type]
        for count, entry in enumerate(opened, 1):
            if count > MOST_ENTRIES:
                raise _too_many(name)
            text = opened.extractfile(entry) if entry.isreg() and entry.name.endswith(".json") else None
            if text:
                path = entry_path(name, entry.name)
                files[path], size = _beginning(text)
                remaining -= size
            if remaining < 0:
                raise too_much(name)
        if file.last.strip(b"\0"):  # tarfile takes a damaged header for the end
            raise SourceError(f"cannot read {name}: the archive is damaged (it ends too early)")
    return files


def _beginning(text: IO[bytes]) -> tuple[bytes, int]:
    """An entry, or its beginning and what tells its kind, and how many of its bytes were read."""
    data = text.read(LARGEST_ENTRY)
    if len(data) < LARGEST_ENTRY:
        return data, len(data)
    marks, size = marks_of(text.read)
    return data + marks, len(data) + size


def _too_many(name: str) -> SourceError:
    return SourceError(f"cannot read {name}: it has more than {MOST_ENTRIES} entries")


def open_archive(name: str, inner: str = "") -> tuple[FileTree, str]:
    """The tree in an archive, below a path in it, and the name of the file if the path is that of one.

    An archive whose definitions all lie in one folder such as `kafka-4.0.0-src` is taken from there on, so that those
    of two releases correspond. Raises SourceError for what is no archive, damaged, encrypted, too much, or hostile.
    """
    if not os.path.isfile(name):
        raise SourceError(f"cannot read {shown(name)}: it is no file")
    try:
        with open_file(name) as file:
            files = _files(shown(name), file)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"cannot read {shown(name)}: {error.strerror or 'the archive is damaged'}") from None
    except Exception as error:  # zipfile and tarfile raise a dozen kinds for damaged archives
        raise SourceError(f"cannot read {shown(name)}: the archive is damaged ({_reason(error)})") from None
    tree = FileTree(shown(name), f"{shown(name)}!/", f"{name}/", by_folder(files), lambda texts: texts)
    tops = {path.partition("/")[0] if "/" in path else "" for path in files}
    if not inner and len(tops) == 1 and "-" in (top := tops.pop()):
        return tree.below(top)
    return tree.below(inner)


def _files(name: str, file: BinaryIO) -> dict[str, bytes]:

    beginning = file.read(6)
    file.seek(0)
    if beginning.startswith(b"\x1f\x8b"):
        from gzip import GzipFile

        return tar_files(name, Bounded(name, GzipFile(fileobj=file), seekable=False))
    if beginning.startswith(b"BZh"):
        from bz2 import BZ2File

        return tar_files(name, Bounded(name, BZ2File(file), seekable=False))
    if beginning == b"\xfd7zXZ\0":
        from lzma import LZMAFile

        return tar_files(name, Bounded(name, LZMAFile(file), seekable=False))
    plain = Bounded(name, file, seekable=True)
    if beginning.startswith(b"PK") or name.lower().endswith((".jar", ".zip")):
        return zip_files(name, plain)
    return tar_files(name, plain)


def _reason(error: Exception) -> str:
    reason = str(error).partition("\n")[0]
    return reason or type(error).__name__
