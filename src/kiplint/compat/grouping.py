"""Changes that a reader sees as one: a new version with all that it brings, and what many RPCs have alike.

JSON has each change by itself; text, Markdown and the page show the groups.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import BREAKS, GRAVE
from kiplint.engine.finding import SEVERITIES
from kiplint.model.notes import subject_versions
from kiplint.text.words import plural
from kiplint.versions import NONE, VersionRange, uniform_parts

MANY: Final = 10
"""What so many RPCs have alike is one group."""

NEW_VERSION: Final = "compat/new-version"


class GroupLine(NamedTuple):
    """A line below a group: what a new version brings, what a comment says of it, or the names of many RPCs."""

    text: str
    change: ChangeFinding | None = None
    """The most severe change that the line tells; None where it tells none."""

    @property
    def is_notable(self) -> bool:
        """Whether the line tells more than an info."""
        return self.change is not None and self.change.severity != "info"


class ChangeGroup(NamedTuple):
    """Changes that a reader sees as one: of an RPC, of another message, or of many."""

    name: str
    """The name of the RPC or the message; `55 RPCs` for many."""
    types: tuple[str, ...]
    """Those of `request` and `response` that have the changes; empty for other messages."""
    predicate: str
    """What is said of them: `: version 13 is new` or ` is new, with version 0`."""
    changes: tuple[ChangeFinding, ...]
    """The first has the place, and the proof if there is one."""
    lines: tuple[GroupLine, ...] = ()

    @property
    def statement(self) -> str:
        """The text below a heading with the name: `request and response: version 13 is new`."""
        predicate = self.predicate
        if len(self.types) > 1 and predicate.startswith(" is "):
            predicate = predicate.replace(" is ", " are ", 1)
        return f"{' and '.join(self.types)}{predicate}".removeprefix(": ").lstrip()

    @property
    def sentence(self) -> str:
        """The text without a heading: `ProduceRequest: version 13 is new`, or `Produce, request and response: ...`."""
        names = {change.message_name for change in self.changes}
        if len(names) == 1:
            return f"{names.pop()}{self.predicate}"
        return f"{self.name}, {self.statement}" if self.types else f"{self.name}{self.predicate}"

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule of the first change, and those of the lines that are more than infos."""
        notable = (line.change.rule for line in self.lines if line.is_notable and line.change)
        return tuple(dict.fromkeys([self.changes[0].rule, *notable]))


def group_changes(changes: Iterable[ChangeFinding]) -> list[ChangeGroup]:
    """The groups: the serious changes in their order, then the others by RPC, the worst breaks first.

    In both parts, what many RPCs have alike comes first.
    """

    def order(change: ChangeFinding) -> tuple[int, str, str]:
        return BREAKS.index(change.breaks), change.rule, change.message_type

    serious_groups, other_changes = [], []
    for change in changes:
        if is_serious(change):
            serious_groups.append(_group([change]))
        else:
            other_changes.append(change)
    groups: list[ChangeGroup] = []
    other_changes.sort(key=lambda change: (change.rpc, order(change)))
    for _, changes_of_rpc in groupby(other_changes, key=lambda change: change.rpc):
        version_groups, others = _new_versions([*changes_of_rpc])
        groups += sorted([*version_groups, *_statements(others)], key=lambda group: order(group.changes[0])[:2])
    return [*_common_groups(serious_groups), *_common_groups(groups)]


def is_serious(change: ChangeFinding) -> bool:
    """Whether a change is an error or breaks bytes: only then are its line, its proof and its advice shown."""
    return change.breaks in GRAVE or change.severity == "error"


def _common_groups(groups: Sequence[ChangeGroup]) -> list[ChangeGroup]:
    """The groups, with one in front for each change that many RPCs have alike.

    The name of the message does not count, nor does the number of its new version.
    """

    def key(group: ChangeGroup) -> tuple[object, ...]:
        first, version = group.changes[0], _new_version(group)
        texts = (group.predicate.replace(first.message_name, ""), *(line.text for line in group.lines))
        return first.rule, group.types, *(_without_number(text, version) for text in texts)

    alike: defaultdict[tuple[object, ...], list[ChangeGroup]] = defaultdict(list)
    for group in groups:
        alike[key(group)].append(group)
    common = [members for members in alike.values() if len({member.name for member in members}) >= MANY]
    common_ids = {id(group) for members in common for group in members}
    return [*map(_common_group, common), *(group for group in groups if id(group) not in common_ids)]


def _common_group(groups: Sequence[ChangeGroup]) -> ChangeGroup:
    """The group of what many RPCs have alike, with their names; a message in the text is `55 requests` instead.

    If their new versions differ, the text is about `version N`, and the numbers follow the names.
    """
    first, names = groups[0], dict.fromkeys(group.name for group in groups)
    change, types, predicate, lines = first.changes[0], first.types, first.predicate, first.lines
    name = plural(len(names), "RPC" if first.types else "message")
    if change.message_name in predicate:
        predicate = predicate.replace(change.message_name, plural(len(names), change.message_type))
        types = ()
    if len({_new_version(group) for group in groups}) > 1:
        version = _new_version(first)
        predicate = _without_number(predicate, version)
        lines = tuple(line._replace(text=_without_number(line.text, version)) for line in lines)
        names = dict.fromkeys(f"{group.name} {_new_version(group)}" for group in groups)
    changes = sorted((change for group in groups for change in group.changes), key=_severity)
    owner = f"{name}: " if is_serious(change) else ""  # there the name is no heading
    return ChangeGroup(name, types, predicate, tuple(changes), (*lines, GroupLine(owner + ", ".join(names))))


def _new_version(group: ChangeGroup) -> int:
    """The new version that a group is about, -1 if it is about none or several."""
    match = re.match(r": version (\d+) is new\b", group.predicate)
    return int(match[1]) if match else -1


def _without_number(text: str, version: int) -> str:
    """A text about `version N` instead of a new version, and about `version N-1` instead of the one before."""
    names = {str(version): "N", str(version - 1): "N-1"}
    return re.sub(r"(?<=[Vv]ersion )\d+\b", lambda number: names.get(number[0], number[0]), text)


def _statements(changes: Iterable[ChangeFinding]) -> Iterator[ChangeGroup]:
    """A group for each change of an RPC; the same change of its request and its response is one."""
    changes_by_text: defaultdict[tuple[str, ...], list[ChangeFinding]] = defaultdict(list)
    for change in changes:
        changes_by_text[change.severity, change.rule, change.below_heading].append(change)
    yield from map(_group, changes_by_text.values())


def _group(changes: Sequence[ChangeFinding]) -> ChangeGroup:
    """The group of the same change of one or both messages of an RPC."""
    types = _types(changes)
    notes = [Remark(change.message_type, NONE, note) for change in changes for note in change.note.splitlines()]
    return ChangeGroup(changes[0].rpc, types, changes[0].below_heading, tuple(changes), _lines(notes, types))


def _types(changes: Iterable[ChangeFinding]) -> tuple[str, ...]:
    """Those of `request` and `response` that have the changes."""
    types = dict.fromkeys(change.message_type for change in changes)
    return tuple(name for name in types if name in ("request", "response"))


# New versions

WORDS: Final[Mapping[str, str]] = {
    "compat/flexible-later": "is the first flexible version",
    "compat/header-later": "uses {message_type} header {header}",
    "compat/new-field": "adds {field} ({declaration})",
    "compat/new-field-not-ignorable": "adds {field} ({declaration})",
    "compat/field-ended": "removes {field} ({declaration})",
    "compat/tagged-later": "{field} is now tagged ({declaration})",
    "compat/nullable-later": "{field} may be null",
    "compat/unstable-changed": "{statement}",
}
"""By the id of a rule, the line about its changes below the new version that brings them."""


class Remark(NamedTuple):
    """What a message brings with new versions, or what its comments say of them."""

    message_type: str
    versions: VersionRange
    text: str
    change: ChangeFinding | None = None


def _new_versions(changes: Sequence[ChangeFinding]) -> tuple[list[ChangeGroup], list[ChangeFinding]]:
    """A group for each new version of an RPC, and the changes that are in none; versions that bring nothing share one.

    The two messages of an RPC mostly have the same new versions.
    """
    hosts_by_kind: defaultdict[str, list[ChangeFinding]] = defaultdict(list)
    for change in changes:
        if change.rule == NEW_VERSION:
            hosts_by_kind[change.kind].append(change)
    groups: list[ChangeGroup] = []
    for hosts in hosts_by_kind.values():
        remarks: defaultdict[int, list[Remark]] = defaultdict(list)  # by the version that they are about first
        for remark in (remark for host in hosts for remark in _remarks(host, changes)):
            remarks[remark.versions.lowest].append(remark)
        ranges = [VersionRange.of_text(host.versions) for host in hosts]
        bounds = [*ranges, *map(_unstable, hosts), *(remark.versions for own in remarks.values() for remark in own)]
        for versions in uniform_parts(bounds, VersionRange.union(ranges)):
            own_hosts = [host for host, new_versions in zip(hosts, ranges, strict=True) if versions <= new_versions]
            own_remarks = remarks[versions.lowest]  # no version after the lowest begins a remark: it would begin a part
            types = _types(own_hosts)
            told_changes = [remark.change for remark in own_remarks if remark.change]
            predicate = _predicate(own_hosts[0], versions)
            groups.append(
                ChangeGroup(hosts[0].rpc, types, predicate, (*own_hosts, *told_changes), _lines(own_remarks, types))
            )
    told_ids = {id(change) for group in groups for change in group.changes}
    return groups, [change for change in changes if id(change) not in told_ids]


def _remarks(host: ChangeFinding, changes: Iterable[ChangeFinding]) -> Iterator[Remark]:
    """What the comments say of the new versions of a message, then what these bring."""
    new_versions = VersionRange.of_text(host.versions)
    for note in host.note.splitlines():
        yield Remark(host.message_type, subject_versions(note) & new_versions, note)
    for change in changes:
        is_line = change.rule in WORDS and change.message_name == host.message_name
        first = VersionRange.of_text(change.versions).lowest if is_line else -1
        if first in new_versions:
            yield Remark(host.message_type, VersionRange.of(first, first), _words(change), change)


def _unstable(host: ChangeFinding) -> VersionRange:
    """The new version that is unstable: only the highest may be."""
    highest = VersionRange.of_text(host.versions).highest
    return VersionRange.of(highest, highest) if host.unstable else NONE


def _predicate(host: ChangeFinding, versions: VersionRange) -> str:
    """What is said of one or some of the new versions of a message, in the words that its rule has for all of them."""
    if str(versions) == host.versions:
        return host.below_heading
    if versions == _unstable(host):
        return f": version {versions} is new, and unstable: brokers do not offer it by default"
    return f": version {versions} is new" if versions.lowest == versions.highest else f": versions {versions} are new"


def _words(change: ChangeFinding) -> str:
    """The line about a change below the new version that brings it."""
    if change.kind == "nullable-no-longer":
        return f"{change.field} can no longer be null"
    return WORDS[change.rule].format(
        field=change.field,
        declaration=_declaration(change.new),
        statement=change.below_heading.removeprefix(": "),
        message_type=change.message_type,
        header=change.new.get("headerVersions"),
    )


def _declaration(properties: Mapping[str, str]) -> str:
    """A field as it is declared: `string, nullable, before Topics` or `[]Node: NodeId int32, Host compact string`."""
    words = {
        "fields": ": {}",
        "tag": ", tag {}",
        "nullableVersions": ", nullable",
        "default": ", default {}",
        "before": ", before {}",
    }
    parts = [text.format(properties[name] or '""') for name, text in words.items() if name in properties]
    parts += [", not ignorable"] if properties.get("ignorable") == "false" else []
    return properties.get("type", "") + "".join(parts)


def _lines(remarks: Iterable[Remark], types: Sequence[str]) -> tuple[GroupLine, ...]:
    """A line for each text of remarks, with the type of the message where the others of `types` do not have it."""
    remarks_by_text: defaultdict[str, list[Remark]] = defaultdict(list)
    for remark in remarks:
        remarks_by_text[remark.text].append(remark)
    lines = []
    for text, group in remarks_by_text.items():
        owner = f"{group[0].message_type}: " if len(types) > len({remark.message_type for remark in group}) else ""
        changes = (remark.change for remark in group if remark.change)
        lines.append(GroupLine(owner + text, min(changes, key=_severity, default=None)))
    return tuple(lines)


def _severity(change: ChangeFinding) -> int:
    """The rank of a change's severity, 0 for the worst."""
    return SEVERITIES.index(change.severity)
