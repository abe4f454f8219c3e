"""Files that a run changes: which may be, what they were, and what they are to be."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.sources.open import ARCHIVES, STDIN


class Change(msgspec.Struct, frozen=True):
    """Files before and after, by path, in the order in which they are to be written."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    def patch(self, names: tuple[str, ...] = ()) -> bytes:
        """The change as a unified diff, empty when there is none; the files were found by these SETs."""
        if not self.after:
            return b""
        from kiplint.fixes.patch import patch
        from kiplint.runs.surroundings import in_patch

        lines = patch(self.before, self.after, lambda path: in_patch(path, names))
        return "".join(lines).encode("utf-8", "surrogateescape")

    def write(self, names: Iterable[str]) -> None:
        """Write the files, which were found by these SETs; raises UsageError when one cannot be, and why."""
        if not self.after:
            return
        from pathlib import Path

        from kiplint.fixes.writing import NotWritten, Replacement, replace_files

        within = [Path(name) if os.path.isdir(name) else Path(name).parent for name in names]
        made = [Replacement(Path(path), self.before[path], data) for path, data in self.after.items()]
        try:
            replace_files([one for one in made if one.before != one.after], within)
        except NotWritten as error:
            raise UsageError(str(error)) from None


def create_files(files: Mapping[str, bytes]) -> None:
    """Write files that are not there yet, or none; raises UsageError when one is there or cannot be written."""
    made: list[str] = []
    try:
        for path, data in files.items():
            with open(path, "xb") as file:
                made.append(path)
                file.write(data)
    except OSError as error:
        for path in made:
            os.unlink(path)
        reason = "it is there already" if isinstance(error, FileExistsError) else error.strerror
        raise UsageError(f"{error.filename} was not written: {reason}") from None


def refuse_what_is_fixed(names: Iterable[str]) -> None:
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
