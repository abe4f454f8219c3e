"""The JSON files of zip and tar archives: path to bytes."""

from __future__ import annotations

import stat
from typing import IO, Any

from kiplint.sources import bounded
from kiplint.sources.recognize import LARGEST_ENTRY, marks_of
from kiplint.sources.schema_files import SourceError


def zip_files(name: str, file: Any) -> dict[str, bytes]:
    """The JSON files of a zip archive or jar. Links are left out; two entries of one path are refused."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

    files: dict[str, bytes] = {}
    left = bounded.MOST_BYTES
    with ZipFile(file) as opened:
        entries = opened.infolist()
        if len(entries) > bounded.MOST_ENTRIES:
            raise _too_many(name)
        for entry in entries:
            if not entry.filename.endswith(".json") or stat.S_ISLNK(entry.external_attr >> 16):
                continue
            path = bounded.entry_path(name, entry.filename)
            if entry.flag_bits & 1:
                raise SourceError(f"cannot read {name}: its entry {path} is encrypted")
            if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile unpacks others without bound
                raise SourceError(f"cannot read {name}: its entry {path} is compressed in an unusual way")
            if path in files:
                raise SourceError(f"cannot read {name}: it has two entries {path}")
            with opened.open(entry) as text:
                files[path], size = _beginning(text)
            left -= size
            if left < 0:
                raise bounded.too_much(name)
    return files


def tar_files(name: str, file: bounded.Bounded) -> dict[str, bytes]:
    """The JSON files of a tar archive. Links and devices are left out; of two entries of one path, the last counts."""
    from tarfile import TarFile

    files: dict[str, bytes] = {}
    left = bounded.MOST_BYTES
    with TarFile(fileobj=file) as opened:  # type: ignore[arg-type]
        for count, entry in enumerate(opened, 1):
            if count > bounded.MOST_ENTRIES:
                raise _too_many(name)
            text = opened.extractfile(entry) if entry.isreg() and entry.name.endswith(".json") else None
            if text:
                path = bounded.entry_path(name, entry.name)
                files[path], size = _beginning(text)
                left -= size
            if left < 0:
                raise bounded.too_much(name)
        if file.last.strip(b"\0"):  # tarfile takes a damaged header for the end
            raise SourceError(f"cannot read {name}: the archive is damaged (it ends too early)")
    return files


def _beginning(text: IO[bytes]) -> tuple[bytes, int]:
    """An entry, or its beginning and what tells its kind, and how many of its bytes were read."""
    data = text.read(LARGEST_ENTRY)
    if len(data) < LARGEST_ENTRY:
        return data, len(data)
    marks, seen = marks_of(text.read)
    return data + marks, len(data) + seen


def _too_many(name: str) -> SourceError:
    return SourceError(f"cannot read {name}: it has more than {bounded.MOST_ENTRIES} entries")
