"""Accepted changes: what somebody accepts with a reason is reported, and fails nothing.

A comment `// kiplint: ignore[compat/layout-changed] reason` accepts the changes of such rules that are reported at its
line; at the `name` of a message it also accepts those of fields that are gone. It belongs to the change that brings it:
a comment that the base has as well accepts nothing. An entry of `accept` in the configuration names what it accepts,
for changes without a line and for what a team decides in one place.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from kiplint.compat.change import Change, ChangeFinding
from kiplint.compat.tree import Tree, file_name
from kiplint.engine.config import Acceptance, Configurations
from kiplint.engine.finding import Finding, Location, Violation
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.engine.ruleset import RuleSet, full_selector, rule_ids_by_selector
from kiplint.engine.run import IGNORE_MARK, check_set, finding_about_file, located_finding
from kiplint.engine.suppression import Suppression, Target, parse_suppressions
from kiplint.model.load import ProblemElement
from kiplint.sources.disk import show_path
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import Problem
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import printable
from kiplint.text.tree import Locator
from kiplint.text.words import plural
from kiplint.versions import VersionRange


class AcceptedChanges(NamedTuple):
    """The changes that nobody accepts, and those that somebody does, with the reason in `accepted`."""

    open: list[tuple[Change, ChangeFinding]]
    accepted: list[ChangeFinding]
    comments: list[Finding]
    """The findings about comments that accept nothing."""
    used_entries: set[Acceptance]
    """The entries of the configuration that name a change."""


def accept_changes(
    changes: Sequence[tuple[Change, ChangeFinding]],
    base_sources: Mapping[str, bytes],
    head_sources: Mapping[str, bytes],
    configurations: Configurations,
    entries_of: Callable[[Change], Mapping[Acceptance, frozenset[str]]],
) -> AcceptedChanges:
    """Separate the accepted changes from the others.

    The sources are the definitions by path. `entries_of` gives the entries of the configuration of a change, each with
    the ids of its rules.
    """
    locator_of = cache(lambda file: Locator(decode_text(head_sources.get(file, b""))))
    comments = list(_comments(base_sources, head_sources, configurations))
    comments_by_place: defaultdict[_Place, list[_Comment]] = defaultdict(list)
    reasons_by_place: dict[_Place, str] = {}
    for comment in comments:
        for rule_id in comment.rule_ids:
            place = comment.file, comment.suppression.target, rule_id
            comments_by_place[place].append(comment)
            if not comment.is_in_base:
                reasons_by_place.setdefault(place, comment.suppression.reason)
    open_changes: list[tuple[Change, ChangeFinding]] = []
    accepted_changes: list[ChangeFinding] = []
    used_places: set[_Place] = set()
    used_entries: set[Acceptance] = set()
    for change, finding in changes:
        lines = {None, finding.line}
        if change.base_field and not change.head_field:  # it has no line of its own any more
            lines.add(locator_of(finding.path).span("/name")[0])
        places = [(finding.path, line, finding.rule) for line in lines]
        entries_for_it = [
            entry for entry, ids in entries_of(change).items() if finding.rule in ids and _names(entry, finding)
        ]
        used_places.update(places)
        used_entries.update(entries_for_it)
        reasons = [reasons_by_place[place] for place in places if place in reasons_by_place]
        reasons += [entry.reason for entry in entries_for_it]
        if reasons:
            accepted_changes.append(replace(finding, accepted=printable(reasons[0])))
        else:
            open_changes.append((change, finding))
    used_comments = {comment for place in used_places for comment in comments_by_place[place]}
    useless_comments = [
        comment
        for comment in comments
        if comment.is_in_base is (comment in used_comments) or comment.is_on_changed_line
    ]
    return AcceptedChanges(
        open=open_changes,
        accepted=accepted_changes,
        comments=[finding for comment in useless_comments for finding in comment.findings(locator_of(comment.file))],
        used_entries=used_entries,
    )


_Place = tuple[str, Target, str]
"""Where a comment counts: a file, a line of it or None for all, and the id of a rule."""


def entries_with_rules(entries: Iterable[Acceptance], rules: RuleSet) -> dict[Acceptance, frozenset[str]]:
    """The entries of a configuration, each with the ids of its rules. Raises UsageError for one of no rule."""
    selectors = {entry: full_selector(entry.rule, rules.all_rules) for entry in entries}
    ids = rule_ids_by_selector(selectors.values(), rules.all_rules)
    return {entry: ids[selector] for entry, selector in selectors.items()}


_Key = tuple[str, tuple[str, ...], str]


class _Comment(NamedTuple):
    """A comment in the head that names rules about changes."""

    file: str
    suppression: Suppression
    rules: RuleSet
    rule_ids: frozenset[str]
    is_in_base: bool
    """Whether the file of the base with the same name has the same comment."""
    is_on_changed_line: bool
    """Whether the base has the comment for other lines only."""
    is_about_changes: bool
    """Whether all its rules are about changes; otherwise it may be there for a finding of `check`."""

    def findings(self, locator: Locator) -> Iterator[Finding]:
        """The finding that the comment accepts nothing, unless it may be there for something else."""
        if not self.is_about_changes:
            return
        names = printable(", ".join(self.suppression.selectors))
        detail = f"no change here violates {names}; remove the comment"
        if self.is_in_base:
            detail = "the base has this comment too, so it does not accept this change; remove it, or give a new reason"
        problem = Problem("unused-ignore", detail, "", self.suppression.start, self.suppression.end)
        for violation in self.rules.violations("problem", [ProblemElement(problem, self.file)]):
            if violation.severity != "off":
                yield located_finding(violation, locator)


def _comments(
    base_sources: Mapping[str, bytes], head_sources: Mapping[str, bytes], configurations: Configurations
) -> Iterator[_Comment]:
    """The comments of the head that name rules about changes."""
    base_lines = _lines_by_comment(base_sources)
    for file, suppressions in _suppressions(head_sources):
        lines = Lines(decode_text(head_sources[file]))
        rules = configurations.rules_of(os.path.dirname(file))
        change_rule_ids = frozenset(rule.id for rule in rules.all_rules if rule.each == "change")
        for suppression in suppressions:
            ids = _rule_ids(suppression, rules)
            if ids & change_rule_ids:
                lines_in_base = base_lines.get(_key(file, suppression))
                is_on_changed_line = lines_in_base is not None and _line(suppression, lines) not in lines_in_base
                yield _Comment(
                    file, suppression, rules, ids, lines_in_base is not None, is_on_changed_line, ids <= change_rule_ids
                )


def _rule_ids(suppression: Suppression, rules: RuleSet) -> frozenset[str]:
    """The ids of all rules that a comment names."""
    return frozenset[str]().union(*rule_ids_by_selector(suppression.selectors, rules.all_rules).values())


def _key(file: str, suppression: Suppression) -> _Key:
    """What identifies a comment in base and head: the name of its file, its rules and its reason."""
    return file_name(file), suppression.selectors, suppression.reason


def _suppressions(sources: Mapping[str, bytes]) -> Iterator[tuple[str, Sequence[Suppression]]]:
    """The path and the ignore comments of each file that may have any."""
    for file, data in sources.items():
        if IGNORE_MARK in data:
            suppressions, _ = parse_suppressions(decode_text(data))
            yield file, suppressions


def _names(entry: Acceptance, finding: ChangeFinding) -> bool:
    """Whether an entry of the configuration names the message, the field and the versions of a change."""
    if entry.message not in (finding.message_name, finding.rpc):
        return False
    if entry.field and entry.field != finding.field:
        return False
    return not entry.versions or VersionRange.of_text(finding.versions) <= VersionRange.of_text(entry.versions)


def description(entry: Acceptance) -> str:
    """What an entry names: `compat/layout-changed of FetchRequest 0-3, Topics.Name`."""
    versions = f" {entry.versions}" if entry.versions else ""
    field = f", {entry.field}" if entry.field else ""
    return printable(f"{entry.rule} of {entry.message}{versions}{field}")


# What a change suppresses

SUPPRESSION_ADDED: Final = Rule(
    pack="review",
    spec=RuleSpec(
        id="suppression-added",
        title="A finding or a break that the change itself suppresses",
        why="An ignore comment or an entry of `accept` counts as its author wrote it, also in the change that adds it. "
        "So `kiplint review` lists each one with what it hides, for the person who approves the change.",
    ),
    severity="info",
)


def added_suppressions(
    base: Tree,
    head: Tree,
    accepted: Iterable[ChangeFinding],
    configurations: Configurations,
    merged_sources: Mapping[str, bytes],
) -> Iterator[Finding]:
    """A finding for each ignore comment that the base and the other sides of a merge lack, with what it hides."""
    for directory, schemas in head.sets.items():
        data_by_file = {definition.file: definition.data for definition in schemas.definitions}
        base_set = base.sets.get(directory)  # otherwise the set was moved
        base_sources = {item.file: item.data for item in base_set.definitions} if base_set else base.sources
        base_lines = _lines_by_comment({**base_sources, **merged_sources})
        added = {
            file: _added(file, suppressions, Lines(decode_text(data_by_file[file])), base_lines)
            for file, suppressions in _suppressions(data_by_file)
        }
        if not any(added.values()):
            continue
        rules = configurations.rules_of(os.path.join(head.root, directory))
        inputs = [SchemaFile(file, _without(data, added.get(file, ()))) for file, data in data_by_file.items()]
        counts: defaultdict[tuple[str, Target], Counter[str]] = defaultdict(Counter)  # of findings by rule
        for finding in (*check_set(inputs, rules, directory=directory).findings, *accepted):
            for target in (None, finding.line):
                counts[finding.path, target][finding.rule] += 1
        for file, suppressions in added.items():
            locator = Locator(decode_text(data_by_file[file]))
            for item in suppressions:
                ids = _rule_ids(item, rules)
                hidden = [(rule, count) for rule, count in counts[file, item.target].items() if rule in ids]
                names = [f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(hidden)]
                selectors, effect = ", ".join(item.selectors), ", ".join(names) or "nothing"
                text = f"the change ignores {selectors} here, which hides {effect}; the reason: {item.reason}"
                location = Location(file, characters=(item.start, item.end))
                yield located_finding(Violation(SUPPRESSION_ADDED, "info", text, location, None), locator)


def _lines_by_comment(sources: Mapping[str, bytes]) -> dict[_Key, Counter[str]]:
    """The lines that each ignore comment applies to; of files with the same name, the most of each line."""
    lines_by_comment: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
    for file, suppressions in _suppressions(sources):
        lines = Lines(decode_text(sources[file]))
        counts: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
        for suppression in suppressions:
            counts[_key(file, suppression)][_line(suppression, lines)] += 1
        for key, count in counts.items():
            lines_by_comment[key] |= count
    return lines_by_comment


def _line(suppression: Suppression, lines: Lines) -> str:
    """The line that a comment applies to; empty for the whole file."""
    return _content(lines.line(suppression.target)) if suppression.target else ""


def _content(line: str) -> str:
    """A line without its indentation and the comma that only separates it from the next."""
    return line.strip(" \t,")


def _added(
    file: str, suppressions: Sequence[Suppression], lines: Lines, base_lines: Mapping[_Key, Counter[str]]
) -> list[Suppression]:
    """The comments of a file that the base lacks: a copy for another line is new, one whose line changed is not."""
    head_lines = {_content(lines.line(number)) for number in range(1, len(lines.starts) + 1)}
    suppressions_by_key: defaultdict[_Key, list[Suppression]] = defaultdict(list)
    for suppression in suppressions:
        suppressions_by_key[_key(file, suppression)].append(suppression)
    added = []
    for key, same_comments in suppressions_by_key.items():
        remaining, others = Counter(base_lines.get(key)), []
        for suppression in same_comments:
            line = _line(suppression, lines)
            if remaining[line]:
                remaining[line] -= 1
            else:
                others.append(suppression)
        changed_count = sum(count for line, count in remaining.items() if line not in head_lines)
        added += others[changed_count:]
    return added


def added_entries(
    file: str, entries: Iterable[Acceptance], rules: RuleSet, accepted: Sequence[ChangeFinding]
) -> Iterator[Finding]:
    """A finding for each of the `entries` that a change adds to a configuration, with how many changes it accepts."""
    for entry, ids in entries_with_rules(entries, rules).items():
        count = sum(change.rule in ids and _names(entry, change) for change in accepted)
        effect = plural(count, "change")
        text = f"the change accepts {description(entry)}, which hides {effect}; the reason: {entry.reason}"
        path = show_path(file)
        yield finding_about_file(Violation(SUPPRESSION_ADDED, "info", text, Location(path), None), path)


def _without(data: bytes, suppressions: Iterable[Suppression]) -> bytes:
    """A definition with blanks in the place of comments, so that all other lines stay where they are.

    The `suppressions` are in the order of the text.
    """
    text = decode_text(data)
    parts, position = [], 0
    for suppression in suppressions:
        parts += [text[position : suppression.start], " " * (suppression.end - suppression.start)]
        position = suppression.end
    return "".join([*parts, text[position:]]).encode()
