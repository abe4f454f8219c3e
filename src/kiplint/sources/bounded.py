"""What an archive may hold, and what it may come to: limits that keep a bomb or a forged path from doing harm."""

from __future__ import annotations

from typing import Any

from kiplint.sources.schema_files import SourceError

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
