"""How the fields of one version differ in their bytes, or in what the bytes mean."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kiplint.compat.changes import field_kinds as kinds
from kiplint.compat.changes import tag_kinds
from kiplint.compat.changes.attribute_kinds import FieldRenamed
from kiplint.compat.changes.field_kinds import FieldChange
from kiplint.compat.changes.pairing import Both, FieldPair
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.layout import Body, Slot, describe, layout, slot, slot_tokens, tokens
from kiplint.versions import NONE


class Piece:
    """One version, for all those on which nothing changes, of a message or struct that both sets have."""

    def __init__(self, messages: Both, around: tuple[Container, Container], version: int) -> None:
        self.messages = messages
        self.around = around
        self.version = version
        self.flexible = messages.old.flexible.covers(version), messages.new.flexible.covers(version)
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
        yield from _of_pair(piece, pair)
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


def _places(body: Body, plain: bool) -> dict[int, int]:
    found, place = {}, 0
    for one in body.slots:
        found[one.field.index] = place
        place += len(slot_tokens(one, plain=plain))
    return found


def _without_bytes(body: Body, plain: bool) -> set[int]:
    boxes = (one for one in body.slots if one.kind == "struct" and not (one.array or one.nullable))
    return {one.field.index for one in boxes if not slot_tokens(one, plain=plain)}


def _is_plain(field: Field, version: int) -> bool:
    return field.versions.covers(version) and not field.tagged.covers(version)


def _of_pair(piece: Piece, pair: FieldPair) -> Iterator[FieldChange]:
    messages, around = piece.messages, piece.around
    was, now = (one is not None and one.versions.covers(piece.version) for one in pair)
    was_tagged, now_tagged = (
        one is not None and one.versions.covers(piece.version) and one.tagged.covers(piece.version) and flat
        for one, flat in zip(pair, piece.flexible, strict=True)
    )
    if was and now and was_tagged != now_tagged:
        yield tag_kinds.TaggedMoved(messages, NONE, pair, around, tagged=now_tagged)
    elif was and now:
        yield from _of_both(piece, pair)
    elif was_tagged:
        yield tag_kinds.TagRemoved(messages, NONE, pair, around)
    elif now_tagged:
        yield tag_kinds.NewTag(messages, NONE, pair, around)
    elif (was or now) and not piece.same:
        before, after = (one.type if one and there else "" for one, there in zip(pair, (was, now), strict=True))
        yield kinds.LayoutChanged(messages, NONE, pair, around, before, after)


def _of_both(piece: Piece, pair: FieldPair) -> Iterator[FieldChange]:
    old, new = pair
    assert old is not None
    assert new is not None
    before, after = slot(old, piece.version, piece.flexible[0]), slot(new, piece.version, piece.flexible[1])
    same = slot_tokens(before) == slot_tokens(after) if new.tagged.covers(piece.version) else piece.same
    if old.tag != new.tag and old.tagged.covers(piece.version):
        yield tag_kinds.TagChanged(piece.messages, NONE, pair, piece.around)
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
