"""Reading and writing of untrusted files: only regular files, within a limit, and no links."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from contextlib import suppress
from typing import Final, TextIO

from kiplint.limits import TEXT_BYTES, Limit


def read_file(path: str, max_bytes: int = TEXT_BYTES, *, cut: bool = False, follow_links: bool = True) -> bytes:
    """The bytes of a regular file, or only its first `max_bytes` if it may be `cut`.

    Raises OSError, its `strerror` fit to follow a colon, for a file of more than `max_bytes` that may not be cut, for
    anything but a regular file, and for a link unless `follow_links`.
    """
    try:
        _require_regular(
            os.stat(path, follow_symlinks=follow_links).st_mode, path
        )  # opening a pipe waits for its writer
        with open(path, "rb") as file:
            data = file.read(max_bytes if cut else max_bytes + 1)
    except ValueError:
        raise OSError(errno.EINVAL, "the file name is not valid", path) from None
    if len(data) > max_bytes:
        limit = max_bytes if isinstance(max_bytes, Limit) else Limit(max_bytes, "bytes", "a file")
        raise OSError(errno.EFBIG, limit.exceeded("it"), path)
    return data


def relative_path(path: str, start: str = os.curdir) -> str:
    """A path relative to a directory, with slashes; on Windows the full path where that is on another drive."""
    try:
        path = os.path.relpath(path, start)
    except ValueError:
        path = os.path.abspath(path)
    return path.replace(os.sep, "/")


class Disk:
    """Reads configurations, packs and baselines from disk; a subclass reads them from elsewhere, such as a revision."""

    def read(self, path: str, max_bytes: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file, at most `max_bytes`; raises OSError and cuts as `read_file` does."""
        return read_file(path, max_bytes, cut=cut)

    def read_text(self, path: str) -> str:
        """The text of a file; raises OSError as `read` does, and for what is not UTF-8."""
        try:
            return self.read(path).decode()
        except UnicodeDecodeError:
            raise OSError(errno.EILSEQ, "it is not UTF-8", path) from None

    def is_file(self, path: str) -> bool:
        """Whether there is a file at a path."""
        return os.path.isfile(path)

    def real_path(self, path: str) -> str:
        """The absolute path, with links resolved."""
        return os.path.realpath(path)


DISK: Final = Disk()


def open_to_write(path: str, *, append: bool = False) -> TextIO:
    """A regular file, open for writing text, which is created unless it exists. With `append` its content stays.

    Raises OSError, its `strerror` fit to follow a colon, for anything else: a link could lead a report anywhere. Only
    devices and links of the system, such as `/dev/stdout`, are opened, too.
    """
    _require_outside_git(path)
    if os.path.lexists(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/")):
        _require_regular(os.lstat(path).st_mode, path)
    return open(path, "a" if append else "w", encoding="utf-8", newline="\n")


def replace_file(path: str, data: bytes) -> None:
    """Write a file completely or not at all; a file that it replaces keeps its mode and, if possible, its owner.

    Raises OSError, also when the path is something else than a regular file, such as a link.
    """
    _require_outside_git(path)
    status = os.lstat(path) if os.path.lexists(path) else None
    if status is not None:
        _require_regular(status.st_mode, path)
    folder, name = os.path.split(path)
    _remove_leftovers(folder or os.curdir, name)
    temporary_path = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.kiplint")
    try:
        with open(temporary_path, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is not None:
            _copy_owner(status, temporary_path)
            os.chmod(temporary_path, stat.S_IMODE(status.st_mode) & 0o777)
        os.replace(temporary_path, path)
    except BaseException:  # such as that of a signal, which may come before the file is there, or after it was renamed
        with suppress(FileNotFoundError):
            os.unlink(temporary_path)
        raise


LEFTOVER_AGE: Final = 60.0
"""The seconds after which a temporary file no longer belongs to a run: writing one takes milliseconds."""


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove the temporary files that killed runs left behind when they wrote a file of this name."""
    pattern = re.compile(rf"\.{re.escape(name[:100])}\.[0-9a-f]{{16}}\.kiplint")
    with os.scandir(folder) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # another run may remove it at the same time
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFTOVER_AGE:
                        os.unlink(entry.path)


def _copy_owner(status: os.stat_result, path: str) -> None:
    """Give a file the owner and the group of another; only root can, and others own what they write anyway."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)


def _require_outside_git(path: str) -> None:
    """Raise OSError for a path below a directory `.git`, because git runs some of the files in it."""
    folders = os.path.dirname(os.path.realpath(path)).lower().split(os.sep)
    if ".git" in folders:
        raise OSError(errno.EINVAL, "it is below .git, where nothing is written", path)


def _require_regular(mode: int, path: str) -> None:
    """Raise OSError for a path whose `st_mode` is not that of a regular file."""
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link", path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file", path)
