"""Reading and writing of files that strangers may have made: regular ones only, within a limit, and no links."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, Final, TextIO

from kiplint.limits import TEXT_BYTES, Limit


def open_file(path: str, *, links: bool = True) -> BinaryIO:
    """A regular file, open for reading; raises OSError for anything else, its `strerror` fit to follow a colon.

    Unless `links` are followed, a link is none.
    """
    try:
        _require_regular(os.stat(path, follow_symlinks=links).st_mode, path)  # a pipe may have no writer
        return open(path, "rb")
    except ValueError:
        raise OSError(errno.EINVAL, "there can be no file of that name", path) from None


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

    def read_text(self, path: str) -> str:
        """The text of a file; raises OSError as `read` does, and for what is not UTF-8."""
        try:
            return self.read(path).decode()
        except UnicodeDecodeError:
            raise OSError(errno.EILSEQ, "it is not UTF-8", path) from None

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return os.path.isfile(path)

    def real(self, path: str) -> str:
        """The absolute path, links resolved."""
        return os.path.realpath(path)


DISK: Final = Disk()


def open_to_write(path: str, *, append: bool = False) -> TextIO:
    """A regular file, made if need be, to write text to. Raises OSError, its `strerror` fit to follow a colon.

    The system's own devices and links, such as /dev/stdout, will do; elsewhere one could lead a report anywhere.
    """
    _require_outside_git(path)
    if os.path.lexists(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/")):
        _require_regular(os.lstat(path).st_mode, path)
    return open(path, "a" if append else "w", encoding="utf-8", newline="\n")


def replace_file(path: str, data: bytes) -> None:
    """Put a file in the place of another one or of none: whole, or not at all, and with the mode of the other one.

    Raises OSError, also when something else than a file is there, such as a link.
    """
    _require_outside_git(path)
    mode = os.lstat(path).st_mode if os.path.lexists(path) else None
    if mode is not None:
        _require_regular(mode, path)
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.kiplint")
    file = open(fresh, "xb")  # noqa: SIM115  # what fails before there is a file leaves nothing to remove
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(fresh, stat.S_IMODE(mode) & 0o777)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


def _require_outside_git(path: str) -> None:
    """Raise OSError for a path below a directory `.git`, links resolved: what lies there can be a command of git."""
    if ".git" in os.path.realpath(path).lower().split(os.sep)[:-1]:
        raise OSError(errno.EINVAL, "it is below .git, where nothing is written", path)


def _require_regular(mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link", path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file", path)
