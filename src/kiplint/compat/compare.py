"""All changes between two trees of schema sets, from the outside in: messages, RPCs, headers, fields, bytes, tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from kiplint.compat import kinds
from kiplint.compat.change import Both, Change, FieldPair, MessagePair, pair_fields, pair_messages, partner
from kiplint.compat.kinds import FieldChange
from kiplint.compat.released import Releases, released_versions, unstable_version
from kiplint.compat.tree import FieldBudget, Tree, pair_sets
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, ranges_of, slot_tokens, tokens
from kiplint.model.layout import slot as slot_of
from kiplint.model.message import Message
from kiplint.model.types import INTEGERS
from kiplint.versions import NONE, VersionRange, boundaries


def compare_trees(old: Tree, new: Tree, older: Iterable[Tree] = (), releases: Releases | None = None) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only keep their tag numbers reserved.

    A version is released when one of the `releases` has it, without releases when the old tree has it.

    A definition that cannot be read on one side is neither new nor removed. Raises UsageError for a message that is
    too large to be compared.
    """
    pairs = list(_message_pairs(old, new))
    return [*_message_changes(old, new, pairs, releases), *_rpc_changes(pairs), *_tag_changes(pairs, older)]


def _message_pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The messages of all sets, paired; a message that moved from one set to another is paired with itself."""
    lost: list[Message] = []
    gained: list[Message] = []
    for old_set, new_set in pair_sets(old, new):
        for before, after in pair_messages(old_set.messages, new_set.messages):
            if before and after:
                yield before, after
            elif before:
                lost.append(before)
            elif after:
                gained.append(after)
    yield from pair_messages(lost, gained, ("request", "response"))


def _message_changes(old: Tree, new: Tree, pairs: list[MessagePair], releases: Releases | None) -> Iterator[Change]:
    unreadable_before, unreadable_after = ({_file_name(item.file) for item in tree.broken} for tree in (old, new))
    halves = _live_halves(pairs)
    for before, after in pairs:
        if before and after:
            if not before.data or before.data != after.data:
                yield from compare_messages(before, after, releases)
        elif before and _released(before, releases) and _file_name(before.file) not in unreadable_after:
            yield kinds.MessageRemoved((before, None), before.valid, _remaining_half(before, halves))
        elif after and after.valid and _file_name(after.file) not in unreadable_before:
            yield kinds.NewMessage((None, after), after.valid)


def _file_name(path: str) -> str:
    return re.split(r"[/\\:]", path)[-1]


def _live_halves(pairs: list[MessagePair]) -> dict[tuple[int, int | None], list[Message]]:
    """The messages of RPCs that are still live, by the set and the API key that they had."""
    halves: dict[tuple[int, int | None], list[Message]] = {}
    for before, after in pairs:
        if before and after and after.is_rpc and after.valid:
            halves.setdefault((id(before.schemas), before.api_key), []).append(after)
    return halves


def _remaining_half(removed: Message, halves: Mapping[tuple[int, int | None], list[Message]]) -> str:
    """The name of the other half of an RPC, where it is still live without the one removed; else empty."""
    if not removed.is_rpc or removed.api_key is None:
        return ""
    known = halves.get((id(removed.schemas), removed.api_key), ())
    return next((half.name for half in known if half.type != removed.type), "")


def _rpc_changes(pairs: list[MessagePair]) -> Iterator[Change]:
    """Bumps of one half of an RPC without the other, and bumps of RPCs that are frozen."""
    kept = [Both(old, new) for old, new in pairs if old and new and new.is_rpc]
    bumped = {id(new): new.valid - old.valid for old, new in kept if new.valid.highest > old.valid.highest}
    for old, new in kept:
        missing = bumped.get(id(partner(new)), NONE) - new.valid if bumped else NONE
        if missing:
            yield kinds.ResponseNotBumped((old, new), missing)
        if new.valid - old.valid:
            yield kinds.FrozenBumped((old, new), new.valid - old.valid)


# Messages


def compare_messages(old: Message, new: Message, releases: Releases | None = None) -> Iterator[Change]:
    """All changes of a message that both sets have, but for tag numbers that are used again."""
    both = Both(old, new)
    for message in both:
        FieldBudget(message).spend(message)
    if _was_version(old, new):
        yield from _moved_record_type(both)
        return
    released = _released(old, releases) - unstable_version(old)
    restored = restored_versions(both, released & new.valid, releases)
    released -= restored
    unstable = (old.valid - released - restored) & new.valid
    common = released & new.valid
    yield from _identity_changes(both)
    yield from _version_changes(both, released)
    yield from listener_changes(both)
    yield from deprecation_changes(both)
    yield from _flexible_changes(both, common)
    yield from _field_changes(both, common)
    yield from _attribute_changes(both, released)
    if new.is_rpc and old.is_rpc:
        yield from compare_headers(both, common)
    ranges = [versions for half in both for versions in _all_ranges(half)]
    for piece in (*boundaries(ranges, unstable), *boundaries(ranges, restored)):
        if _on_the_wire(old, piece.lowest) != _on_the_wire(new, piece.lowest):
            yield kinds.UnstableChanged(both, piece, restored=piece <= restored)


def restored_versions(messages: Both, versions: VersionRange, releases: Releases | None) -> VersionRange:
    """Of released versions, those in which the new message has the bytes of a release, and the old of none."""
    old, new = messages
    own = [*_all_ranges(old), *_all_ranges(new)]
    changed = restored = NONE
    for piece in boundaries(own, versions) if releases else ():
        changed |= piece if _on_the_wire(old, piece.lowest) != _on_the_wire(new, piece.lowest) else NONE
    for form in releases.messages(old) if releases else ():
        if not changed:
            break
        for piece in boundaries([*own, *_all_ranges(form)], changed & released_versions(form)):
            wire = _on_the_wire(form, piece.lowest)
            changed -= piece if wire == _on_the_wire(old, piece.lowest) else NONE
            restored |= piece if wire == _on_the_wire(new, piece.lowest) else NONE
    return restored & changed


def _released(message: Message, releases: Releases | None) -> VersionRange:
    return message.valid if releases is None else releases.versions(message)


def _all_ranges(message: Message) -> list[VersionRange]:
    """The ranges of versions on whose bounds the bytes or the header of a message may change."""
    ranges = [versions for container in (message, *message.structs) for versions in ranges_of(container)]
    return [*ranges, *(entry.versions for entry in message.header_ranges)]


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number stands in the same place, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and number in old.valid


def _moved_record_type(both: Both) -> Iterator[Change]:
    old, new = both
    number = new.api_key or 0
    versions = VersionRange.of(number, number)
    yield kinds.RecordTypeMoved(both, versions)
    if tokens(layout(old, number)) != tokens(layout(new, new.valid.lowest)):
        yield kinds.LayoutChanged(both, versions)


def _identity_changes(both: Both) -> Iterator[Change]:
    old, new = both
    if old.name != new.name:
        yield kinds.MessageRenamed(both, new.valid)
    if old.type != new.type and not (old.is_record and new.is_record):
        yield kinds.TypeChanged(both, old.valid)
    if old.api_key is not None and old.api_key != new.api_key:
        yield kinds.ApiKeyChanged(both, old.valid)


def _version_changes(both: Both, released: VersionRange) -> Iterator[Change]:
    old, new = both
    if dropped := released - new.valid:
        other = partner(new)
        yield kinds.VersionDropped(both, dropped, dropped & other.valid if other else NONE)
    added = new.valid - old.valid
    if again := added & VersionRange.of(0, old.valid.highest):
        yield kinds.NewVersion(both, again, again=True)
    if added - again:
        yield kinds.NewVersion(both, added - again)
    skipped = VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1) if old.valid and new.valid else NONE
    if skipped:
        yield kinds.GapInVersions(both, skipped)
    if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest and old.valid:
        yield kinds.ReleasedUnstable(both, VersionRange.of(new.valid.highest, new.valid.highest))


def listener_changes(both: Both) -> Iterator[kinds.ListenersChange]:
    """Listeners that came or went, where both sides declare listeners, as Kafka does since 2.8."""
    old, new = both
    if not (old.declares_listeners and new.declares_listeners and old.valid and new.valid):
        return
    before, after = set(old.listeners), set(new.listeners)
    if removed := tuple(name for name in old.listeners if name not in after):
        yield kinds.ListenerRemoved(both, new.valid, removed)
    if added := tuple(name for name in new.listeners if name not in before):
        yield kinds.ListenerAdded(both, new.valid, added)


def deprecation_changes(both: Both) -> Iterator[kinds.DeprecationChange]:
    """Versions that both sides have and that became deprecated, or are no longer (KIP-896)."""
    old, new = both
    if deprecated := (new.deprecated - old.deprecated) & new.valid:
        yield kinds.Deprecated(both, deprecated)
    if restored := (old.deprecated - new.deprecated) & old.valid & new.valid:
        yield kinds.Undeprecated(both, restored)


def _flexible_changes(both: Both, common: VersionRange) -> Iterator[Change]:
    old, new = both
    for changed, flexible in ((new.flexible - old.flexible, True), (old.flexible - new.flexible, False)):
        if versions := changed & common:
            yield kinds.FlexibleChanged(both, versions, flexible=flexible)


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The common versions that have another header; with `derived` also where neither side declares headers."""
    old, new = both
    if not (derived or old.declares_headers or new.declares_headers):
        return
    declared = [entry.versions for message in both for entry in message.header_ranges]
    moved: dict[int, dict[int, VersionRange]] = {}
    for versions in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *declared], common):
        was, now = header_of(old, versions.lowest), header_of(new, versions.lowest)
        if was != now and min(was, now) >= 0:
            by_old = moved.setdefault(now, {})
            by_old[was] = by_old.get(was, NONE) | versions
    for header, by_old in moved.items():
        versions = NONE
        for piece in by_old.values():
            versions |= piece
        yield kinds.HeaderChanged(both, versions, old_headers=tuple(by_old), new_header=header)


def _on_the_wire(message: Message, version: int) -> tuple[object, ...]:
    """All that is on the wire in one version: header, fields and tagged fields."""
    body = layout(message, version, version in message.flexible)
    tags = {tagged.field.tag: slot_tokens(tagged) for tagged in body.tags or ()}
    return header_of(message, version) if message.is_rpc else None, tokens(body), tags


# Fields: what bytes show


class ContainerPair(NamedTuple):
    """A message or struct in both sets, with its fields, paired, and the versions in which both are used."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: VersionRange


def _field_changes(messages: Both, common: VersionRange) -> Iterator[FieldChange]:
    """The changes of the fields of a message and of all structs inside, in versions that both sides have."""
    budget = FieldBudget(messages.new)
    for old, new, pairs, versions in _container_pairs(messages, common):
        changes: dict[FieldChange, VersionRange] = {}
        intervals = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        for container in (old, new):
            budget.spend(container, len(intervals))
        for interval in intervals:
            for change in _differences(ComparedVersion(messages, (old, new), interval.lowest), pairs):
                changes[change] = changes.get(change, interval) | interval
        for change, affected in changes.items():
            yield replace(change, versions=affected)


def _container_pairs(messages: Both, common: VersionRange) -> Iterable[ContainerPair]:
    """The message and the structs inside, each pair once, however many fields use it."""
    reached: dict[tuple[int, int], ContainerPair] = {}
    waiting: list[tuple[Container, Container, VersionRange]] = [(*messages, common)]
    while waiting:
        old, new, versions = waiting.pop()
        known = reached.get((id(old), id(new))) or ContainerPair(old, new, pair_fields(old, new), NONE)
        fresh = versions - known.versions
        if fresh:
            reached[id(old), id(new)] = known._replace(versions=known.versions | fresh)
            for before, after in known.fields:
                if before and after and before.struct and after.struct:
                    waiting.append((before.struct, after.struct, fresh & before.versions & after.versions))
    return reached.values()


def _ranges_below(container: Container) -> Iterator[VersionRange]:
    """Every range that affects the layout of the container, structs inside it included."""
    reached = {id(container)}
    waiting = [container]
    while waiting:
        container = waiting.pop()
        yield from ranges_of(container)
        structs = [field.struct for field in container.fields if field.is_struct and field.struct]
        waiting += [struct for struct in structs if id(struct) not in reached]
        reached.update(map(id, structs))


ChangeOfField = TypeVar("ChangeOfField", bound=FieldChange)


class ComparedVersion:
    """One version of a message or struct that both sets have; it stands for all on which nothing changes.

    `plain` is set where the version is flexible on one side only: compact and plain encodings then count as equal.
    """

    def __init__(self, messages: Both, around: tuple[Container, Container], version: int) -> None:
        self.messages = messages
        self.around = around
        self.version = version
        self.flexible = version in messages.old.flexible, version in messages.new.flexible
        self.plain = self.flexible[0] != self.flexible[1]
        self.old = layout(around[0], version, self.flexible[0])
        self.new = layout(around[1], version, self.flexible[1])

    @cached_property
    def same(self) -> bool:
        """Whether the bytes are the same, apart from what follows from the version being flexible."""
        return tokens(self.old, plain=self.plain) == tokens(self.new, plain=self.plain)

    @cached_property
    def _empty(self) -> tuple[set[int], set[int]]:
        """For each side, the indexes of the structs without bytes: none of their fields is in this version."""
        return _without_bytes(self.old, self.plain), _without_bytes(self.new, self.plain)

    def change(self, kind: type[ChangeOfField], pair: FieldPair, *values: Any, **named: Any) -> ChangeOfField:
        """A change of a field in this version; its `versions` are left empty."""
        return kind(self.messages, NONE, pair, self.around, *values, **named)

    def is_empty(self, pair: FieldPair) -> bool:
        """Whether a field has no bytes on either side, so that its position does not matter."""
        return all(field is not None and field.index in empty for field, empty in zip(pair, self._empty, strict=True))

    def has_plain(self, field: Field | None) -> bool:
        """Whether a field is in this version, and not tagged."""
        return field is not None and self.version in field.versions and self.version not in field.tagged

    def offsets(self) -> tuple[dict[int, int], dict[int, int]]:
        """For each side, by index of a field: the number of tokens before it."""
        return _offsets(self.old, self.plain), _offsets(self.new, self.plain)


def _without_bytes(body: Layout, plain: bool) -> set[int]:
    structs = (slot for slot in body.slots if slot.kind == "struct" and not (slot.array or slot.nullable))
    return {slot.field.index for slot in structs if not slot_tokens(slot, plain=plain)}


def _offsets(body: Layout, plain: bool) -> dict[int, int]:
    offsets, offset = {}, 0
    for slot in body.slots:
        offsets[slot.field.index] = offset
        offset += len(slot_tokens(slot, plain=plain))
    return offsets


def _differences(compared: ComparedVersion, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The differences between the fields of one version; their `versions` are left empty."""
    for pair in pairs:
        yield from _pair_differences(compared, pair)
    if compared.same:
        yield from _replaced_fields(compared, pairs)
    present = [pair for pair in pairs if all(map(compared.has_plain, pair)) and not compared.is_empty(pair)]
    was = sorted(present, key=lambda pair: pair[0].index if pair[0] else 0)
    now = sorted(present, key=lambda pair: pair[1].index if pair[1] else 0)
    moved = [after for before, after in zip(was, now, strict=True) if before is not after]
    if moved:
        names = tuple(field.name for _, field in now if field)
        yield compared.change(kinds.FieldsReordered, moved[0], same=compared.same, order=names)
    elif compared.same:
        yield from _shifted_field(compared, now)


def _pair_differences(compared: ComparedVersion, pair: FieldPair) -> Iterator[FieldChange]:
    was, now = (field is not None and compared.version in field.versions for field in pair)
    was_tagged, now_tagged = (
        field is not None and compared.version in field.versions and compared.version in field.tagged and flexible
        for field, flexible in zip(pair, compared.flexible, strict=True)
    )
    if was and now and was_tagged != now_tagged:
        yield compared.change(kinds.TaggedMoved, pair, tagged=now_tagged)
    elif was and now:
        yield from _differences_of_both(compared, pair)
    elif was_tagged:
        yield compared.change(kinds.TagRemoved, pair)
    elif now_tagged:
        yield compared.change(kinds.NewTag, pair)
    elif (was or now) and not compared.same:
        before, after = (field.type if field and there else "" for field, there in zip(pair, (was, now), strict=True))
        yield compared.change(kinds.LayoutChanged, pair, before, after)


def _differences_of_both(compared: ComparedVersion, pair: FieldPair) -> Iterator[FieldChange]:
    old, new = pair
    assert old is not None
    assert new is not None
    version = compared.version
    before = slot_of(old, version, compared.flexible[0])
    after = slot_of(new, version, compared.flexible[1])
    same = slot_tokens(before) == slot_tokens(after) if version in new.tagged else compared.same
    if old.tag != new.tag and version in old.tagged:
        yield compared.change(kinds.TagChanged, pair)
    yield from _encoding_differences(compared, pair, before, after, same=same)


def _encoding_differences(
    compared: ComparedVersion, pair: FieldPair, old: Slot, new: Slot, *, same: bool
) -> Iterator[FieldChange]:
    """How the encoding of one field differs; `same` tells whether the bytes are equal."""
    was, now = describe(old), describe(new)
    if (old.array, old.kind) != (new.array, new.kind):
        if old.compact == new.compact:  # both follow from the version being flexible, which is not part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        if same and _has_same_meaning(old, new):
            yield compared.change(kinds.TypeRetyped, pair, was, now)
        else:
            yield compared.change(kinds.LayoutChanged, pair, was, now, same)
        return
    if old.nullable != new.nullable:
        yield compared.change(kinds.NullabilityWidened if new.nullable else kinds.NullabilityNarrowed, pair)
    sized = old.array or old.kind in ("string", "bytes", "records")
    if not compared.plain and old.compact != new.compact and sized:
        yield compared.change(kinds.FlexibleChanged, pair, was, now)


def _has_same_meaning(old: Slot, new: Slot) -> bool:
    """Whether equal bytes of two types have the same meaning.

    A struct around a value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. But bytes need not be text, and the bytes in records on disk are never batches.
    """
    types = {old.kind, new.kind}
    return "struct" in types or (types == {"bytes", "records"} and new.field.message.is_rpc)


def _replaced_fields(compared: ComparedVersion, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The fields whose bytes other fields have now: a rename in this version only, or one with a change of type."""
    was, now = compared.offsets()
    kept = {id(new) for old, new in pairs if old and new and old.index in was}
    free = {
        (now[slot.field.index], slot_tokens(slot, plain=compared.plain)): slot
        for slot in compared.new.slots
        if id(slot.field) not in kept
    }
    present = {old.name: new and new.index in now for old, new in pairs if old}
    for before in compared.old.slots:
        if present[before.field.name]:
            continue
        after = free.get((was[before.field.index], slot_tokens(before, plain=compared.plain)))
        pair = (before.field, after.field if after else None)
        yield compared.change(kinds.FieldRenamed, pair)
        if after:
            yield from _encoding_differences(compared, pair, before, after, same=True)


def _shifted_field(compared: ComparedVersion, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The first field at another position in equal bytes, because others came before it or were removed."""
    was, now = compared.offsets()
    for old, new in pairs:
        if old and new and was[old.index] != now[new.index]:
            before = (slot.field.name for slot in compared.old.slots if was[slot.field.index] == now[new.index])
            holder = next(before, "")
            yield compared.change(kinds.FieldsReordered, (old, new), same=True, holder=holder)
            return


# Fields: what no byte shows


_ATTRIBUTES = (kinds.EntityTypeChanged, kinds.MapKeyChanged, kinds.IgnorableChanged, kinds.AboutChanged)


def _attribute_changes(messages: Both, released: VersionRange) -> Iterator[Change]:
    """The changes of paired fields that no byte shows, and the fields that only unreleased versions have."""
    for before, after in chain.from_iterable(_pairs_of_structs(*messages)):
        if before and after:
            yield from _attributes_of_pair(messages, before, after)
        elif after and after.present and not after.versions & released:
            yield from _new_field(messages, after)


def _attributes_of_pair(messages: Both, old: Field, new: Field) -> Iterator[Change]:
    pair, versions = (old, new), new.versions & messages.new.valid
    if old.name != new.name:
        yield kinds.FieldRenamed(messages, versions, pair)
    if old.is_struct and new.is_struct and old.element_type != new.element_type:
        yield kinds.StructRenamed(messages, versions, pair)
    if _default_value(old) != _default_value(new) and kinds.quoted(old) != kinds.quoted(new):
        yield kinds.DefaultChanged(messages, versions, pair)
    for kind in _ATTRIBUTES:
        if getattr(old, kind.attribute) != getattr(new, kind.attribute):
            yield kind(messages, versions, pair)


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


def _new_field(messages: Both, field: Field) -> Iterator[Change]:
    old, new = messages
    yield kinds.NewField(messages, field.present, (None, field))
    older = bool(old.valid & new.valid - field.present)
    if older and new.is_rpc and not field.ignorable:
        yield kinds.NewFieldNotIgnorable(messages, field.present, (None, field))


# Tag numbers that are used again


def _tag_changes(pairs: list[MessagePair], older: Iterable[Tree]) -> Iterator[Change]:
    ancestors: dict[tuple[str, str], list[Message]] = {}
    for tree in older:
        for message in tree.messages:
            ancestors.setdefault((message.name, message.type), []).append(message)
    for before, after in pairs:
        if after is None or b"taggedVersions" not in after.data:
            continue
        names = sorted({message.name for message in (after, before) if message})
        known = [message for name in names for message in ancestors.get((name, after.type), [])]
        if known or (before and before.data != after.data):
            yield from _reused_tags(after, before, known)


def _reused_tags(new: Message, old: Message | None, older: list[Message]) -> Iterator[Change]:
    """The tags that mean another field than they meant in the old message, or in any older one.

    What looks like a rename since an older message is a rename only if the old message has the field too: a number
    that was given up in between stays reserved.
    """
    for message in (new, *older):
        FieldBudget(message).spend(message)
    reported: set[str] = set()
    kept = _fields_with_kept_tag(old, new) if old else set()
    for ancestor in ([old] if old else []) + older:
        for pairs in _pairs_of_structs(ancestor, new):
            for before, after in _reused_in(pairs, kept if ancestor is not old else None):
                if after.path not in reported:
                    reported.add(after.path)
                    yield kinds.TagReused((ancestor, new), after.tagged & new.valid, (before, after))


def _pairs_of_structs(old: Container, new: Container) -> Iterator[list[FieldPair]]:
    """The paired fields of two messages, and of the structs inside, each pair of structs once."""
    reached: set[tuple[int, int]] = set()
    waiting = [(old, new)]
    while waiting:
        old, new = waiting.pop()
        if (id(old), id(new)) not in reached:
            reached.add((id(old), id(new)))
            pairs = pair_fields(old, new)
            yield pairs
            waiting += [
                (before.struct, after.struct)
                for before, after in pairs
                if before and after and before.struct and after.struct
            ]


def _fields_with_kept_tag(old: Message, new: Message) -> set[int]:
    """The ids of the new message's fields that had their tag in the old message."""
    pairs = chain.from_iterable(_pairs_of_structs(old, new))
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _reused_in(pairs: list[FieldPair], kept: set[int] | None) -> Iterator[tuple[Field, Field]]:
    by_tag = {after.tag: after for _, after in pairs if after and after.tag is not None}
    for before, after in pairs:
        holder = by_tag.get(before.tag) if before and before.tag is not None else None
        if before and after and holder and after.tag == before.tag:
            holder = after  # of several fields with one tag, the field's own
        if before is None or holder is None:
            continue
        same = holder is after and (kept is None or id(holder) in kept or _is_restored(before, holder))
        if not same:
            yield before, holder


def _is_restored(old: Field, new: Field) -> bool:
    """Whether a field that was gone for a while is the same as before."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)
