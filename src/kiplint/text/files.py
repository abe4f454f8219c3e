"""Safe reading and writing of untrusted files.

Only regular files are read, within a limit and without waiting: a pipe may have no writer, a device no end. A file is
replaced as a whole, and links are not followed.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from fnmatch import translate
from functools import lru_cache
from typing import BinaryIO, Final, TextIO

from kiplint.limits import TEXT_BYTES, Limit


def _flags(names: str) -> int:
    """Those of the flags that the system has."""
    return sum(getattr(os, f"O_{name}", 0) for name in names.split())


_READING: Final = os.O_RDONLY | _flags("BINARY CLOEXEC NOCTTY NONBLOCK NOINHERIT")
_WRITING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flags("BINARY CLOEXEC NOFOLLOW NOINHERIT")
_SENDING: Final = os.O_WRONLY | os.O_CREAT | _flags("CLOEXEC NOCTTY NONBLOCK NOINHERIT")
_NO_LINKS: Final = _flags("NOFOLLOW")
_OF_THE_SYSTEM: Final = ("/dev", "/proc")


def open_file(path: str, *, links: bool = True) -> BinaryIO:
    """A regular file, open for reading; raises OSError for anything else, its `strerror` fit to follow a colon.

    Unless `links` are followed, a link is none: the `errno` is then one of `IS_LINK`.
    """
    try:
        if not links and not _NO_LINKS and os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        _require_regular(os.stat(path).st_mode, path)  # opening alone can set a device going
        file = os.open(path, _READING if links else _READING | _NO_LINKS)
    except ValueError:
        raise OSError(errno.EINVAL, "there can be no file of that name", path) from None
    try:
        _require_regular(os.fstat(file).st_mode, path)
    except OSError:
        os.close(file)
        raise
    return os.fdopen(file, "rb")


def read_file(path: str, most: int = TEXT_BYTES, *, cut: bool = False, links: bool = True) -> bytes:
    """The bytes of a regular file; raises OSError as `open_file` does, and for one of more than `most` bytes.

    One that may be `cut` has its beginning read then: `most` bytes.
    """
    with open_file(path, links=links) as file:
        data = file.read(most if cut else most + 1)
    if len(data) > most:
        limit = most if isinstance(most, Limit) else Limit(most, "bytes", "a file")
        raise OSError(errno.EFBIG, limit.exceeded("it"), path)
    return data


class Disk:
    """The files that configurations, packs and baselines are read from; subclasses have others than those on disk."""

    def read(self, path: str, most: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file; raises OSError as `read_file` does."""
        return read_file(path, most, cut=cut)

    def read_text(self, path: str, most: int = TEXT_BYTES) -> str:
        """The text of a file; raises OSError as `read` does, and for what is not UTF-8."""
        try:
            return self.read(path, most).decode()
        except UnicodeDecodeError:
            raise OSError(errno.EILSEQ, "it is not UTF-8", path) from None

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return os.path.isfile(path)

    def exists(self, path: str) -> bool:
        """Whether there is anything of that name."""
        return os.path.lexists(path)

    def real(self, path: str) -> str:
        """The absolute path, links resolved."""
        return os.path.realpath(path)


DISK: Final = Disk()


def read_text(path: str, most: int = TEXT_BYTES) -> str:
    """The text of a file on disk; raises OSError as `Disk.read_text` does."""
    return DISK.read_text(path, most)


def standard_input() -> BinaryIO:
    """Standard input; raises OSError with a file name if it is closed."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed", "standard input")
    return sys.stdin.buffer


def require_outside_git(path: str) -> None:
    """Raise OSError for a path below a directory `.git`, links resolved: what lies there can be a command of git."""
    if ".git" in os.path.realpath(path).lower().split(os.sep)[:-1]:
        raise OSError(errno.EINVAL, "it is below .git, where nothing is written", path)


def open_to_write(path: str, *, append: bool = False) -> TextIO:
    """A file, made if need be, to write text to; a device or a pipe that somebody reads will do.

    A link is followed to a file beside it, and where the system has its own, such as /dev/stdout; elsewhere it could
    lead a report anywhere. Raises OSError, its `strerror` fit to follow a colon.
    """
    try:
        require_outside_git(path)
        place = os.path.dirname(os.path.abspath(path))
        if os.path.islink(path) and not place.startswith(_OF_THE_SYSTEM) and not append:
            target = os.path.realpath(path)
            if os.path.dirname(target) != os.path.realpath(place):
                raise OSError(errno.ELOOP, f"it is a link to {target}, outside of its directory", path)
        # Opening a pipe waits for a reader, and writing to one that is full for it to be read.
        file = os.open(path, _SENDING | (os.O_APPEND if append else os.O_TRUNC), 0o666)
    except ValueError:
        raise OSError(errno.EINVAL, "there can be no file of that name", path) from None
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(errno.ENXIO, "it is a socket, or a pipe that nobody reads", path) from None
    if hasattr(os, "set_blocking"):
        os.set_blocking(file, True)
    # By its path, so that the file knows its name.
    return open(path, "a" if append else "w", encoding="utf-8", newline="\n", opener=lambda path, flags: file)


def replace_file(path: str, data: bytes, mode: int = 0o666) -> None:
    """Put a file in the place of another one or of none: whole, or not at all. A link there is replaced, not followed.

    It has the mode and the owner of the file that was there, else `mode` as the umask leaves it. Raises OSError, also
    when something else than a file is there.
    """
    require_outside_git(path)
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.kiplint")
    try:
        former: os.stat_result | None = os.lstat(path)
    except FileNotFoundError:
        former = None
    if former and not stat.S_ISLNK(former.st_mode):
        _require_regular(former.st_mode, path)
    file = os.open(fresh, _WRITING, mode)
    try:
        with os.fdopen(file, "wb") as out:
            if former and stat.S_ISREG(former.st_mode) and hasattr(os, "fchmod"):
                with suppress(OSError, AttributeError):  # only the administrator may give files away
                    os.fchown(file, former.st_uid, former.st_gid)
                os.fchmod(file, stat.S_IMODE(former.st_mode) & 0o777)
            out.write(data)
            out.flush()
            os.fsync(file)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


IS_LINK: Final = (errno.ELOOP, errno.EMLINK)
"""What opening a link is an error of, depending on the system."""


def _require_regular(mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file", path)


WILDCARDS: Final = "*?["


def fits(text: str, glob: str) -> bool:
    """Whether a glob, which takes case as it is, fits a whole text."""
    return _matcher(glob)(text) is not None if any(sign in glob for sign in WILDCARDS) else text == glob


@lru_cache(maxsize=20_000)
def _matcher(glob: str) -> Callable[[str], object]:
    return re.compile(translate(glob)).match
