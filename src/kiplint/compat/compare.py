"""All changes between two trees of schema sets, from the outside in: messages, RPCs, headers, fields, bytes, tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplint.compat.change import KINDS, STATUSES, Change, Status, policy
from kiplint.compat.pairs import (
    Both,
    FieldPair,
    MessagePair,
    pair_fields,
    pair_messages,
)
from kiplint.compat.released import ReleasedMessage, Releases, released_versions, unstable_version
from kiplint.compat.tree import FieldBudget, TooLargeError, Tree, pair_sets
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, encoding, layout, ranges_of, slot_tokens, tokens, wire_ranges
from kiplint.model.layout import slot as slot_of
from kiplint.model.message import Message
from kiplint.model.schemas import are_related, partner
from kiplint.model.types import INTEGERS
from kiplint.versions import NONE, VersionRange, boundaries


def compare_trees(
    old: Tree,
    new: Tree,
    older: Iterable[Tree] = (),
    releases: Releases | None = None,
    too_large: list[TooLargeError] | None = None,
) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only keep their tag numbers reserved.

    Each change has the status of its versions: a version is released when one of the `releases` has it, without
    releases when the old tree has it. A released version is compared with the newest release that has it, where the old
    tree has other bytes than that release and the new tree.

    A definition that cannot be read on one side is neither new nor removed. A message that is too large to be compared
    is left out, and its error added to `too_large`; without such a list the error is raised.
    """
    pairs = list(_message_pairs(old, new))
    return [
        *_within_limits(_message_changes(old, new, pairs, releases), too_large),
        *_rpc_changes(pairs),
        *_within_limits(_older_tags(pairs, older), too_large),
    ]


def _within_limits(
    changes_by_message: Iterable[Iterator[Change]], too_large: list[TooLargeError] | None
) -> Iterator[Change]:
    for changes in changes_by_message:
        try:
            yield from list(changes)
        except TooLargeError as error:
            if too_large is None:
                raise
            too_large.append(error)


def _message_pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The messages of all sets, paired; a message that moved from one set to another is paired with itself."""
    lost_messages: list[Message] = []
    gained_messages: list[Message] = []
    for old_set, new_set in pair_sets(old, new):
        for before, after in pair_messages(old_set.messages, new_set.messages):
            if before and after:
                yield before, after
            elif before:
                lost_messages.append(before)
            elif after:
                gained_messages.append(after)
    yield from pair_messages(lost_messages, gained_messages, ("request", "response"))


def _message_changes(
    old: Tree, new: Tree, pairs: list[MessagePair], releases: Releases | None
) -> Iterator[Iterator[Change]]:
    unreadable_before, unreadable_after = ({_file_name(item.file) for item in tree.broken} for tree in (old, new))
    successors = {id(before): after for before, after in pairs if before and after}
    for before, after in pairs:
        if before and after:
            if _took_key(before, after):
                yield _reused_key(before, after, old.name.removesuffix(":"))
            elif not before.data or before.data != after.data:
                yield compare_messages(before, after, releases)
        elif before and before.valid and _file_name(before.file) not in unreadable_after:
            half = successors.get(id(partner(before)))
            remaining = half.name if half and half.is_rpc and half.valid else ""
            status = VersionStatuses.of(before, None, releases).best(before.valid)
            yield iter([Change("message-removed", (before, None), before.valid, left=remaining, status=status)])
        elif after and after.valid and _file_name(after.file) not in unreadable_before:
            if releases and (holder := releases.key_holder(after)):
                yield _reused_key(holder.message, after, holder.name)
                continue
            addition = Change("new-message", (None, after), after.valid, status="new")
            yield chain([addition], _group_changes(None, after, VersionStatuses.of(None, after, releases)))


def _took_key(old: Message, new: Message) -> bool:
    """Whether a pair by API key are two messages, and no rename."""
    return old.name != new.name and old.api_key is not None and not are_related(old, new)


def _reused_key(old: Message, new: Message, place: str) -> Iterator[Change]:
    """One change for both halves of an RPC, at the request."""
    if new.type != "response" or not (partner(old) and partner(new)):
        yield Change("api-key-reused", (old, new), new.valid, holder=old.base_name, place=place)


def _file_name(path: str) -> str:
    return re.split(r"[/\\:]", path)[-1]


def _rpc_changes(pairs: list[MessagePair]) -> Iterator[Change]:
    """Bumps of one half of an RPC without the other, and bumps of RPCs that are frozen."""
    common = [Both(old, new) for old, new in pairs if old and new and new.is_rpc and not _took_key(old, new)]
    bumps = {id(new): new.valid - old.valid for old, new in common if new.valid.highest > old.valid.highest}
    for old, new in common:
        missing = bumps.get(id(partner(new)), NONE) - new.valid if bumps else NONE
        if missing:
            yield Change("response-not-bumped", (old, new), missing, status="new")
        if new.valid - old.valid:
            yield Change("frozen-bumped", (old, new), new.valid - old.valid, status="new")


# Versions, and what they are compared with


class VersionGroup(NamedTuple):
    """Versions of one status, and the message that the new one is compared with in them."""

    status: Status
    reference: Message
    versions: VersionRange
    release: str = ""
    """The release that the reference is of, where it is not the old message."""


class VersionStatuses(NamedTuple):
    """The status of each version of an old and a new message, either of which may be missing.

    `groups` has the versions of the new message that are not new. In the `restored` ones it has the bytes of the newest
    release, and the old message had others.
    """

    versions: Mapping[Status, VersionRange]
    groups: Sequence[VersionGroup]
    restored: VersionRange = NONE

    @classmethod
    def of(cls, old: Message | None, new: Message | None, releases: Releases | None) -> VersionStatuses:
        """The statuses, by the releases or, without any, by the old message."""
        own, valid = old.valid if old else NONE, new.valid if new else NONE
        holders = [ReleasedMessage("", old, released_versions(old))] if old else []
        if releases and (message := old or new):
            holders = list(releases.holders(message, own | valid))
        released = restored_versions = NONE
        groups: dict[tuple[Status, int], VersionGroup] = {}

        def add(status: Status, reference: Message, versions: VersionRange, release: str = "") -> None:
            group = groups.get((status, id(reference)), VersionGroup(status, reference, NONE, release))
            if versions:
                groups[status, id(reference)] = group._replace(versions=group.versions | versions)

        for name, release, held_versions in holders:
            released |= held_versions
            if old and old.data == release.data:
                add("released", old, held_versions & valid)
                continue
            for piece in _pieces(old, new, release, held_versions) if new else ():
                was = _form(old, piece) if old and piece <= own else None
                now, then = _form(new, piece) if new else None, _form(release, piece)
                if old and was and now and (was == now or (now != then and was.data in (now.data, then.data))):
                    add("released", old, piece)
                else:
                    add("released", release, piece, name)
                    restored_versions |= piece if was and now == then and was.data != then.data else NONE
        unstable = unstable_version(old) - released if old else NONE
        base = own - released - unstable
        if old:
            add("base", old, base & valid)
            add("unstable", old, unstable & valid)
        versions: dict[Status, VersionRange] = {"released": released, "base": base, "unstable": unstable}
        return cls({**versions, "new": valid - own - released}, tuple(groups.values()), restored_versions)

    def best(self, versions: VersionRange) -> Status:
        """The most binding status of versions; that of a message which never had any is the base's."""
        return next((status for status in STATUSES if versions & self.versions[status]), "base")


def _pieces(old: Message | None, new: Message, release: Message, held_versions: VersionRange) -> Iterator[VersionRange]:
    """The released versions of the new message, cut where the bytes of any of the three messages may change."""
    messages = [message for message in (old, new, release) if message]
    for message in messages:
        FieldBudget(message).spend(message)
    ranges = [versions for message in messages for versions in (message.valid, *wire_ranges(message))]
    yield from boundaries(ranges, held_versions & new.valid)


class WireForm(NamedTuple):
    """A version of a message: its bytes with the defaults of its tags, and the names of its fields."""

    data: tuple[object, ...]
    names: tuple[object, ...]


def _form(message: Message, versions: VersionRange) -> WireForm:
    """The form of versions that all have the same form."""
    version = versions.lowest
    body = layout(message, version, version in message.flexible)
    header = header_of(message, version) if message.is_rpc else None
    return WireForm((header, encoding(body), tuple(_tag_defaults(body))), _names(body))


def _names(body: Layout) -> tuple[object, ...]:
    slots = body.all_slots
    return tuple((slot.field.name, _names(slot.body) if slot.body else ()) for slot in slots)


def _tag_defaults(body: Layout) -> Iterator[object]:
    """The defaults of the tagged fields, which the absence of a tag means, in the order of the sections."""
    for slot in body.all_slots:
        yield from _tag_defaults(slot.body) if slot.body else ()
    yield from (_default_value(slot.field) for slot in body.tags or ())


# Messages


def compare_messages(old: Message, new: Message, releases: Releases | None = None) -> Iterator[Change]:
    """All changes of a message that both sets have, but for tag numbers of older sets."""
    both = Both(old, new)
    statuses = VersionStatuses.of(old, new, releases)
    if _was_version(old, new):
        yield from _moved_record_type(both, statuses.best(old.valid))
        return
    for change in _property_changes(both):
        yield replace(change, status=statuses.best(change.versions & old.valid or old.valid))
    yield from _new_versions(both)
    other = partner(new)
    for status, versions in statuses.versions.items():
        if drops := versions & old.valid - new.valid:
            yield Change("version-dropped", both, drops, held=drops & other.valid if other else NONE, status=status)
    yield from _group_changes(old, new, statuses)


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number stands in the same place, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and number in old.valid


def _moved_record_type(both: Both, status: Status) -> Iterator[Change]:
    old, new = both
    number = new.api_key or 0
    versions = VersionRange.of(number, number)
    yield Change("record-type-moved", both, versions, status=status)
    if tokens(layout(old, number)) != tokens(layout(new, new.valid.lowest)):
        yield Change("layout-changed", both, versions, status=status)


def _property_changes(both: Both) -> Iterator[Change]:
    """The changes of a message's own properties, such as its name, API key, versions and listeners.

    Versions and listeners are compared if both sides have versions; listeners only if both also declare them, as Kafka
    does since 2.8. Only valid versions count as deprecated (KIP-896).
    """
    old, new = both
    if old.name != new.name:
        yield Change("message-renamed", both, new.valid, was=old.name, now=new.name)
    if old.type != new.type and not (old.is_record and new.is_record):
        yield Change("type-changed", both, old.valid, was=old.type, now=new.type)
    if old.api_key is not None and old.api_key != new.api_key:
        now = "" if new.api_key is None else str(new.api_key)
        yield Change("api-key-changed", both, old.valid, was=str(old.api_key), now=now)
    if old.valid and new.valid:
        if gap := VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1):
            yield Change("gap-in-versions", both, gap)
        if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest:
            yield Change("released-unstable", both, VersionRange.of(new.valid.highest, new.valid.highest))
        if old.declares_listeners and new.declares_listeners:
            old_names, new_names = {*old.listeners}, {*new.listeners}
            if removed_names := tuple(name for name in old.listeners if name not in new_names):
                yield Change("listener-removed", both, new.valid, listeners=removed_names)
            if added_names := tuple(name for name in new.listeners if name not in old_names):
                yield Change("listener-added", both, new.valid, listeners=added_names)
    if deprecated := (new.deprecated - old.deprecated) & new.valid:
        yield Change("deprecated", both, deprecated)
    if restored_versions := (old.deprecated - new.deprecated) & old.valid & new.valid:
        yield Change("undeprecated", both, restored_versions)


def _new_versions(both: Both) -> Iterator[Change]:
    new_versions = both.new.valid - both.old.valid
    if again := new_versions & VersionRange.of(0, both.old.valid.highest):
        yield Change("new-version", both, again, again=True, status="new")
    if new_versions - again:
        yield Change("new-version", both, new_versions - again, status="new")


def _group_changes(old: Message | None, new: Message, statuses: VersionStatuses) -> Iterator[Change]:
    """The changes of versions that are not new, status by status; also new fields, and tags that are reused."""
    references = {id(message): message for message in (old, *(group.reference for group in statuses.groups)) if message}
    containers: dict[int, Sequence[ContainerPair]] = {}
    for key, message in references.items():
        both = Both(message, new)
        for side in both:
            FieldBudget(side).spend(side)
        containers[key] = _container_pairs(both)
        yield from _reused_tags(both, containers[key], statuses)
    status_by_change: dict[tuple[str, str], Status] = {}
    collected_versions: dict[Status, VersionRange] = {}
    for status, reference, versions, release in statuses.groups:
        changes = _version_changes(Both(reference, new), containers[id(reference)], versions)
        if old and reference is not old:
            changes = _without_earlier(changes, Both(reference, old), versions)
        for change in changes:
            if policy(change.name, status) == "collect":
                collected_versions[status] = collected_versions.get(status, NONE) | change.versions
            elif status_by_change.setdefault((change.name, change.field), status) == status:
                yield replace(change, status=status, release=release)
    if old is None:
        return
    both = Both(old, new)
    for status, versions in collected_versions.items():
        yield Change("unstable-changed", both, versions, status=status)
    if statuses.restored:
        yield Change("unstable-changed", both, statuses.restored, restored=True)
    changed_fields = {field for name, field in status_by_change if name == "layout-changed"}
    additions = _new_fields(both, containers[id(old)], statuses)
    yield from (change for change in additions if change.field not in changed_fields)


def _version_changes(both: Both, containers: Sequence[ContainerPair], versions: VersionRange) -> Iterator[Change]:
    yield from _flexible_changes(both, versions)
    yield from _field_changes(both, containers, versions)
    yield from compare_headers(both, versions)


def _without_earlier(changes: Iterable[Change], both: Both, versions: VersionRange) -> Iterator[Change]:
    """The changes since a release without those that the old message had made already: `both` are these two."""
    earlier: dict[tuple[object, ...], VersionRange] = {}
    for change in _version_changes(both, _container_pairs(both), versions):
        earlier[_outcome(change)] = earlier.get(_outcome(change), NONE) | change.versions
    for change in changes:
        if own_versions := change.versions - earlier.get(_outcome(change), NONE):
            yield replace(change, versions=own_versions)


def _outcome(change: Change) -> tuple[object, ...]:
    return change.name, change.kind, change.field, change.now, change.new_tag


def _flexible_changes(both: Both, common: VersionRange) -> Iterator[Change]:
    old, new = both
    for difference, flexible in ((new.flexible - old.flexible, True), (old.flexible - new.flexible, False)):
        if versions := difference & common:
            yield Change("flexible-changed", both, versions, flexible=flexible)


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The common versions that have another header; with `derived` also where neither side declares headers."""
    old, new = both
    if not (old.is_rpc and new.is_rpc and (derived or old.declares_headers or new.declares_headers)):
        return
    ranges = [entry.versions for message in both for entry in message.header_ranges]
    by_new: dict[int, dict[int, VersionRange]] = {}
    for versions in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *ranges], common):
        was, now = header_of(old, versions.lowest), header_of(new, versions.lowest)
        if was != now and min(was, now) >= 0:
            by_old = by_new.setdefault(now, {})
            by_old[was] = by_old.get(was, NONE) | versions
    for by_old in by_new.values():
        versions = NONE
        for piece in by_old.values():
            versions |= piece
        yield Change("header-changed", both, versions, old_headers=tuple(by_old))


# Fields: what bytes show


class ContainerPair(NamedTuple):
    """A message or struct in both messages, with its fields, paired, and the versions that have it in each of them."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: tuple[VersionRange, VersionRange]


def _container_pairs(messages: Both) -> Sequence[ContainerPair]:
    """The message and the structs inside, each pair once, however many fields use it."""
    pairs: dict[tuple[int, int], ContainerPair] = {}
    everywhere = (VersionRange.of(0), VersionRange.of(0))
    waiting: list[tuple[Container, Container, tuple[VersionRange, VersionRange]]] = [(*messages, everywhere)]
    while waiting:
        old, new, versions = waiting.pop()
        pair = pairs.get((id(old), id(new))) or ContainerPair(old, new, pair_fields(old, new), (NONE, NONE))
        if versions[0] <= pair.versions[0] and versions[1] <= pair.versions[1]:
            continue
        whole = pair.versions[0] | versions[0], pair.versions[1] | versions[1]
        pairs[id(old), id(new)] = pair._replace(versions=whole)
        for before, after in pair.fields:
            if before and after and before.struct and after.struct:
                waiting.append((before.struct, after.struct, (whole[0] & before.versions, whole[1] & after.versions)))
    return list(pairs.values())


def _field_changes(messages: Both, containers: Iterable[ContainerPair], common: VersionRange) -> Iterator[Change]:
    """The changes of the fields of a message and of all structs inside, in versions that both have."""
    budget = FieldBudget(messages.new)
    for old, new, pairs, present in containers:
        versions = present[0] & present[1] & common
        changes: dict[Change, VersionRange] = {}
        intervals = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        for container in (old, new):
            budget.spend(container, len(intervals))
        for interval in intervals:
            for change in _differences(ComparedVersion(messages, (old, new), interval.lowest), pairs):
                changes[change] = changes.get(change, interval) | interval
        for change, own_versions in changes.items():
            yield replace(change, versions=own_versions)
        for before, after in pairs:
            if before and after and (both := versions & before.versions & after.versions):
                yield from _attribute_changes(messages, before, after, both)


def _ranges_below(container: Container) -> Iterator[VersionRange]:
    """Every range that affects the layout of the container, structs inside it included."""
    ids = {id(container)}
    waiting = [container]
    while waiting:
        container = waiting.pop()
        yield from ranges_of(container)
        structs = [field.struct for field in container.fields if field.is_struct and field.struct]
        waiting += [struct for struct in structs if id(struct) not in ids]
        ids.update(map(id, structs))


class ComparedVersion:
    """One version of a message or struct that both sets have; it stands for all on which nothing changes.

    `plain` is set where the version is flexible on one side only: compact and plain encodings then count as equal.
    """

    def __init__(self, messages: Both, containers: tuple[Container, Container], version: int) -> None:
        self.messages = messages
        self.containers = containers
        self.version = version
        self.flexible = version in messages.old.flexible, version in messages.new.flexible
        self.plain = self.flexible[0] != self.flexible[1]
        self.old = layout(containers[0], version, self.flexible[0])
        self.new = layout(containers[1], version, self.flexible[1])

    @cached_property
    def same(self) -> bool:
        """Whether the bytes are the same, apart from what follows from the version being flexible."""
        return tokens(self.old, plain=self.plain) == tokens(self.new, plain=self.plain)

    def change(self, name: str, pair: FieldPair, **values: Any) -> Change:
        """A change of a field in this version; its `versions` are left empty."""
        return Change(name, self.messages, NONE, pair, self.containers, **values)

    def has_bytes(self, pair: FieldPair) -> bool:
        """Whether both sides have the field, untagged, and at least one of them writes bytes for it."""
        sides = [(field, flexible) for field, flexible in zip(pair, self.flexible, strict=True) if field]
        if len(sides) < 2 or any(self.version not in field.versions - field.tagged for field, _ in sides):
            return False
        return any(
            not field.is_struct or slot_tokens(slot_of(field, self.version, flexible), plain=self.plain)
            for field, flexible in sides
        )

    def offsets(self) -> tuple[dict[int, int], dict[int, int]]:
        """For each side, by index of a field: the number of tokens before it."""
        return _offsets(self.old, self.plain), _offsets(self.new, self.plain)


def _offsets(body: Layout, plain: bool) -> dict[int, int]:
    offsets, offset = {}, 0
    for slot in body.slots:
        offsets[slot.field.index] = offset
        offset += len(slot_tokens(slot, plain=plain))
    return offsets


def _differences(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The differences between the fields of one version; their `versions` are left empty."""
    for pair in pairs:
        yield from _pair_differences(comparison, pair)
    if comparison.same:
        yield from _replaced_fields(comparison, pairs)
    present = [pair for pair in pairs if comparison.has_bytes(pair)]
    was = sorted(present, key=lambda pair: pair[0].index if pair[0] else 0)
    now = sorted(present, key=lambda pair: pair[1].index if pair[1] else 0)
    moved_pairs = [after for before, after in zip(was, now, strict=True) if before is not after]
    if moved_pairs:
        names = tuple(field.name for _, field in now if field)
        yield comparison.change("fields-reordered", moved_pairs[0], same=comparison.same, order=names)
    elif comparison.same:
        yield from _shifted_field(comparison, now)


def _pair_differences(comparison: ComparedVersion, pair: FieldPair) -> Iterator[Change]:
    was, now = (field is not None and comparison.version in field.versions for field in pair)
    was_tagged, now_tagged = (
        field is not None and comparison.version in field.versions and comparison.version in field.tagged and flexible
        for field, flexible in zip(pair, comparison.flexible, strict=True)
    )
    if was and now and was_tagged != now_tagged:
        yield comparison.change("tagged-moved", pair, tagged=now_tagged)
    elif was and now:
        yield from _differences_of_both(comparison, pair)
    elif was_tagged:
        yield comparison.change("tag-removed", pair)
    elif now_tagged:
        yield comparison.change("new-tag", pair)
    elif (was or now) and not comparison.same:
        before, after = (field.type if field and there else "" for field, there in zip(pair, (was, now), strict=True))
        yield comparison.change("layout-changed", pair, was=before, now=after)


def _differences_of_both(comparison: ComparedVersion, pair: FieldPair) -> Iterator[Change]:
    old, new = pair
    assert old is not None
    assert new is not None
    version = comparison.version
    before = slot_of(old, version, comparison.flexible[0])
    after = slot_of(new, version, comparison.flexible[1])
    same = slot_tokens(before) == slot_tokens(after) if version in new.tagged else comparison.same
    if old.tag != new.tag and version in old.tagged:
        yield comparison.change("tag-changed", pair)
    yield from _encoding_differences(comparison, pair, before, after, same=same)


def _encoding_differences(
    comparison: ComparedVersion, pair: FieldPair, old: Slot, new: Slot, *, same: bool
) -> Iterator[Change]:
    """How the encoding of one field differs; `same` tells whether the bytes are equal."""
    was, now = describe(old), describe(new)
    if (old.array, old.kind) != (new.array, new.kind):
        if old.compact == new.compact:  # both follow from the version being flexible, which is not part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        if same and _has_same_meaning(old, new):
            yield comparison.change("type-retyped", pair, was=was, now=now)
        else:
            yield comparison.change("layout-changed", pair, was=was, now=now, same=same)
        return
    if old.nullable != new.nullable:
        yield comparison.change("nullability-widened" if new.nullable else "nullability-narrowed", pair)
    has_length = old.array or old.kind in ("string", "bytes", "records")
    if not comparison.plain and old.compact != new.compact and has_length:
        yield comparison.change("flexible-changed", pair, was=was, now=now)


def _has_same_meaning(old: Slot, new: Slot) -> bool:
    """Whether equal bytes of two types have the same meaning.

    A struct around a value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. But bytes need not be text, and the bytes in records on disk are never batches.
    """
    types = {old.kind, new.kind}
    return "struct" in types or (types == {"bytes", "records"} and new.field.message.is_rpc)


def _replaced_fields(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The fields whose bytes other fields have now: a rename in this version only, or one with a change of type."""
    was, now = comparison.offsets()
    paired_ids = {id(new) for old, new in pairs if old and new and old.index in was}
    free = {
        (now[slot.field.index], slot_tokens(slot, plain=comparison.plain)): slot
        for slot in comparison.new.slots
        if id(slot.field) not in paired_ids
    }
    present = {old.name: new and new.index in now for old, new in pairs if old}
    for before in comparison.old.slots:
        if present[before.field.name]:
            continue
        after = free.get((was[before.field.index], slot_tokens(before, plain=comparison.plain)))
        pair = (before.field, after.field if after else None)
        yield comparison.change("field-renamed", pair)
        if after:
            yield from _encoding_differences(comparison, pair, before, after, same=True)


def _shifted_field(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The first field at another position in equal bytes, because others came before it or were removed."""
    was, now = comparison.offsets()
    for old, new in pairs:
        if old and new and was[old.index] != now[new.index]:
            before = (slot.field.name for slot in comparison.old.slots if was[slot.field.index] == now[new.index])
            holder = next(before, "")
            yield comparison.change("fields-reordered", (old, new), same=True, holder=holder)
            return


# Fields: what no byte shows


def _attribute_changes(messages: Both, old: Field, new: Field, versions: VersionRange) -> Iterator[Change]:
    """The changes of a field that leave its bytes as they are, in versions that have it on both sides."""

    def change(name: str, was: str, now: str) -> Change:
        return Change(name, messages, versions, (old, new), was=was, now=now)

    if old.name != new.name:
        yield change("field-renamed", old.name, new.name)
    if old.is_struct and new.is_struct and old.element_type != new.element_type:
        yield change("struct-renamed", old.element_type, new.element_type)
    was, now = _quote_default(old), _quote_default(new)
    if was != now and _default_value(old) != _default_value(new) and not _is_ended(messages, old, new):
        yield change("default-changed", was, now)
    for name in ("entity-type-changed", "map-key-changed", "ignorable-changed"):
        values = [getattr(field, KINDS[name].attribute) for field in (old, new)]
        if values[0] != values[1]:
            yield change(
                name,
                *(
                    str(value).lower() if value is False or value is True else str(value) or "left out"
                    for value in values
                ),
            )


def _quote_default(field: Field) -> str:
    """A field's default as messages quote it."""
    if field.defaults_to_null:
        return "null"
    return f'"{field.default}"' if field.has_default else "left out"


def _is_ended(messages: Both, old: Field, new: Field) -> bool:
    """Whether the change ends a field below the highest version, and gives it the default that its readers take."""
    return not old.has_default and new.ends_early and old.present.highest == messages.old.valid.highest


def _default_value(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and a default that is left out are the same number."""
    text = field.default
    if field.defaults_to_null:
        return None
    if field.is_array or field.is_struct:
        return ""
    if field.element_type == "bool":
        return (text or "false").lower()
    try:
        if field.element_type in INTEGERS:
            return int(text or "0", 16 if text.startswith("0x") else 10)
        return float(text or "0") if field.element_type == "float64" else text
    except ValueError:
        return text


def _new_fields(messages: Both, containers: Iterable[ContainerPair], statuses: VersionStatuses) -> Iterator[Change]:
    """The fields that no released version of the old message has; what a release between the two has is new as well."""
    old, new = messages
    released = statuses.versions["released"] & old.valid
    for _, _, pairs, (_, present) in containers:
        for before, after in pairs:
            versions = after.versions & present & new.valid if after and not before else NONE
            if not versions or versions & released:
                continue
            pair: FieldPair = (None, after)
            status = statuses.best(versions) if versions & old.valid else "new"
            yield Change("new-field", messages, versions, pair, status=status)
            older = bool(old.valid & new.valid - versions)
            if older and new.is_rpc and after and not after.ignorable:
                yield Change("new-field-not-ignorable", messages, versions, pair, status=status)


# Tag numbers that are used again


def _older_tags(pairs: list[MessagePair], older: Iterable[Tree]) -> Iterator[Iterator[Change]]:
    """For each message: the tags that mean another field than they meant in an older tree.

    What looks like a rename since then is a rename only if the old message has the field too: a number that was given
    up in between stays reserved.
    """
    ancestors: dict[tuple[str, str], list[Message]] = {}
    for tree in older:
        for message in tree.messages:
            ancestors.setdefault((message.name, message.type), []).append(message)
    for before, after in pairs:
        if after and b"taggedVersions" in after.data:
            names = sorted({message.name for message in (after, before) if message})
            forms = [message for name in names for message in ancestors.get((name, after.type), [])]
            yield _tags_of_ancestors(before, after, forms)


def _tags_of_ancestors(before: Message | None, after: Message, ancestors: Iterable[Message]) -> Iterator[Change]:
    with_same_tag = _fields_with_kept_tag(before, after) if before else set()
    reported_fields: set[str] = set()
    for ancestor in ancestors:
        both = Both(ancestor, after)
        for message in both:
            FieldBudget(message).spend(message)
        for change in _reused_tags(
            both, _container_pairs(both), VersionStatuses.of(ancestor, after, None), with_same_tag
        ):
            if change.field not in reported_fields:
                reported_fields.add(change.field)
                yield change


def _reused_tags(
    messages: Both,
    containers: Iterable[ContainerPair],
    statuses: VersionStatuses,
    with_same_tag: set[int] | None = None,
) -> Iterator[Change]:
    """The tags that mean another field than in the old message; `with_same_tag`: ids of fields that kept theirs."""
    old, new = messages
    for _, _, pairs, present in containers:
        by_tag = {after.tag: (before, after) for before, after in pairs if after and after.tag is not None}
        for before, after in pairs:
            if before is None or before.tag not in by_tag:
                continue
            same_tag, holder = by_tag[before.tag]
            if after and after.tag == before.tag:
                same_tag, holder = before, after  # of several fields with one tag, the field's own
                if with_same_tag is None or id(holder) in with_same_tag or _is_restored(before, holder):
                    continue
            old_versions = before.tagged & before.versions & present[0] & old.valid & old.flexible
            versions = holder.tagged & holder.versions & present[1] & new.valid & new.flexible
            if same_tag and same_tag is not before and same_tag.tag == holder.tag:  # had the number beside it
                versions -= same_tag.tagged & same_tag.versions & present[0] & old.valid
            versions = versions & old_versions or versions
            if old_versions and versions:
                yield Change("tag-reused", messages, versions, (before, holder), status=statuses.best(old_versions))


def _fields_with_kept_tag(old: Message, new: Message) -> set[int]:
    """The ids of the new message's fields that had their tag in the old message."""
    pairs = (pair for container in _container_pairs(Both(old, new)) for pair in container.fields)
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _is_restored(old: Field, new: Field) -> bool:
    """Whether a field that was gone for a while is the same as before."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)
