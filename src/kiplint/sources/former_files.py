"""The files of a work tree as a revision has them, for what is read by path, such as a configuration."""

from __future__ import annotations

import errno
import os

from kiplint.limits import TEXT_BYTES
from kiplint.sources.git import FILE, LINK, TreeEntry, entries, open_repository
from kiplint.text.files import Disk


class FormerFiles(Disk):
    """The files of a work tree as a revision has them; those outside of the work tree are on disk."""

    def __init__(self, revision: str, top: str) -> None:
        self.revision, self.top = revision, os.path.join(os.path.abspath(top), "")
        self.paths: dict[str, None] = {}
        """The files of the work tree that were read."""

    def read(self, path: str, most: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file; raises OSError as `read_file` does."""
        if not self._is_inside(path):
            return super().read(path, most, cut=cut)
        entry = self._entry(path)
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, f"it is not in {self.revision}; --trust-head reads it as it is", path)
        if entry.mode == LINK:
            text = f"it is a link in {self.revision}, which is not followed; --trust-head reads it as it is"
            raise OSError(errno.ELOOP, text, path)
        self.paths[os.path.abspath(path)] = None
        data = open_repository(None).read([entry.id])[0].data
        if len(data) > most and not cut:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", path)
        return data[:most]

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name, or a link."""
        return self._entry(path) is not None if self._is_inside(path) else super().is_file(path)

    exists = is_file

    def real(self, path: str) -> str:
        """The absolute path; links outside of the work tree are resolved."""
        return os.path.abspath(path) if self._is_inside(path) else super().real(path)

    def _is_inside(self, path: str) -> bool:
        return os.path.join(os.path.abspath(path), "").startswith(self.top)

    def _entry(self, path: str) -> TreeEntry | None:
        """The file or link of that path in the revision."""
        folder, name = os.path.split(os.path.abspath(path).removeprefix(self.top))
        tree = open_repository(None).find(f"{self.revision}:{folder.replace(os.sep, '/')}")
        rows = entries(tree) if tree and tree.kind == "tree" else ()
        return next((entry for entry in rows if entry.name == name and entry.mode.startswith((FILE, LINK))), None)
