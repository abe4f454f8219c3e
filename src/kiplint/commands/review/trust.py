"""The trust in a change: its configuration, packs and baseline are those of the base, and their changes findings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kiplint.commands.review.result import CONFIGURATION_CHANGED
from kiplint.engine.config import FILES, own_values
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Location
from kiplint.engine.locate import locate_file
from kiplint.engine.ruleset import Violation
from kiplint.engine.run import IGNORE_MARK
from kiplint.engine.suppression import parse_suppressions
from kiplint.limits import BASELINE_BYTES
from kiplint.sources.disk import show_path
from kiplint.sources.git import RevisionFiles
from kiplint.text.files import DISK, Disk
from kiplint.text.lines import decode_text
from kiplint.text.show import printable
from kiplint.text.words import join_words


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
            return own_values(path, files) if files.is_file(path) else {}
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
