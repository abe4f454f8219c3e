"""Findings with the same cause: which explains which, and the entries of a review, one per cause."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import BREAKS
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.rule import Breaks
from kiplint.model.message import rpc_of
from kiplint.sources.repository import HERE, RevisionPath

Supersedes = Mapping[str, Collection[str]]
"""By the id of a rule, the ids of the rules whose findings it explains."""
Key = tuple[str, ...]
"""What two findings have in common where one explains the other."""


class Explanation(NamedTuple):
    """A way in which one finding explains another: the keys of the cause have one of those of the effect."""

    keys_of_cause: Callable[[Finding, Supersedes], Iterator[Key]]
    keys_of_effect: Callable[[Finding], Iterator[Key]]


def _set(path: str) -> str:
    """The directory of a schema set, by the path of a file that head or base has."""
    place = RevisionPath.of(path)
    return os.path.dirname(os.path.abspath(os.path.join(HERE.top, place.path) if place else path))


def _explained_rules(finding: Finding, supersedes: Supersedes) -> Iterator[Key]:
    """The set and the RPC, with each rule that the finding's rule supersedes.

    About a whole message, a change, or a finding whose rule supersedes others, explains its own rule as well: the other
    message of the RPC usually violates it, too.
    """
    rpc, superseded_rules = rpc_of(finding.message_name), supersedes.get(finding.rule, ())
    yield from ((_set(finding.path), rpc, rule) for rule in superseded_rules)
    is_of_message = not finding.pointer.startswith("/fields/")
    if is_of_message and (superseded_rules or isinstance(finding, ChangeFinding)):
        yield _set(finding.path), rpc, finding.rule


def _rule(finding: Finding) -> Iterator[Key]:
    """The set, the RPC and the rule. A message of no RPC counts as one."""
    yield _set(finding.path), rpc_of(finding.message_name), finding.rule


def _element(finding: Finding) -> Iterator[Key]:
    """The file and the pointer of the element, of an error or a change.

    The property of a field belongs to the field, that of a message is on its own.
    """
    if finding.pointer and (finding.severity == "error" or isinstance(finding, ChangeFinding)):
        yield finding.path, _pointer_of_element(finding)


def _pointer_of_element(finding: Finding) -> str:
    """The pointer without the property of a field."""
    parent, _, key = finding.pointer.rpartition("/")
    is_element = not parent or (key.isdigit() and parent != "/headerVersions")  # whose keys are versions
    return finding.pointer if is_element else parent


def _advice(finding: Finding) -> Iterator[Key]:
    """The file, the element, and what to write there."""
    if advice := finding.instead or finding.help.removeprefix("set "):
        yield finding.path, _pointer_of_element(finding), advice


def _common_change(finding: Finding) -> Iterator[Key]:
    """The set, the RPC, and a change in the words that are the same for its request and its response."""
    if isinstance(finding, ChangeFinding):
        yield _set(finding.path), finding.rpc, finding.rule, finding.field, finding.below_heading


def _corrected_property(finding: Finding, _: Supersedes) -> Iterator[Key]:
    """The file, and the pointer of the property that the fix of a misspelled one writes; other findings miss it."""
    if finding.fix and finding.pointer.count("/") == 1:
        for edit in finding.fix.edits:
            if match := re.fullmatch(r'"(\w+)"', edit.text):
                yield finding.path, f"/{match[1]}"


EXPLANATIONS: Final = (
    Explanation(lambda finding, _: _common_change(finding), _common_change),
    Explanation(lambda finding, _: _element(finding), _element),
    Explanation(lambda finding, _: _advice(finding), _advice),
    Explanation(_corrected_property, _element),
    Explanation(_explained_rules, _rule),
)
"""The explanations, the most exact first: a finding has the cause of the first one that applies."""


def _keys_of_cause(finding: Finding, supersedes: Supersedes) -> Iterator[tuple[int, Key]]:
    """The keys of a finding as a cause, each with the number of its explanation."""
    for number, explanation in enumerate(EXPLANATIONS):
        yield from ((number, key) for key in explanation.keys_of_cause(finding, supersedes))


def _keys_of_effect(finding: Finding) -> Iterator[tuple[int, Key]]:
    """The keys by which others may explain a finding, each with the number of the explanation."""
    for number, explanation in enumerate(EXPLANATIONS):
        yield from ((number, key) for key in explanation.keys_of_effect(finding))


def unexplained(
    changes: Iterable[ChangeFinding], findings: Iterable[Finding], supersedes: Supersedes
) -> Iterator[ChangeFinding]:
    """The changes without the breaks that an error among the findings explains."""
    keys_of_errors = {
        key for finding in findings if finding.severity == "error" for key in _keys_of_cause(finding, supersedes)
    }
    for change in changes:
        is_mild = change.breaks == "none" or change.severity == "info"
        if is_mild or keys_of_errors.isdisjoint(_keys_of_effect(change)):
            yield change


Origin = Literal["check", "diff", "rollout"]


class Also(msgspec.Struct, frozen=True):
    """A finding with the same cause."""

    rule: str
    message: str
    path: str
    line: int


class Entry(Finding, frozen=True, kw_only=True, omit_defaults=True):
    """A cause: the finding to show, what it breaks, and what else has the same cause."""

    origin: Annotated[Origin, Meta(description="The command that reports this finding on its own.")]
    breaks: Annotated[Breaks, Meta(description="The most serious break of its changes.")]
    also: Annotated[tuple[Also, ...], Meta(description="Findings with the same cause.")] = ()
    changes: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes that cause it, as in `diff`.")] = ()

    @property
    def remark(self) -> str:
        """What the change breaks; for other findings, where the rule comes from."""
        is_change = self.origin == "diff" and self.breaks != "none"
        return f"note: breaks {self.breaks}" if is_change else super().remark


class Item(NamedTuple):
    """A finding, and the command that reports it by itself."""

    finding: Finding
    origin: Origin


def entries_of(findings_by_origin: Mapping[Origin, Iterable[Finding]], supersedes: Supersedes) -> tuple[Entry, ...]:
    """An entry for each cause, the most severe first. `findings_by_origin` must have those of `check` first."""
    groups: list[list[Item]] = []
    group_by_key: dict[tuple[int, Key], list[Item]] = {}
    for item in (Item(finding, origin) for origin, findings in findings_by_origin.items() for finding in findings):
        group = next((group_by_key[key] for key in _keys_of_effect(item.finding) if key in group_by_key), None)
        if group is None or not _may_share(item, group[0]):
            group = []
            groups.append(group)
        group.append(item)
        for key in _keys_of_cause(item.finding, supersedes):
            group_by_key.setdefault(key, group)
    return tuple(sorted(map(_entry, groups), key=lambda entry: SEVERITIES.index(entry.severity)))


def _may_share(item: Item, first: Item) -> bool:
    """Whether a finding may be in the entry of another, the first one of its cause.

    Two findings of `check` are two mistakes, unless one rule finds them in both messages of an RPC.
    """
    finding, other = item.finding, first.finding
    return item.origin != "check" or (finding.rule == other.rule and finding.path != other.path)


def _entry(group: Sequence[Item]) -> Entry:
    """The entry of findings with one cause. It shows the most severe one, with the first fix of that severity."""
    items = sorted(group, key=lambda item: SEVERITIES.index(item.finding.severity))
    (main, origin), *others = items
    changes = tuple(finding for finding, _ in items if isinstance(finding, ChangeFinding))
    fixes = [finding.fix for finding, _ in items if finding.fix and finding.severity == main.severity]
    fields = {name: getattr(main, name) for name in Finding.__struct_fields__}
    return Entry(
        **fields,
        origin=origin,
        breaks=min((change.breaks for change in changes), key=BREAKS.index, default="none"),
        also=tuple(Also(finding.rule, finding.message, finding.path, finding.line) for finding, _ in others),
        changes=changes,
    ).with_fix(fixes[0] if fixes else None)
