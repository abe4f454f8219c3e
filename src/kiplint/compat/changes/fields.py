"""What changed between the fields of two versions of one message, interval by interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kiplint.compat.changes.change import Change, Place
from kiplint.compat.changes.pairing import FieldPair, pair_fields
from kiplint.compat.changes.slots import difference, shown_layout
from kiplint.compat.limits import Budget
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.layout import Body, Slot, layout, ranges_of, slot, slot_tokens, tokens
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange, boundaries


class Context(NamedTuple):
    """The two messages, and whether the old one is declared to be in flux."""

    old: Message
    new: Message
    early: bool

    def flexible(self, version: int) -> tuple[bool, bool]:
        """Whether the version is flexible in the old message and in the new one."""
        return self.old.flexible.covers(version), self.new.flexible.covers(version)


class Difference(NamedTuple):
    """One difference of one pair of fields in one interval, before intervals are joined."""

    name: str
    kind: str
    pair: FieldPair
    detail: str


class Twins(NamedTuple):
    """A struct (or message) of the old message and what became of it, with the versions in which both are used."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: VersionRange


def compare_fields(context: Context, within: VersionRange) -> Iterator[Change]:
    """The changes of the fields of the messages and of all structs inside, in versions that both have."""
    budget = Budget(context.new)
    for old, new, pairs, versions in _twins(context, within):
        found: dict[Difference, VersionRange] = {}
        pieces = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        for side in (old, new):
            budget.spend(side, len(pieces))
        for piece in pieces:
            for one in _differences(context, old, new, pairs, piece.lowest):
                found[one] = found.get(one, piece) | piece
        for one, affected in found.items():
            yield _change(context, one, old, new, affected)


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


def _twins(context: Context, within: VersionRange) -> Iterable[Twins]:
    """The messages and the structs inside, each pair once however many fields have it."""
    reached: dict[tuple[int, int], Twins] = {}
    waiting: list[tuple[Container, Container, VersionRange]] = [(context.old, context.new, within)]
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


def _differences(
    context: Context, old: Container, new: Container, pairs: list[FieldPair], version: int
) -> Iterator[Difference]:
    """How the fields of one version differ in their bytes, or in what the bytes mean."""
    was_flexible, is_flexible = context.flexible(version)
    plain = was_flexible != is_flexible
    before, after = layout(old, version, was_flexible), layout(new, version, is_flexible)
    same = tokens(before, plain=plain) == tokens(after, plain=plain)
    for pair in pairs:
        yield from _of_pair(pair, version, (was_flexible, is_flexible), same)
    if same:
        yield from _replaced(pairs, before, after, plain)
    order = [pair for pair in pairs if all(one and _is_plain(one, version) for one in pair)]
    was = sorted(order, key=lambda pair: pair[0].index if pair[0] else 0)
    now = sorted(order, key=lambda pair: pair[1].index if pair[1] else 0)
    moved = [pair for one, pair in zip(was, now, strict=True) if one is not pair]
    if moved:
        names = ", ".join(pair[1].name for pair in now if pair[1])
        detail = f"the fields are written in another order: {names}"
        yield Difference("fields-reordered", "same-bytes" if same else "other-bytes", moved[0], detail)
    elif same:
        yield from _shifted(now, before, after, plain)


def _replaced(pairs: list[FieldPair], before: Body, after: Body, plain: bool) -> Iterator[Difference]:
    """The fields whose bytes others have now: a rename in this version only, or together with a change of type."""
    was, now = _places(before, plain), _places(after, plain)
    stayed = {id(new) for old, new in pairs if old and new and old.index in was}
    free = {
        (now[one.field.index], slot_tokens(one, plain=plain)): one for one in after.slots if id(one.field) not in stayed
    }
    present = {old.name: new and new.index in now for old, new in pairs if old}
    for one in before.slots:
        if present[one.field.name]:
            continue
        heir = free.get((was[one.field.index], slot_tokens(one, plain=plain)))
        if heir is None:
            yield Difference(
                "field-renamed",
                "same-bytes",
                (one.field, None),
                f"{one.field.name} is gone, and other fields have its bytes",
            )
            continue
        pair = (one.field, heir.field)
        yield Difference("field-renamed", "field-renamed", pair, f"{one.field.name} is called {heir.field.name} now")
        yield from _retyped(pair, one, heir, same=True, compare_compact=not plain)


def _shifted(pairs: list[FieldPair], before: Body, after: Body, plain: bool) -> Iterator[Difference]:
    """The first field that stands at another place in equal bytes, because others came before it or are gone."""
    was, now = _places(before, plain), _places(after, plain)
    for pair in pairs:
        old, new = pair
        if old and new and was[old.index] != now[new.index]:
            holders = [one.field.name for one in before.slots if was[one.field.index] == now[new.index]]
            where = f"stands where {holders[0]} stood" if holders else "stands at another place"
            yield Difference("fields-reordered", "same-bytes", pair, f"{new.name} {where}")
            return


def _places(body: Body, plain: bool) -> dict[int, int]:
    """By index of a field: how many tokens stand before it."""
    found, place = {}, 0
    for one in body.slots:
        found[one.field.index] = place
        place += len(slot_tokens(one, plain=plain))
    return found


def _is_plain(field: Field, version: int) -> bool:
    return field.versions.covers(version) and not field.tagged.covers(version)


def _of_pair(pair: FieldPair, version: int, flexible: tuple[bool, bool], same: bool) -> Iterator[Difference]:
    old, new = pair
    was = old is not None and old.versions.covers(version)
    now = new is not None and new.versions.covers(version)
    was_tagged = was and old is not None and old.tagged.covers(version) and flexible[0]
    now_tagged = now and new is not None and new.tagged.covers(version) and flexible[1]
    field = new or old
    assert field is not None
    if was and now and was_tagged != now_tagged:
        said = "is tagged now" if now_tagged else "is tagged no more"
        yield Difference("tagged-moved", "tagged" if now_tagged else "untagged", pair, f"{field.name} {said}")
    elif was and now and old and new:
        yield from _of_both(pair, old, new, version, flexible, same)
    elif was_tagged:
        yield Difference("tag-removed", "tag-removed", pair, f"tag {old.tag if old else 0} ({field.name}) is gone")
    elif now_tagged:
        yield Difference("new-tag", "tag-added", pair, f"{field.name} comes with tag {new.tag if new else 0}")
    elif was and not same:
        yield Difference("layout-changed", "field-removed", pair, f"{field.name} is gone from a released version")
    elif now and not same:
        yield Difference("layout-changed", "field-added", pair, f"{field.name} is new in a released version")


def _of_both(
    pair: FieldPair, old: Field, new: Field, version: int, flexible: tuple[bool, bool], same: bool
) -> Iterator[Difference]:
    before, after = slot(old, version, flexible[0]), slot(new, version, flexible[1])
    if new.tagged.covers(version):
        same = slot_tokens(before) == slot_tokens(after)
    if old.tag != new.tag and old.tagged.covers(version):
        yield Difference("tag-changed", "tag-changed", pair, f"{new.name} had tag {old.tag} and has {new.tag} now")
    yield from _retyped(pair, before, after, same=same, compare_compact=flexible[0] == flexible[1])


def _retyped(pair: FieldPair, before: Slot, after: Slot, *, same: bool, compare_compact: bool) -> Iterator[Difference]:
    """How one field's encoding became another, `same` bytes or not."""
    new = after.field
    for name, detail in difference(before, after, compare_compact=compare_compact):
        if same and name == "layout-changed" and _means_the_same(before, after):
            yield Difference("type-retyped", "same-bytes", pair, f"{new.name} {detail}, in the same bytes")
        elif same and name == "layout-changed":
            yield Difference(name, "meaning-changed", pair, f"{new.name} {detail}: the same bytes mean something else")
        else:
            kind = {"layout-changed": "type-changed"}.get(name, name)
            yield Difference(name, kind, pair, f"{new.name} {detail}")


def _means_the_same(old: Slot, new: Slot) -> bool:
    """Whether equal bytes of two types mean the same.

    A struct around a value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. Any bytes may not be text, though, nor are the bytes in records on disk ever batches.
    """
    kinds = {old.kind, new.kind}
    return "struct" in kinds or (kinds == {"bytes", "records"} and new.field.message.is_rpc)


def _change(context: Context, one: Difference, old: Container, new: Container, versions: VersionRange) -> Change:
    before, after = one.pair
    field = after or before
    assert field is not None
    version = versions.lowest
    flexible = context.flexible(version)
    proof: list[dict[str, object]] = [
        {"layout": shown_layout(layout(side, version, flat))} for side, flat in zip((old, new), flexible, strict=True)
    ]
    wanted = {"new-tag": "tag", "tag-changed": "tag", "tagged-moved": "taggedVersions", "field-renamed": "name"}.get(
        one.name, "versions"
    )
    wanted = (
        "type"
        if one.kind in ("type-changed", "same-bytes", "meaning-changed") and one.name != "fields-reordered"
        else wanted
    )
    wanted = "nullableVersions" if one.name.startswith("nullability") else wanted
    place = Place(context.new.file, after.pointer, wanted) if after else Place(context.new.file, new.pointer, "fields")
    return Change(
        one.name,
        one.kind,
        context.new,
        versions=versions,
        field=field.path,
        detail=one.detail,
        old=proof[0],
        new=proof[1],
        place=place,
        before=Place(context.old.file, before.pointer, "name") if before else None,
        early=context.early,
    )
