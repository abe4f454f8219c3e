"""All changes between two trees of schema sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplint.compat import kinds
from kiplint.compat.change import Both, Change, FieldPair, MessagePair, pair_fields, pair_messages, partner
from kiplint.compat.kinds import FieldChange, FieldRenamed, TagReused
from kiplint.compat.tree import FieldBudget, Tree, pair_sets
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, ranges_of, slot, slot_tokens, tokens
from kiplint.model.message import Message
from kiplint.model.types import INTEGERS
from kiplint.versions import NONE, VersionRange, boundaries


class Piece:
    """One version, for all those on which nothing changes, of a message or struct that both sets have."""

    def __init__(self, messages: Both, around: tuple[Container, Container], version: int) -> None:
        self.messages = messages
        self.around = around
        self.version = version
        self.flexible = version in messages.old.flexible, version in messages.new.flexible
        self.plain = self.flexible[0] != self.flexible[1]
        self.old, self.new = (layout(one, version, flat) for one, flat in zip(around, self.flexible, strict=True))

    @cached_property
    def same(self) -> bool:
        """Whether the bytes are the same, apart from what follows from the version being flexible."""
        return tokens(self.old, plain=self.plain) == tokens(self.new, plain=self.plain)

    @cached_property
    def _empty(self) -> tuple[set[int], set[int]]:
        """For each side, the indexes of the structs without bytes: none of their fields is in this version."""
        return _without_bytes(self.old, self.plain), _without_bytes(self.new, self.plain)

    def is_empty(self, pair: FieldPair) -> bool:
        """Whether a field has no bytes on either side, so that it may stand anywhere."""
        return all(one is not None and one.index in found for one, found in zip(pair, self._empty, strict=True))

    def places(self) -> tuple[dict[int, int], dict[int, int]]:
        """For each side, by index of a field: how many tokens stand before it."""
        return _places(self.old, self.plain), _places(self.new, self.plain)


def differences(piece: Piece, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The differences of the piece's fields, whatever versions they hold in."""
    for pair in pairs:
        yield from _encodings_of_pair(piece, pair)
    if piece.same:
        yield from _replaced(piece, pairs)
    there = [pair for pair in pairs if all(one and _is_plain(one, piece.version) for one in pair)]
    order = [pair for pair in there if not piece.is_empty(pair)]
    was = sorted(order, key=lambda pair: pair[0].index if pair[0] else 0)
    now = sorted(order, key=lambda pair: pair[1].index if pair[1] else 0)
    moved = [pair for one, pair in zip(was, now, strict=True) if one is not pair]
    if moved:
        names = tuple(pair[1].name for pair in now if pair[1])
        yield kinds.FieldsReordered(piece.messages, NONE, moved[0], piece.around, same=piece.same, order=names)
    elif piece.same:
        yield from _shifted(piece, now)


def _replaced(piece: Piece, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The fields whose bytes others have now: a rename in this version only, or together with a change of type."""
    was, now = piece.places()
    stayed = {id(new) for old, new in pairs if old and new and old.index in was}
    free = {
        (now[one.field.index], slot_tokens(one, plain=piece.plain)): one
        for one in piece.new.slots
        if id(one.field) not in stayed
    }
    present = {old.name: new and new.index in now for old, new in pairs if old}
    for one in piece.old.slots:
        if present[one.field.name]:
            continue
        heir = free.get((was[one.field.index], slot_tokens(one, plain=piece.plain)))
        pair = (one.field, heir.field if heir else None)
        yield FieldRenamed(piece.messages, NONE, pair, piece.around)
        if heir:
            yield from _encoded(piece, pair, one, heir, same=True)


def _shifted(piece: Piece, pairs: list[FieldPair]) -> Iterator[FieldChange]:
    """The first field that stands at another place in equal bytes, because others came before it or are gone."""
    was, now = piece.places()
    for pair in pairs:
        old, new = pair
        if old and new and was[old.index] != now[new.index]:
            holders = [one.field.name for one in piece.old.slots if was[one.field.index] == now[new.index]]
            holder = holders[0] if holders else ""
            yield kinds.FieldsReordered(piece.messages, NONE, pair, piece.around, same=True, holder=holder)
            return


def _places(body: Layout, plain: bool) -> dict[int, int]:
    found, place = {}, 0
    for one in body.slots:
        found[one.field.index] = place
        place += len(slot_tokens(one, plain=plain))
    return found


def _without_bytes(body: Layout, plain: bool) -> set[int]:
    boxes = (one for one in body.slots if one.kind == "struct" and not (one.array or one.nullable))
    return {one.field.index for one in boxes if not slot_tokens(one, plain=plain)}


def _is_plain(field: Field, version: int) -> bool:
    return version in field.versions and version not in field.tagged


def _encodings_of_pair(piece: Piece, pair: FieldPair) -> Iterator[FieldChange]:
    messages, around = piece.messages, piece.around
    was, now = (one is not None and piece.version in one.versions for one in pair)
    was_tagged, now_tagged = (
        one is not None and piece.version in one.versions and piece.version in one.tagged and flat
        for one, flat in zip(pair, piece.flexible, strict=True)
    )
    if was and now and was_tagged != now_tagged:
        yield kinds.TaggedMoved(messages, NONE, pair, around, tagged=now_tagged)
    elif was and now:
        yield from _of_both(piece, pair)
    elif was_tagged:
        yield kinds.TagRemoved(messages, NONE, pair, around)
    elif now_tagged:
        yield kinds.NewTag(messages, NONE, pair, around)
    elif (was or now) and not piece.same:
        before, after = (one.type if one and there else "" for one, there in zip(pair, (was, now), strict=True))
        yield kinds.LayoutChanged(messages, NONE, pair, around, before, after)


def _of_both(piece: Piece, pair: FieldPair) -> Iterator[FieldChange]:
    old, new = pair
    assert old is not None
    assert new is not None
    before, after = slot(old, piece.version, piece.flexible[0]), slot(new, piece.version, piece.flexible[1])
    same = slot_tokens(before) == slot_tokens(after) if piece.version in new.tagged else piece.same
    if old.tag != new.tag and piece.version in old.tagged:
        yield kinds.TagChanged(piece.messages, NONE, pair, piece.around)
    yield from _encoded(piece, pair, before, after, same=same)


def _encoded(piece: Piece, pair: FieldPair, old: Slot, new: Slot, *, same: bool) -> Iterator[FieldChange]:
    """How one field's encoding became another, `same` bytes or not."""
    messages, around = piece.messages, piece.around
    was, now = describe(old), describe(new)
    if (old.array, old.kind) != (new.array, new.kind):
        if old.compact == new.compact:  # both follow from the version being flexible, which is no part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        if same and _means_the_same(old, new):
            yield kinds.TypeRetyped(messages, NONE, pair, around, was, now)
        else:
            yield kinds.LayoutChanged(messages, NONE, pair, around, was, now, same)
        return
    if old.nullable != new.nullable:
        kind = kinds.NullabilityWidened if new.nullable else kinds.NullabilityNarrowed
        yield kind(messages, NONE, pair, around)
    sized = old.array or old.kind in ("string", "bytes", "records")
    if not piece.plain and old.compact != new.compact and sized:
        yield kinds.FlexibleChanged(messages, NONE, pair, around, was, now)


def _means_the_same(old: Slot, new: Slot) -> bool:
    """Whether equal bytes of two types mean the same.

    A struct around a value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. Any bytes may not be text, though, nor are the bytes in records on disk ever batches.
    """
    found = {old.kind, new.kind}
    return "struct" in found or (found == {"bytes", "records"} and new.field.message.is_rpc)


class Twins(NamedTuple):
    """A struct (or message) of the old message and what became of it, with the versions in which both are used."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: VersionRange


def compare_fields(messages: Both, within: VersionRange) -> Iterator[FieldChange]:
    """The changes of the fields of the messages and of all structs inside, in versions that both have."""
    budget = FieldBudget(messages.new)
    for old, new, pairs, versions in _twins(messages, within):
        found: dict[FieldChange, VersionRange] = {}
        pieces = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        for side in (old, new):
            budget.spend(side, len(pieces))
        for piece in pieces:
            for one in differences(Piece(messages, (old, new), piece.lowest), pairs):
                found[one] = found.get(one, piece) | piece
        for one, affected in found.items():
            yield replace(one, versions=affected)


def _ranges_below(container: Container) -> Iterator[VersionRange]:
    """Every range that bears on the layout of the container, structs inside it included."""
    seen = {id(container)}
    waiting = [container]
    while waiting:
        one = waiting.pop()
        yield from ranges_of(one)
        inner = [field.struct for field in one.fields if field.is_struct and field.struct]
        waiting += [struct for struct in inner if id(struct) not in seen]
        seen.update(map(id, inner))


def _twins(messages: Both, within: VersionRange) -> Iterable[Twins]:
    """The messages and the structs inside, each pair once however many fields have it."""
    reached: dict[tuple[int, int], Twins] = {}
    waiting: list[tuple[Container, Container, VersionRange]] = [(*messages, within)]
    while waiting:
        old, new, versions = waiting.pop()
        known = reached.get((id(old), id(new))) or Twins(old, new, pair_fields(old, new), NONE)
        fresh = versions - known.versions
        if fresh:
            reached[id(old), id(new)] = known._replace(versions=known.versions | fresh)
            for before, after in known.fields:
                if before and after and before.struct and after.struct:
                    waiting.append((before.struct, after.struct, fresh & before.versions & after.versions))
    return reached.values()


PLAIN = (kinds.EntityTypeChanged, kinds.MapKeyChanged, kinds.IgnorableChanged, kinds.AboutChanged)


def compare_attributes(
    messages: Both, old: Container, new: Container, released: VersionRange, seen: set[tuple[int, int]]
) -> Iterator[Change]:
    """The changes of paired fields that no byte shows, and the fields that only versions not yet released have."""
    if (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    for before, after in pair_fields(old, new):
        if before and after:
            yield from _of_pair(messages, before, after)
            if before.struct and after.struct:
                yield from compare_attributes(messages, before.struct, after.struct, released, seen)
        elif after and after.present and not after.versions & released:
            yield from _new_field(messages, after)


def _of_pair(messages: Both, old: Field, new: Field) -> Iterator[Change]:
    pair, versions = (old, new), new.versions & messages.new.valid
    if old.name != new.name:
        yield kinds.FieldRenamed(messages, versions, pair)
    if old.is_struct and new.is_struct and old.element_type != new.element_type:
        yield kinds.StructRenamed(messages, versions, pair)
    if _default(old) != _default(new) and kinds.quoted(old) != kinds.quoted(new):
        yield kinds.DefaultChanged(messages, versions, pair)
    for kind in PLAIN:
        if getattr(old, kind.attribute) != getattr(new, kind.attribute):
            yield kind(messages, versions, pair)


def _new_field(messages: Both, field: Field) -> Iterator[Change]:
    old, new = messages
    yield kinds.NewField((old, new), field.present, (None, field))
    older = bool(old.valid & new.valid - field.present)
    if older and new.is_rpc and not field.ignorable:
        yield kinds.NewFieldNotIgnorable(messages, field.present, (None, field))


def _default(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and none at all are the same number."""
    text = field.default
    if field.defaults_to_null:
        return None
    if field.is_array or field.is_struct:
        return ""
    if field.element_type in INTEGERS:
        try:
            return int(text or "0", 16 if text.startswith("0x") else 10)
        except ValueError:
            return text
    if field.element_type == "bool":
        return (text or "false").lower()
    if field.element_type == "float64":
        try:
            return float(text or "0")
        except ValueError:
            return text
    return text


def released_versions(old: Message) -> VersionRange:
    """The versions that are out: all that the base has, without its highest while that is unstable."""
    return old.valid - VersionRange.of(old.valid.highest, old.valid.highest) if old.unstable else old.valid


def compare_messages(old: Message, new: Message, *, old_unstable: bool = False) -> Iterator[Change]:
    """All changes of a message that both sets have. `old_unstable` says that its request's latest version is."""
    both = Both(old, new)
    for side in (old, new):
        FieldBudget(side).spend(side)
    if _was_version(old, new):
        yield from _moved_type(both)
        return
    released, unstable = old.valid, NONE
    if old.unstable or old_unstable:
        latest = VersionRange.of(old.valid.highest, old.valid.highest)
        released, unstable = old.valid - latest, latest & new.valid
    common = released & new.valid
    yield from _identity(both)
    yield from _versions(both, released)
    yield from _flexible(both, common)
    yield from compare_fields(both, common)
    yield from compare_attributes(both, old, new, released, set())
    if new.is_rpc and old.is_rpc:
        yield from compare_headers(both, common)
    if unstable and _written(old, unstable.lowest) != _written(new, unstable.lowest):
        yield kinds.UnstableChanged(both, unstable)


def _written(message: Message, version: int) -> tuple[object, ...]:
    """All that is on the wire in one version, tagged fields included."""
    body = layout(message, version, version in message.flexible)
    tags = {one.field.tag: slot_tokens(one) for one in body.tags or ()}
    return header_of(message, version) if message.is_rpc else None, tokens(body), tags


def _flexible(both: Both, common: VersionRange) -> Iterator[Change]:
    old, new = both
    for moved, flexible in ((new.flexible - old.flexible, True), (old.flexible - new.flexible, False)):
        if versions := moved & common:
            yield kinds.FlexibleChanged(both, versions, flexible=flexible)


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number stands in the same place, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and number in old.valid


def _moved_type(both: Both) -> Iterator[Change]:
    old, new = both
    number = new.api_key or 0
    versions = VersionRange.of(number, number)
    yield kinds.RecordTypeMoved(both, versions)
    if tokens(layout(old, number)) != tokens(layout(new, new.valid.lowest)):
        yield kinds.LayoutChanged(both, versions)


def _identity(both: Both) -> Iterator[Change]:
    old, new = both
    if old.name != new.name:
        yield kinds.MessageRenamed(both, new.valid)
    if old.type != new.type and not (old.is_record and new.is_record):
        yield kinds.TypeChanged(both, old.valid)
    if old.api_key is not None and old.api_key != new.api_key:
        yield kinds.ApiKeyChanged(both, old.valid)


def _versions(both: Both, released: VersionRange) -> Iterator[Change]:
    old, new = both
    if dropped := released - new.valid:
        other = partner(new)
        yield kinds.VersionDropped(both, dropped, dropped & other.valid if other else NONE)
    added = new.valid - old.valid
    back = added & VersionRange.of(0, old.valid.highest)
    if back:
        yield kinds.NewVersion(both, back, again=True)
    if added - back:
        yield kinds.NewVersion(both, added - back)
    skipped = VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1) if old.valid and new.valid else NONE
    if skipped:
        yield kinds.GapInVersions(both, skipped)
    if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest and old.valid:
        yield kinds.ReleasedUnstable(both, VersionRange.of(new.valid.highest, new.valid.highest))


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The versions, of those in common, that have another header; `derived` where neither side declares any, too."""
    old, new = both
    if not (derived or old.says_headers or new.says_headers):
        return
    entries = [entry.versions for side in both for entry in side.header_ranges]
    moved: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for piece in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *entries], common):
        was, now = header_of(old, piece.lowest), header_of(new, piece.lowest)
        if was != now and min(was, now) >= 0:
            moved.setdefault(now, {}).setdefault(was, []).extend(piece.intervals)
    for header, before in moved.items():
        versions = VersionRange(pair for pieces in before.values() for pair in pieces)
        yield kinds.HeaderChanged(both, versions, old_headers=tuple(before), new_header=header)


def reused_tags(new: Message, old: Message | None, older: Iterable[Message]) -> Iterator[TagReused]:
    """The tags that mean another field than they meant in the old message, or in any older one.

    What looks like a rename since an older message is one only if the old message has the field too: a number that
    was given up in between is burned.
    """
    older = list(older)
    for message in (new, *older):
        FieldBudget(message).spend(message)
    reported: set[str] = set()
    kept = _kept(old, new) if old else set()
    for ancestor in ([old] if old else []) + older:
        for pairs in _structs(ancestor, new):
            for before, after in _reused(pairs, kept if ancestor is not old else None):
                if after.path not in reported:
                    reported.add(after.path)
                    yield TagReused((ancestor, new), after.tagged & new.valid, (before, after))


def _structs(old: Container, new: Container) -> Iterator[list[FieldPair]]:
    """The paired fields of two messages, and of the structs inside, each pair of structs once."""
    seen: set[tuple[int, int]] = set()
    waiting = [(old, new)]
    while waiting:
        one, other = waiting.pop()
        if (id(one), id(other)) not in seen:
            seen.add((id(one), id(other)))
            pairs = pair_fields(one, other)
            yield pairs
            waiting += [(a.struct, b.struct) for a, b in pairs if a and b and a.struct and b.struct]


def _kept(old: Message, new: Message) -> set[int]:
    """The ids of the new message's fields that had their tag in the old one."""
    pairs = (pair for fields in _structs(old, new) for pair in fields)
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _reused(pairs: list[FieldPair], kept: set[int] | None) -> Iterator[tuple[Field, Field]]:
    by_tag = {after.tag: after for _, after in pairs if after and after.tag is not None}
    for before, after in pairs:
        holder = by_tag.get(before.tag) if before and before.tag is not None else None
        if before and after and holder and after.tag == before.tag:
            holder = after  # of several with one tag, the field's own
        if before is None or holder is None:
            continue
        same = holder is after and (kept is None or id(holder) in kept or _is_back(before, holder))
        if not same:
            yield before, holder


def _is_back(old: Field, new: Field) -> bool:
    """Whether a field that was gone for a while is what it was."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)


RPCS = ("request", "response")


def compare_trees(old: Tree, new: Tree, older: Iterable[Tree] = ()) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only keep their tag numbers burned.

    A definition that cannot be read on one side is neither new nor gone.
    """
    pairs = list(_pairs(old, new))
    unknown = [{_file_name(one.file) for one in side.broken} for side in (old, new)]
    changes: list[Change] = []
    for before, after in pairs:
        if before and after and before.data == after.data and before.data:
            continue
        if before and after:
            changes += compare_messages(before, after, old_unstable=_request_is_unstable(before))
        elif before and before.valid and _file_name(before.file) not in unknown[1]:
            changes.append(kinds.MessageRemoved((before, None), before.valid, _left_alone(before, pairs)))
        elif after and after.valid and _file_name(after.file) not in unknown[0]:
            changes.append(kinds.NewMessage((None, after), after.valid))
    changes += _of_rpcs(pairs)
    changes += _of_tags(pairs, older)
    return changes


def _file_name(path: str) -> str:
    return re.split(r"[/\\:]", path)[-1]


def _of_tags(pairs: list[MessagePair], older: Iterable[Tree]) -> Iterator[Change]:
    ancestors: dict[tuple[str, str], list[Message]] = {}
    for tree in older:
        for message in tree.messages:
            ancestors.setdefault((message.name, message.type), []).append(message)
    for before, after in pairs:
        if after is None or b"taggedVersions" not in after.data:
            continue
        names = {one.name for one in (after, before) if one}
        known = [one for name in sorted(names) for one in ancestors.get((name, after.type), [])]
        if known or (before and before.data != after.data):
            yield from reused_tags(after, before, known)


def _pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The messages of all sets, paired; one that moved from one set to another is paired with itself."""
    lost: list[Message] = []
    gained: list[Message] = []
    for before, after in pair_sets(old, new):
        for one in pair_messages(before.messages, after.messages):
            if one[0] and one[1]:
                yield one
            elif one[0]:
                lost.append(one[0])
            elif one[1]:
                gained.append(one[1])
    yield from pair_messages(lost, gained, RPCS)


def _left_alone(gone: Message, pairs: list[MessagePair]) -> str:
    """The name of the other half of an RPC, where it is still live without the one that is gone; else empty."""
    if not gone.is_rpc or gone.api_key is None:
        return ""
    halves = (
        after
        for before, after in pairs
        if before and after and before.schemas is gone.schemas and before.api_key == gone.api_key and after.is_rpc
    )
    return next((one.name for one in halves if one.valid and one.type != gone.type), "")


def _request_is_unstable(message: Message) -> bool:
    if message.type != "response":
        return False
    request = partner(message)
    return request is not None and request.unstable and request.valid.highest == message.valid.highest


def _of_rpcs(pairs: list[MessagePair]) -> Iterator[Change]:
    """What the two halves of an RPC do not do together, and RPCs that must never be bumped."""
    bumped = {
        id(new): new.valid - old.valid
        for old, new in pairs
        if old and new and new.is_rpc and new.valid.highest > old.valid.highest
    }
    for old, new in pairs:
        if not old or not new or not new.is_rpc:
            continue
        missing = bumped.get(id(partner(new))) if bumped else None
        if missing and missing - new.valid:
            yield kinds.ResponseNotBumped((old, new), missing - new.valid)
        if new.valid - old.valid:
            yield kinds.FrozenBumped((old, new), new.valid - old.valid)
