"""The directory that a lake stands in: known by a mark, with a log of all that was put there, and one writer at a time.

    LAKE/KIPLINT-LAKE   the mark; without it nothing here is written or removed
    LAKE/WRITTEN        the log: a line for each file or directory, from before it was made
    LAKE/LOCK           held by the one process that writes

Nothing is removed that the log does not name, and no link is followed on the way to what is removed or overwritten.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.text.files import read_file, replace_file

MARK: Final = "KIPLINT-LAKE"
LOG: Final = "WRITTEN"
LOCK: Final = "LOCK"
MARKED: Final = b"This directory is a lake of `kiplint pipeline`. What its log names is its own to remove.\n"
FOLDERS: Final = ("data", "repositories", "snapshots", "staging")
OWN: Final = frozenset({MARK, LOG, LOCK, "CURRENT", *FOLDERS})
"""What may lie in a lake."""

PART: Final = re.compile(r"[A-Za-z_]{1,80}/[0-9]{6,12}-[0-9]{1,12}")
SNAPSHOT: Final = re.compile(r"[0-9]{6,12}\.json")
_NAME: Final = re.compile(
    rf"data/{PART.pattern}|snapshots/{SNAPSHOT.pattern}"
    r"|staging/[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}|repositories/\.[A-Za-z0-9_.-]{1,200}"
)
MOST_BYTES: Final = 64 << 20
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Ground:
    """The directory of one lake."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def claim(self) -> None:
        """Make the directory that of a lake, if it is not yet; raises UsageError when it is something else's."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            there = {one.name for one in self.path.iterdir()}
            if not there:
                replace_file(str(self.path / MARK), MARKED)
            elif MARK not in there or self._is_link(MARK) or read_file(str(self.path / MARK)) != MARKED:
                what = "CURRENT, but no mark of this kiplint's" if "CURRENT" in there else min(there - OWN or there)
                raise UsageError(f"{self.path} is not empty and no lake: it holds {what}")
        except OSError as error:
            raise UsageError(f"cannot write the lake {self.path}: {error.strerror}") from None
        for name in (*FOLDERS, LOG):
            if self._is_link(name):
                raise UsageError(f"cannot write the lake {self.path}: {name} is a link")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the one writer; raises UsageError when there is another."""
        with self._opened(LOCK) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.read(lock, 100).decode("ascii", "replace").strip()
                raise UsageError(f"{self.path} is being written by {owner or 'another process'}; wait for it") from None
            os.ftruncate(lock, 0)
            os.write(lock, f"process {os.getpid()}\n".encode())
            yield

    def note(self, name: str) -> None:
        """Enter into the log what is about to be made; raises OSError."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of anything in a lake")
        with self._opened(LOG) as log:
            os.lseek(log, 0, os.SEEK_END)
            os.write(log, f"{name}\n".encode())

    def noted(self) -> tuple[str, ...]:
        """What the log names, as far as these are names of anything in a lake."""
        try:
            lines = read_file(str(self.path / LOG), MOST_BYTES).decode("ascii", "replace").splitlines()
        except FileNotFoundError:
            return ()
        return tuple(dict.fromkeys(line for line in lines if _NAME.fullmatch(line)))

    def sweep(self, kept: Callable[[str], bool]) -> None:
        """Remove what the log names, but for what is kept; what cannot be removed, or may come back, stays in it."""
        names = self.noted()
        for name in names:
            if not kept(name):
                self._remove(name)
        left = [name for name in names if os.path.lexists(self.path / name)]
        returning = [name for name in names if name.startswith("staging/") and name not in left]
        lines = "".join(f"{name}\n" for name in [*returning[-1000:], *left])
        replace_file(str(self.path / LOG), lines.encode())

    def _remove(self, name: str) -> None:
        place = self.path
        for part in name.split("/"):
            if place.is_symlink():
                return
            place /= part
        with suppress(OSError):
            mode = place.lstat().st_mode
            if stat.S_ISDIR(mode):
                shutil.rmtree(place, ignore_errors=True)
            elif stat.S_ISREG(mode):
                place.unlink()

    def _is_link(self, name: str) -> bool:
        return (self.path / name).is_symlink()

    @contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """A file of the lake's own, to be written in place; raises UsageError for a link, of whatever kind."""
        try:
            file = os.open(self.path / name, _FLAGS, 0o666)
        except OSError as error:
            said = "is a link" if error.errno == errno.ELOOP else f"{error.strerror}"
            raise UsageError(f"cannot write the lake {self.path}: {name} {said}") from None
        try:
            known = os.fstat(file)
            if not stat.S_ISREG(known.st_mode) or known.st_nlink > 1:
                raise UsageError(f"cannot write the lake {self.path}: {name} is no file of its own")
            yield file
        finally:
            os.close(file)
