"""The findings that a change introduced: those that its base did not have, or on lines that it touches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from kiplint.engine.baseline import are_recorded
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.model.load import load
from kiplint.model.schemas import SchemaSet
from kiplint.sources.git import home_of, is_revision, is_unborn, open_repository
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.text.lines import Lines, decode_text

Keeps = Callable[[str], bool]


class BaseState(NamedTuple):
    """The base: how often it has each finding, its files by path in the repository, and the top of the work tree.

    `messages` has the fingerprint and the message of each finding; if they are kept, a known finding on a changed line
    is new only if its message is new.
    """

    counts: Mapping[str, int]
    files: Mapping[str, bytes]
    top: str
    messages: frozenset[tuple[str, str]] | None = None

    def at(self, directory: str) -> SchemaSet | None:
        """The set of a directory, None if the base has none."""
        inner = _inner(directory, self.top)
        files = ((os.path.split(path), data) for path, data in self.files.items())
        candidates = (load(name, data).message for (folder, name), data in files if folder == inner)
        messages = tuple(message for message in candidates if message)
        return SchemaSet(messages) if messages else None


def read_base(
    revision: str,
    names: Iterable[str],
    keeps: Keeps,
    rules: RuleSet,
    *,
    strict: bool = False,
    repository: str | None = None,
) -> BaseState:
    """Check the same directories and files in a revision; what the revision does not have counts as empty.

    With `strict` a finding is not new because its line was changed. `repository` is the top of the work tree, by
    default of that around the working directory. Raises UsageError for a source that is neither directory nor file,
    and SourceError for an unknown revision.
    """
    counts: Counter[str] = Counter()
    files_by_path: dict[str, bytes] = {}
    messages: set[tuple[str, str]] = set()
    top = repository or home_of(os.curdir)
    sources = [*sources_in(revision, names, top, repository=repository)]
    prefix = f"{revision}:"
    with suppress(NothingThereError):
        for files in open_sets(sources, lambda path: True, repository=repository, empty=[]):
            definitions = [file for file in files.files if keeps(os.path.join(top, file.path.removeprefix(prefix)))]
            result = check_set(definitions, rules, single_file=files.single_file)
            counts.update(finding.fingerprint for finding in result.findings)
            messages.update((finding.fingerprint, finding.message) for finding in result.findings)
            files_by_path |= {file.path.removeprefix(prefix): file.data for file in definitions}
    return BaseState(counts, files_by_path, top, frozenset(messages) if strict else None)


def new_since(findings: Sequence[Finding], sources: Mapping[str, bytes], base: BaseState) -> tuple[Finding, ...]:
    """The findings that the base does not have as often, or that are on a line that the base's file does not have."""
    touched_lines = cache(lambda path: _touched_lines(sources.get(path, b""), base.files.get(_inner(path, base.top))))

    def is_touched(finding: Finding) -> bool:
        if finding.line not in touched_lines(finding.path):
            return False
        return base.messages is None or (finding.fingerprint, finding.message) not in base.messages

    are_old = are_recorded(findings, base.counts)
    return tuple(
        finding for finding, is_old in zip(findings, are_old, strict=True) if not is_old or is_touched(finding)
    )


def _touched_lines(data: bytes, old: bytes | None) -> set[int]:
    """The numbers of the lines that the base's file does not have; all without such a file."""
    lines = _lines(data)
    old_lines = {*_lines(old)} if old is not None else set()
    return {number for number, line in enumerate(lines, 1) if line not in old_lines}


def _lines(data: bytes) -> list[str]:
    lines = Lines(decode_text(data))
    return [lines.line(number) for number in range(1, len(lines.starts) + 1)]


def sources_in(
    revision: str, names: Iterable[str], top: str, option: str = "--changed-since", repository: str | None = None
) -> Iterator[str]:
    """The directories and files named in a revision, as `REV:path`; a file counts as its directory.

    `option` is named in errors. `top` is the work tree, that of `repository` if it is not the repository around the
    working directory. Raises as `read_base` does.
    """
    where = "in the repository around the working directory"
    if repository:
        where = f"in the work tree of {repository}; name it as REV:path"
    if not top and not repository:
        raise SourceError(f"{option} needs a git repository around the working directory")
    if is_unborn(revision, repository):
        return
    if not is_revision(revision, repository):
        raise SourceError(f"no such revision: {revision}")
    sources = {}
    for name in names:
        if not os.path.lexists(name):
            raise UsageError(f"{option} takes directories and files, not {name}")
        inner = _inner(name if os.path.isdir(name) else os.path.dirname(name), top)
        if not top or inner.startswith("../"):
            raise UsageError(f"{option}: {name} is not {where}")
        sources[f"{revision}:{inner}"] = inner
    for source, inner in sources.items():
        if not inner or open_repository(repository).find(source) is not None:
            yield source


def _inner(path: str, top: str) -> str:
    """A path relative to the top of a repository, with slashes; empty for the top itself."""
    inner = os.path.relpath(os.path.realpath(path or os.curdir), os.path.realpath(top)).replace(os.sep, "/")
    return "" if inner == "." else inner
