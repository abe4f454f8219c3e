"""The changes from one tree of sets to another that a diff or a review reports."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec.structs import replace

from kiplint.compat.acceptance import accept_changes, description, entries_with_rules
from kiplint.compat.change import Change, ChangeFinding, Kind, MessagePair
from kiplint.compat.classify import BREAKS, classify, order_of
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.roles import FILES_OF_NODES, versions_for_clients
from kiplint.compat.tree import Tree, file_name, unparsable_files
from kiplint.engine.config import Acceptance, Configurations
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.model.message import Message
from kiplint.model.notes import sentences_on
from kiplint.text.words import comma_parts, did_you_mean
from kiplint.versions import NONE

Role = Literal["client", "broker", "storage"]
"""The role that a change affects."""


class Diff(NamedTuple):
    """The comparison of a base with a head."""

    changes: tuple[ChangeFinding, ...]
    """The changes, by file and position."""
    pairs: tuple[MessagePair, ...]
    """For each change, its message in the base and in the head; None if there is none."""
    accepted: tuple[ChangeFinding, ...]
    """The changes that somebody accepted, which are not among the others."""
    comments: tuple[Finding, ...]
    """The findings about comments that accept no change."""
    entries: tuple[Acceptance, ...]
    """The entries of `accept` in the configurations of the sets."""
    used_entries: frozenset[Acceptance]
    """Those that name a change."""
    warnings: tuple[str, ...]
    """Which messages cannot be compared, where the rule about them is off."""
    messages: int
    """The number of messages that were compared."""
    unparsable: tuple[str, ...]
    """The paths of the files that could not be read."""
    is_complete: bool
    """Whether all messages that could be read were compared."""


def notes_of(diffs: Sequence[Diff], is_in_scope: Callable[[Acceptance], bool] = lambda entry: True) -> list[str]:
    """What to tell of comparisons: their warnings, and the entries in scope that none of them needs."""
    used_entries = frozenset[Acceptance]().union(*(diff.used_entries for diff in diffs))
    entries = dict.fromkeys(entry for diff in diffs for entry in diff.entries)
    return [
        *(
            f"accept: no change violates {description(entry)} any more; remove the entry"
            for entry in entries
            if entry not in used_entries and is_in_scope(entry)
        ),
        *(warning for diff in diffs for warning in diff.warnings),
    ]


def breaks_of(texts: Iterable[str]) -> set[str]:
    """The breaks that texts such as `wire,storage` name. Raises UsageError for a word that is not in `BREAKS`."""
    names = {*comma_parts(texts)}
    for name in sorted(names - {*BREAKS}):
        hint = did_you_mean(name, BREAKS) or f": {', '.join(BREAKS)}"
        raise UsageError(f"--fail-on-breaks: nothing breaks {name}{hint}")
    return names


def compare(
    base: Tree,
    head: Tree,
    configurations: Configurations,
    older: Sequence[Tree] = (),
    globs: Collection[str] = (),
    releases: Releases | None = None,
    role: Role | None = None,
    heads: Configurations | None = None,
) -> Diff:
    """Compare a base with a head, which must not reuse the tags of the `older` sets either.

    Each set is judged by its configuration. With `globs`, such as `*Offset*`, and a `role`, only changes of matching
    messages count. Comments of the head accept changes, and so do the entries of `accept` of the configurations
    `heads`, by default the same.
    """
    is_selected = _selector(globs, base, head)
    single_file = single_file_of(base, head)
    ids_in_file = {id(message) for message in single_file.messages} if single_file else set()

    def is_reported(change: Change) -> bool:
        """Whether a change is about a message of the single file if there is one, of the globs, and not excluded."""
        messages = [message for message in change.messages if message]
        if single_file and not any(id(message) in ids_in_file for message in messages):
            return False
        return any(map(is_selected, messages)) and any(map(configurations.keeps, _paths_in(head, change)))

    changes = list(filter(is_reported, compare_trees(base, head, older, releases)))
    if role:
        changes = [part for part in (_part_for(role, change) for change in changes) if part]
    # The base comes last, so that its file replaces those of older sets with the same path.
    base_sources = {path: data for tree in reversed([base, *older]) for path, data in tree.sources.items()}
    classified_changes = classify_sets(changes, base, head, configurations.rules_of, base_sources)
    entries_by_directory: dict[str, dict[Acceptance, frozenset[str]]] = {}
    for directory in (*head.directories, *(_directory_of(change, base, head) for change in changes)):
        if directory not in entries_by_directory:
            accept = (heads or configurations).of(directory).config.accept
            entries_by_directory[directory] = entries_with_rules(accept, configurations.rules_of(directory))
    acceptance = accept_changes(
        classified_changes,
        base_sources,
        head.sources,
        configurations,
        lambda change: entries_by_directory[_directory_of(change, base, head)],
    )
    # Of a part of the changes, the other entries and comments may be about the rest.
    is_whole = not (globs or role or single_file)
    is_complete, warnings = completeness(changes, classified_changes)
    return Diff(
        changes=tuple(finding for _, finding in acceptance.open),
        pairs=tuple(change.messages for change, _ in acceptance.open),
        accepted=tuple(acceptance.accepted),
        comments=tuple(comment for comment in acceptance.comments if is_whole and configurations.keeps(comment.path)),
        entries=tuple(entry for entries in entries_by_directory.values() for entry in entries if is_whole),
        used_entries=frozenset(acceptance.used_entries),
        warnings=warnings,
        messages=sum(
            is_selected(message) and configurations.keeps(message.file) for message in (single_file or head).messages
        ),
        unparsable=tuple(dict.fromkeys(filter(configurations.keeps, unparsable_files(base, head)))),
        is_complete=is_complete,
    )


def classify_sets(
    changes: Iterable[Change],
    base: Tree,
    head: Tree,
    rules_of: Callable[[str], RuleSet],
    base_sources: Mapping[str, bytes],
) -> list[tuple[Change, ChangeFinding]]:
    """The changes that violate the rules of their set, which `rules_of` gives by its directory, as `classify` has them.

    Left out are those of rules that are ignored in the file, in base and head.
    """
    changes_by_directory: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes:
        changes_by_directory[_directory_of(change, base, head)].append(change)
    classified_changes: list[tuple[Change, ChangeFinding]] = []
    for directory, changes_of_set in changes_by_directory.items():
        rules = rules_of(directory)
        classified_changes += [
            (change, finding)
            for change, finding in classify(changes_of_set, rules, base_sources, head.sources)
            if any(finding.rule not in rules.ignored_in(path) for path in _paths_in(head, change))
        ]
    return sorted(classified_changes, key=order_of)


def completeness(
    changes: Iterable[Change], classified_changes: Iterable[tuple[Change, ChangeFinding]]
) -> tuple[bool, tuple[str, ...]]:
    """Whether all messages were compared, and a warning for each that was not and whose rule is off."""
    reported_changes = [change for change, _ in classified_changes]
    failures = {id(change): change for change in (*changes, *reported_changes) if change.row is Kind.NOT_COMPARED}
    reported_ids = {*map(id, reported_changes)}
    return not failures, tuple(
        f"warning: {change.message_name} cannot be compared: {change.now}"
        for key, change in failures.items()
        if key not in reported_ids
    )


def _directory_of(change: Change, base: Tree, head: Tree) -> str:
    """The directory whose configuration judges a change: that of its set in the head.

    A message that moved to another set is judged by that of the set where it was, so that no move hides a break.
    """
    base_message, head_message = change.messages
    is_single_pair = len(base.sets) == len(head.sets) == 1
    message = head_message if is_single_pair and head_message else base_message or head_message
    return os.path.join(head.root, message.schemas.directory if message else "")


def _paths_in(tree: Tree, change: Change) -> Iterator[str]:
    """The paths of the files of a change: that of its message in the head, and where that of the base would be."""
    base, head = change.messages
    if head:
        yield head.file
    if base:
        yield os.path.join(tree.root, base.schemas.directory, file_name(base.file))


def _selector(globs: Collection[str], base: Tree, head: Tree) -> Callable[[Message], bool]:
    """The test whether a message or its RPC matches one of the globs; without any all do.

    Raises UsageError for a glob that matches nothing.
    """

    def matches(message: Message, glob: str) -> bool:
        return fnmatchcase(message.name, glob) or fnmatchcase(message.base_name, glob)

    for glob in globs:
        if not any(matches(message, glob) for message in (*base.messages, *head.messages)):
            names = {name for message in head.messages for name in (message.name, message.base_name)}
            hint = did_you_mean(glob, names)
            raise UsageError(f"--message {glob}: neither set has such a message{hint}")
    return lambda message: not globs or any(matches(message, glob) for glob in globs)


def _part_for(role: Role, change: Change) -> Change | None:
    """A change as it concerns a role; None if it does not.

    Records matter to `storage`, all RPCs to `broker`, and to `client` those that clients send, in the versions that
    they send. Of a set with RPCs, headers matter to both, and so do messages of type data, but to `client` no files of
    nodes.
    """
    messages = [message for message in change.messages if message]
    if role == "storage":
        return change if change.message.is_record else None
    if not change.message.is_rpc:
        has_rpcs = any(message.schemas.rpcs for message in messages)
        is_files = role == "client" and change.message.name in FILES_OF_NODES
        return change if has_rpcs and change.message.type in ("header", "data") and not is_files else None
    if role == "broker":
        return change
    versions = valid = NONE
    for message in messages:
        versions |= versions_for_clients(message)
        valid |= message.valid
    part = change.versions - (valid - versions)
    if not versions or (change.versions and not part):
        return None
    note = sentences_on(change.message, part) if change.note else ""
    return change if part == change.versions else replace(change, versions=part, note=note)


def single_file_of(base: Tree, head: Tree) -> Tree | None:
    """The side that is a single file if the other is not: what only the other has is then neither new nor removed."""
    single_files = [tree for tree in (base, head) if tree.is_single_file]
    return single_files[0] if len(single_files) == 1 else None
