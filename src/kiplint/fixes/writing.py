"""Putting new bytes into files: all of the new or all of the old ones, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

_SUFFIX: Final = ".kiplint-new"
_LEFT_OVER: Final = re.compile(rf"\.([0-9]{{1,10}})-[0-9]+{re.escape(_SUFFIX)}")
_REASONS: Final = {
    errno.ENOSPC: "there is no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "it is on a read-only file system",
    errno.EACCES: "its directory may not be written to",
    errno.EPERM: "it may not be replaced",
    errno.ENOENT: "it is gone",
    errno.ENOTDIR: "it is gone",
    errno.ELOOP: "it is a link that leads in a circle",
}


class NotWritten(Exception):  # noqa: N818
    """A file could not be replaced, and why. All other files are as they were, unless the message says more."""


class Replacement(msgspec.Struct, frozen=True):
    """New bytes for a file; `before` are those that it had when they were made."""

    path: Path
    before: bytes
    after: bytes


def replace_files(replacements: Sequence[Replacement], within: Sequence[Path] = ()) -> None:
    """Replace the files' bytes, in the order given; their modes stay.

    All new files are written beside the old ones before the first takes its place, so that a full disk changes
    nothing. Each takes its place at once (rename). A link is followed when it leads to a regular file inside one of
    the directories `within` or its own.

    Raises NotWritten for a file that is read-only, has changed since it was read, is gone or no regular file, and
    when there is no room for it.
    """
    targets = [_target(one.path, within) for one in replacements]
    for directory in {target.parent for target in targets}:
        _tidy(directory)
    fresh: list[Path] = []
    try:
        for number, (one, target) in enumerate(zip(replacements, targets, strict=True)):
            fresh.append(target.parent / f".{os.getpid()}-{number}{_SUFFIX}")
            with _explained(one.path):
                _write(fresh[-1], one.after, target)
        for one, target in zip(replacements, targets, strict=True):
            _is_unchanged(one, target)
        for number, (one, target, new) in enumerate(zip(replacements, targets, fresh, strict=True)):
            with _explained(one.path, f"; files written before it: {number}" if number else ""):
                new.replace(target)
    finally:
        for new in fresh:
            new.unlink(missing_ok=True)
    for directory in {target.parent for target in targets}:
        _sync(directory)


def _target(path: Path, within: Sequence[Path]) -> Path:
    """The file to replace; raises NotWritten when it is none that may be."""
    with _explained(path):
        target = Path(os.path.realpath(path, strict=True))
        found = target.stat()
    if path.is_symlink() and not any(target.is_relative_to(os.path.realpath(one)) for one in (path.parent, *within)):
        raise NotWritten(f"{path} is a link to {target}, outside of the directory; change that file itself")
    if not stat.S_ISREG(found.st_mode):
        raise NotWritten(f"{path} is no regular file")
    # The administrator may write to everything, and rename asks the directory alone; a mode without any w is meant.
    if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise NotWritten(f"{path} is read-only")
    return target


def _write(new: Path, data: bytes, target: Path) -> None:
    found = target.stat()
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(descriptor, found.st_uid, found.st_gid)
        new.chmod(stat.S_IMODE(found.st_mode))
        os.fsync(descriptor)


def _is_unchanged(one: Replacement, target: Path) -> None:
    with _explained(one.path):
        now = target.read_bytes()
    if now != one.before:
        raise NotWritten(f"{one.path} has changed since it was read; nothing was written")


def _tidy(directory: Path) -> None:
    """Take away what an earlier run left behind when it was killed."""
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            found = _LEFT_OVER.fullmatch(entry.name)
            if found and not _runs(int(found[1])):
                Path(entry.path).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    if process == os.getpid():
        return False
    if os.name == "nt":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _sync(directory: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _explained(path: Path, besides: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or "the system refuses it")
        raise NotWritten(f"{path} was not written: {reason}{besides}") from error
