"""Write changed files, each completely or not at all, and print them as a patch."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.fixes.patch import unified_diff
from kiplint.sources.archive import ARCHIVES
from kiplint.sources.built_in import find_release
from kiplint.sources.disk import STDIN, name_in_patch
from kiplint.text.files import replace_file
from kiplint.text.words import plural


class FileChanges(msgspec.Struct, frozen=True):
    """The bytes of files before and after a change, by path, in the order in which they are to be written."""

    before: dict[str, bytes]
    after: dict[str, bytes]

    def patch(self, names: tuple[str, ...] = ()) -> bytes:
        """The change as a unified diff, empty if there is none; `names` are the SETs in which the files were found."""
        lines: list[str] = []
        for path, data in sorted(self.after.items()):
            name = name_in_patch(path, names)
            if " " in name:
                name += "\t"  # without it, GNU patch takes the name to end at the blank
            lines += unified_diff(_lines(self.before[path]), _lines(data), name)
        return "".join(lines).encode("utf-8", "surrogateescape")

    def write(self) -> None:
        """Replace the changed files, each completely or not at all; they keep their modes.

        All files are checked before the first is written: UsageError is raised for a file that is read-only, has
        changed since it was read, is gone, or is a link or no regular file.
        """
        changed_files = {path: data for path, data in self.after.items() if self.before[path] != data}
        for path in changed_files:
            _require_unchanged(path, self.before[path])
        for written_count, (path, data) in enumerate(changed_files.items()):
            try:
                replace_file(path, data)
            except OSError as error:
                progress = f"; {plural(written_count, 'file')} written before it" if written_count else ""
                raise _not_written(path, error, progress) from error


def _lines(data: bytes) -> list[str]:
    """The lines with their line feeds; unlike in `str.splitlines`, a form feed or U+2028 ends no line of a patch."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))


def _require_unchanged(path: str, before: bytes) -> None:
    """Raise UsageError unless a path is a regular file with these bytes that may be written."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            raise UsageError(f"{path} is a link; change the file that it leads to")
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file")
        # Replacing a file needs no right to write to the file itself, but a read-only mode is there for a reason.
        if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise UsageError(f"{path} is read-only")
        with open(path, "rb") as file:
            now = file.read()
    except OSError as error:
        raise _not_written(path, error) from error
    if now != before:
        raise UsageError(f"{path} has changed since it was read; nothing was written")


def _not_written(path: str, error: OSError, more: str = "") -> UsageError:
    return UsageError(f"{path} was not written: {error.strerror or 'the system rejects it'}{more}")


def require_files(names: Iterable[str]) -> None:
    """Raise UsageError for a SET in which nothing can be changed: a revision, a release, an archive, standard input."""
    for name in names:
        if name == STDIN:
            raise UsageError("standard input cannot be changed; name the files, or ask for --diff")
        if os.path.lexists(name):
            if os.path.isdir(name) or not name.lower().endswith(ARCHIVES):
                continue
            kind = "an archive"
        elif "!/" in name:
            kind = "an archive"
        elif ":" in name:
            kind = "a revision"
        elif find_release(name):
            kind = "a built-in release"
        else:
            continue  # the error that it does not exist comes from opening it
        raise UsageError(f"{name} is {kind}: nothing in it can be changed")
