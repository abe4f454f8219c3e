"""The changes from one tree of sets to another that a diff or a review reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec.structs import replace

from kiplint.compat.acceptance import accept_changes
from kiplint.compat.change import Change, ChangeFinding, Kind, MessagePair
from kiplint.compat.classify import BREAKS, classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.roles import FILES_OF_NODES, versions_for_clients
from kiplint.compat.tree import Tree, unparsable_files
from kiplint.engine.config import Acceptance
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.model.message import Message
from kiplint.model.notes import sentences_on
from kiplint.sources.disk import STDIN
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
    unmatched: tuple[str, ...]
    """What the entries of `accept` that match no change name."""
    warnings: tuple[str, ...]
    """Which messages cannot be compared, where the rule about them is off."""
    messages: int
    """The number of messages that were compared."""
    unparsable: tuple[str, ...]
    """The paths of the files that could not be read."""
    is_complete: bool
    """Whether all messages that could be read were compared."""


def notes_of(diffs: Sequence[Diff]) -> list[str]:
    """What to tell of comparisons by the same entries of `accept`: their warnings, and the entries that all lack."""
    unmatched = [name for name in diffs[0].unmatched if all(name in diff.unmatched for diff in diffs)] if diffs else []
    return [
        *(f"accept: no change violates {name} any more; remove the entry" for name in unmatched),
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
    rules: RuleSet,
    older: Sequence[Tree] = (),
    globs: Collection[str] = (),
    releases: Releases | None = None,
    role: Role | None = None,
    accept: Sequence[Acceptance] = (),
) -> Diff:
    """Compare a base with a head, which must not reuse the tags of the `older` sets either.

    With `globs`, such as `*Offset*`, and a `role`, only changes of matching messages count. Comments of the head and
    the entries of `accept` accept changes.
    """
    is_selected = _selector(globs, base, head)
    single_file = single_file_of(base, head)
    ids_in_file = {id(message) for message in single_file.messages} if single_file else set()

    def is_reported(change: Change) -> bool:
        """Whether a change is about a message of the single file if there is one, and of the globs."""
        messages = [message for message in change.messages if message]
        if single_file and not any(id(message) in ids_in_file for message in messages):
            return False
        return any(map(is_selected, messages))

    changes = list(filter(is_reported, compare_trees(base, head, older, releases)))
    if role:
        changes = [part for part in (_part_for(role, change) for change in changes) if part]
    # The base comes last, so that its file replaces those of older sets with the same path.
    base_sources = {path: data for tree in reversed([base, *older]) for path, data in tree.sources.items()}
    classified_changes = classify(changes, rules, base_sources, head.sources)
    acceptance = accept_changes(classified_changes, base_sources, head.sources, rules, accept)
    # Of a part of the changes, the other entries and comments may be about the rest.
    is_whole = not (globs or role or single_file)
    reported_changes = [change for change, _ in classified_changes]
    failures = {id(change): change for change in (*changes, *reported_changes) if change.row is Kind.NOT_COMPARED}
    silent_failures = [failures[key] for key in failures.keys() - {*map(id, reported_changes)}]  # their rule is off
    return Diff(
        changes=tuple(finding for _, finding in acceptance.open),
        pairs=tuple(change.messages for change, _ in acceptance.open),
        accepted=tuple(acceptance.accepted),
        comments=tuple(acceptance.comments if is_whole else ()),
        unmatched=tuple(acceptance.unmatched if is_whole else ()),
        warnings=tuple(
            f"warning: {change.message_name} cannot be compared: {change.now}" for change in silent_failures
        ),
        messages=sum(map(is_selected, (single_file or head).messages)),
        unparsable=tuple(dict.fromkeys(unparsable_files(base, head))),
        is_complete=not failures,
    )


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
    single_files = [tree for tree in (base, head) if tree.name == STDIN or tree.name.lower().endswith(".json")]
    return single_files[0] if len(single_files) == 1 else None
