"""The findings that a change introduced: those that its base did not have, or on lines that it touches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.engine.baseline import are_among
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.model.load import load
from kiplint.model.schemas import SchemaSet
from kiplint.sources.open import open_sets
from kiplint.sources.repository import HERE, Repository, RevisionPath
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.text.files import relative_path
from kiplint.text.lines import Lines, decode_text


class BaseState(NamedTuple):
    """The base: how often it has each finding, by fingerprint, and its files by path in the repository.

    `top` is the top of the work tree. `messages` has the fingerprint and the message of each finding if a finding that
    is equal in both is not new even on a changed line (`strict`), or it is None. `merged_files` has the files of each
    commit that a merge brings in: what one of them has is not new either.
    """

    counts: Mapping[str, int]
    files: Mapping[str, bytes]
    top: str
    messages: frozenset[tuple[str, str]] | None = None
    merged_files: tuple[Mapping[str, bytes], ...] = ()

    def has(self, path: str, data: bytes) -> bool:
        """Whether the base has a file of the work tree with these bytes."""
        return data in self.contents(path)

    def contents(self, path: str) -> list[bytes]:
        """The bytes of a file of the work tree in the base, and in each commit that a merge brings in."""
        path = _path_below(self.top, path)
        return [files[path] for files in (self.files, *self.merged_files) if path in files]

    def at(self, directory: str) -> SchemaSet | None:
        """The set of a directory of the work tree, None if the base has none."""
        base_directory = _path_below(self.top, directory)
        definitions = []
        for path, data in self.files.items():
            folder, name = os.path.split(path)
            if folder == base_directory:
                definitions.append(load(name, data))
        schemas = SchemaSet(definitions)
        return schemas if schemas.messages else None


def read_base(
    revision: str,
    names: Iterable[str],
    keeps: Callable[[str], bool],
    rules_of: Callable[[str], RuleSet],
    *,
    strict: bool = False,
    repository: Repository = HERE,
) -> BaseState:
    """The result of a check of the named directories and files in a revision; what it does not have counts as empty.

    With `strict`, a finding on a changed line is not new if the base has the same finding with the same message; the
    state has these messages then. `keeps` takes paths in the work tree of the `repository`, and `rules_of` directories.
    Raises UsageError for a source that is neither directory nor file, and SourceError for an unknown revision.
    """
    counts: Counter[str] = Counter()
    files_by_path: dict[str, bytes] = {}
    messages: set[tuple[str, str]] = set()
    top = repository.top
    sources = [str(place) for place in places_in(revision, names, repository)]
    prefix = f"{revision}:"
    with suppress(NothingThereError):
        for files in open_sets(sources, lambda path: True, repository).sets:
            definitions = [
                replace(file, is_reported=keeps(os.path.join(top, file.path.removeprefix(prefix))))
                for file in files.files
            ]
            directory = os.path.join(top, files.directory.removeprefix(prefix))
            result = check_set(definitions, rules_of(directory), single_file=files.single_file)
            counts.update(finding.fingerprint for finding in result.findings)
            messages.update((finding.fingerprint, finding.message) for finding in result.findings)
            files_by_path |= {file.path.removeprefix(prefix): file.data for file in definitions}
    return BaseState(counts, files_by_path, top, frozenset(messages) if strict else None)


def join_bases(first: BaseState, merged: Iterable[BaseState]) -> BaseState:
    """The base of a merge: what HEAD or a commit that the merge brings in has is not new."""
    states = [first, *merged]
    counts: Counter[str] = Counter()
    for state in states:
        counts |= Counter(state.counts)  # a finding that each side has once is one finding
    messages = frozenset[tuple[str, str]]().union(*(state.messages or () for state in states))
    return first._replace(
        counts=counts,
        messages=None if first.messages is None else messages,
        merged_files=tuple(state.files for state in states[1:]),
    )


def new_since(findings: Sequence[Finding], sources: Mapping[str, bytes], base: BaseState) -> tuple[Finding, ...]:
    """The findings that the base does not have as often, or that are on a line that the base's file does not have.

    `sources` are the files of the work tree by path. With `base.messages` a finding that the base has with the same
    message does not count as new just because its line changed.
    """
    changed_lines = cache(lambda path: _changed_lines(sources.get(path, b""), base.contents(path)))
    new_findings = []
    for finding, is_in_base in zip(findings, are_among(findings, base.counts), strict=True):
        has_old_message = base.messages is not None and (finding.fingerprint, finding.message) in base.messages
        if not is_in_base or (not has_old_message and finding.line in changed_lines(finding.path)):
            new_findings.append(finding)
    return tuple(new_findings)


def _changed_lines(data: bytes, old_contents: Iterable[bytes]) -> set[int]:
    """The numbers of the lines that none of the base's files has."""
    old_lines = {line for old in old_contents for line in _lines(old)}
    return {number for number, line in enumerate(_lines(data), 1) if line not in old_lines}


def _lines(data: bytes) -> list[str]:
    """The lines of a file, without their line ends."""
    lines = Lines(decode_text(data))
    return [lines.line(number) for number in range(1, len(lines.starts) + 1)]


def places_in(
    revision: str, names: Iterable[str], repository: Repository = HERE, subject: str = "--base"
) -> Iterator[RevisionPath]:
    """The named directories, and those of the named files, as a revision has them; those that it lacks are omitted.

    They are in the work tree of the `repository`. Raises the errors of `read_base`; `subject` begins their messages,
    except for an unknown revision.
    """
    top = repository.top
    if not top:
        raise SourceError(f"{subject} requires a git repository around the working directory")
    if repository.is_unborn(revision):
        return
    if not repository.is_revision(revision):
        raise SourceError(f"no such revision: {revision}")
    paths = []
    for name in names:
        if not os.path.lexists(name):
            raise UsageError(f"{subject} takes directories and files, not {name}")
        path = _path_below(top, name if os.path.isdir(name) else os.path.dirname(name))
        if path.split("/")[0] == ".." or os.path.isabs(path):
            raise UsageError(f"{subject}: {name} is not in the repository around the working directory")
        paths.append(path)
    for path in dict.fromkeys(paths):
        place = RevisionPath(revision, path)
        if not path or repository.find(str(place)) is not None:
            yield place


def _path_below(top: str, path: str) -> str:
    """A path relative to the top of a repository, with slashes; empty for the top itself."""
    path_from_top = relative_path(os.path.realpath(path or os.curdir), os.path.realpath(top))
    return "" if path_from_top == "." else path_from_top
