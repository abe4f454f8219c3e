"""Write changed files, each whole or not at all; and print them as a patch."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable
from typing import Final

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.sources.disk import STDIN, in_patch
from kiplint.sources.open import ARCHIVES
from kiplint.text.files import replace_file
from kiplint.text.words import plural

_NO_NEWLINE: Final = "\\ No newline at end of file\n"


class FileChanges(msgspec.Struct, frozen=True):
    """Files before and after, by path, in the order in which they are to be written."""

    before: dict[str, bytes]
    after: dict[str, bytes]

    def patch(self, names: tuple[str, ...] = ()) -> bytes:
        """The change as a unified diff, empty when there is none; the files were found by these SETs."""
        lines: list[str] = []
        for path, data in sorted(self.after.items()):
            name = in_patch(path, names)
            name += "\t" if " " in name else ""  # else GNU patch takes it to end at the blank
            lines += difflib.unified_diff(_lines(self.before[path]), _lines(data), f"a/{name}", f"b/{name}")
        text = "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)
        return text.encode("utf-8", "surrogateescape")

    def write(self) -> None:
        """Write the files, each of which takes the place of the old one at once and keeps its mode.

        Raises UsageError for a file that is read-only, has changed since it was read, is gone, a link or no regular
        file: all are looked at before the first is written.
        """
        changed_files = {path: data for path, data in self.after.items() if self.before[path] != data}
        for path in changed_files:
            _require_unchanged(path, self.before[path])
        for number, (path, data) in enumerate(changed_files.items()):
            try:
                replace_file(path, data)
            except OSError as error:
                progress = f"; {plural(number, 'file')} written before it" if number else ""
                raise _not_written(path, error, progress) from error


def _lines(data: bytes) -> list[str]:
    # Not splitlines: a form feed or U+2028 ends no line of a patch.
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _require_unchanged(path: str, before: bytes) -> None:
    """Raise UsageError unless a path is a regular file with these bytes that may be written."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            raise UsageError(f"{path} is a link; change the file that it leads to")
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file")
        # The administrator may write to everything, and rename asks the directory alone; a mode without any w is meant.
        if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise UsageError(f"{path} is read-only")
        with open(path, "rb") as file:
            now = file.read()
    except OSError as error:
        raise _not_written(path, error) from error
    if now != before:
        raise UsageError(f"{path} has changed since it was read; nothing was written")


def _not_written(path: str, error: OSError, more: str = "") -> UsageError:
    return UsageError(f"{path} was not written: {error.strerror or 'the system refuses it'}{more}")


def require_files(names: Iterable[str]) -> None:
    """Raise UsageError for a SET in which nothing can be changed: a revision, an archive, or standard input."""
    for name in names:
        if name == STDIN:
            raise UsageError("standard input cannot be changed; name the files, or ask for --diff")
        if os.path.isdir(name) or (os.path.lexists(name) and not name.lower().endswith(ARCHIVES)):
            continue
        if not os.path.lexists(name) and ":" not in name and "!/" not in name:
            continue  # whoever reads it says that it is not there
        what = "an archive" if os.path.lexists(name.partition("!/")[0]) else "a revision"
        raise UsageError(f"{name} is {what}: nothing in it can be changed")
