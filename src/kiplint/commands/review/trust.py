"""The trust in a change: its configuration, packs and baseline are those of the base, and their changes findings."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import to_builtins

from kiplint.commands.review.result import CONFIGURATION_CHANGED
from kiplint.engine.config import FILES, Config, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Location
from kiplint.engine.locate import locate_file
from kiplint.engine.ruleset import Violation
from kiplint.engine.run import IGNORE_MARK
from kiplint.engine.suppression import parse_suppressions
from kiplint.limits import BASELINE_BYTES, TEXT_BYTES
from kiplint.sources.disk import show_path
from kiplint.sources.git import LINK, SUBMODULE, TreeEntry, open_repository
from kiplint.text.files import DISK, Disk
from kiplint.text.lines import decode_text
from kiplint.text.show import printable
from kiplint.text.words import join_words


class RevisionFiles(Disk):
    """The files of a work tree as a revision has them, for what is read by path; those outside of it are on disk."""

    def __init__(self, revision: str, top: str) -> None:
        self.revision, self.top = revision, os.path.join(os.path.abspath(top), "")
        self.paths: dict[str, None] = {}
        """The files of the work tree that were read."""

    def read(self, path: str, most: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file; raises OSError as `read_file` does."""
        if not self._is_inside(path):
            return super().read(path, most, cut=cut)
        entry = self._entries.get(os.path.abspath(path))
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, f"it is not in {self.revision}; --trust-head reads it as it is", path)
        if entry.mode == LINK:
            text = f"it is a link in {self.revision}, which is not followed; --trust-head reads it as it is"
            raise OSError(errno.ELOOP, text, path)
        self.paths[os.path.abspath(path)] = None
        data = open_repository(None).read([entry.id])[0]
        if len(data) > most and not cut:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", path)
        return data[:most]

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name, or a link."""
        return os.path.abspath(path) in self._entries if self._is_inside(path) else super().is_file(path)

    exists = is_file

    def real(self, path: str) -> str:
        """The absolute path; links outside of the work tree are resolved."""
        return os.path.abspath(path) if self._is_inside(path) else super().real(path)

    def _is_inside(self, path: str) -> bool:
        return os.path.join(os.path.abspath(path), "").startswith(self.top)

    @cached_property
    def _entries(self) -> dict[str, TreeEntry]:
        objects = open_repository(None)
        tree = objects.find(self.revision + "^{tree}")
        entries = objects.entries(tree.id, self.revision) if tree else ()
        return {self.top + entry.path.replace("/", os.sep): entry for entry in entries if entry.mode != SUBMODULE}


def changed_configuration(base: RevisionFiles, paths: Iterable[str], *, trusts_head: bool) -> Iterator[Finding]:
    """A finding for each configuration above some paths, and each pack or baseline, that the base has otherwise.

    `base` has read its own configuration, with all that belongs to it.
    """
    folders = {folder for path in paths for folder in _folders(os.path.abspath(path), base.top)}
    files = [*base.paths, *(os.path.join(folder, name) for folder in sorted(folders) for name in FILES)]
    for path in dict.fromkeys(files):
        before, after = _content(path, base), _content(path, DISK)
        if before == after:
            continue
        what = "the file"
        if isinstance(before, dict) and isinstance(after, dict):
            what = join_words(sorted(printable(key) for key in {*before, *after} if before.get(key) != after.get(key)))
        effect = "which this review trusts" if trusts_head else f"so this review goes by {base.revision}"
        message = f"the change sets {what} otherwise than {base.revision}, {effect}"
        name = show_path(path)
        yield locate_file(Violation(CONFIGURATION_CHANGED, "warning", message, Location(name, "", "", ""), None), name)


def _folders(path: str, top: str) -> Iterator[str]:
    """The folders of a path up to the top of the work tree."""
    while os.path.join(path, "").startswith(top):
        yield path
        path = os.path.dirname(path)


def _content(path: str, files: Disk) -> object:
    """What a configuration sets, or the bytes of another file; empty without the file."""
    try:
        if os.path.basename(path) in FILES:
            return to_builtins(read_config(path, files) if files.is_file(path) else Config())
        return files.read(path, BASELINE_BYTES).replace(b"\r\n", b"\n")
    except UsageError as error:
        return str(error)
    except OSError:
        return b""


def new_ignores(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> int:
    """How many comments in the files after a change ignore findings, and are not in the files before it."""
    return (_ignores(after) - _ignores(before)).total()


def _ignores(sources: Mapping[str, bytes]) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter(
        (os.path.basename(path), suppression.selectors)
        for path, data in sources.items()
        if IGNORE_MARK in data
        for suppression in parse_suppressions(decode_text(data)).items
    )
