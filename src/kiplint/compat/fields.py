"""The changes in versions that two messages have: flexible versions, headers, fields and their bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplint.codec.values import primitive_default
from kiplint.compat.change import Both, Change, FieldPair
from kiplint.compat.tree import TooLargeError
from kiplint.limits import UNFOLDED_FIELDS
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, ranges_of, slot_tokens, tokens, unfolded_size
from kiplint.model.layout import slot as slot_of
from kiplint.versions import NONE, VersionRange, boundaries


def version_changes(both: Both, containers: Sequence[ContainerPair], versions: VersionRange) -> Iterator[Change]:
    """All changes in versions that both have."""
    yield from _flexible_changes(both, versions)
    yield from _field_changes(both, containers, versions)
    yield from compare_headers(both, versions)


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
    by_new: dict[int, tuple[VersionRange, list[int]]] = {}
    for versions in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *ranges], common):
        was, now = header_of(old, versions.lowest), header_of(new, versions.lowest)
        if was != now and min(was, now) >= 0:
            earlier, headers = by_new.get(now, (NONE, []))
            by_new[now] = earlier | versions, [*headers, *([] if was in headers else [was])]
    for now, (versions, headers) in by_new.items():
        yield Change("header-changed", both, versions, was=", ".join(map(str, headers)), now=str(now))


class ContainerPair(NamedTuple):
    """A message or struct in both messages, with its fields, paired, and the versions that have it in each of them."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: tuple[VersionRange, VersionRange]


def container_pairs(messages: Both) -> Sequence[ContainerPair]:
    """The message and the structs inside, each pair once, however many fields use it.

    A pair is visited again where a further field has it in more versions, as the structs inside then have more, too.
    """
    pairs: dict[tuple[int, int], ContainerPair] = {}
    everywhere = (VersionRange.of(0), VersionRange.of(0))
    waiting: list[tuple[Container, Container, tuple[VersionRange, VersionRange]]] = [(*messages, everywhere)]
    while waiting:
        old, new, versions = waiting.pop()
        pair = pairs.get((id(old), id(new)))
        if pair is None:
            pair = ContainerPair(old, new, pair_fields(old, new, versions[0] & versions[1]), (NONE, NONE))
        if versions[0] <= pair.versions[0] and versions[1] <= pair.versions[1]:
            continue
        whole = pair.versions[0] | versions[0], pair.versions[1] | versions[1]
        pairs[id(old), id(new)] = pair._replace(versions=whole)
        for before, after in pair.fields:
            if before and after and before.struct and after.struct:
                waiting.append((before.struct, after.struct, (whole[0] & before.versions, whole[1] & after.versions)))
    return list(pairs.values())


def pair_fields(old: Container, new: Container, versions: VersionRange) -> list[FieldPair]:
    """Pair the fields of two messages or structs, first by name, then as renames.

    A renamed field has the same type and versions, and the same tag, or place in the first of the `versions` that has
    it. Fields that share a name, as after a copy, pair in order.
    """
    pairs: list[FieldPair] = []
    same: dict[str, list[Field]] = {}
    for field in reversed(new.fields):
        same.setdefault(field.name, []).append(field)
    for field in old.fields:
        candidates = same.get(field.name)
        pairs.append((field, candidates.pop() if candidates else None))
    lost_ids = {id(before) for before, after in pairs if after is None}
    gained_ids = {id(field) for fields in same.values() for field in fields}
    if lost_ids and gained_ids:
        gained_fields = _by_footprint(new, gained_ids, versions)
        renames = {id(field): gained_fields.get(key) for key, field in _by_footprint(old, lost_ids, versions).items()}
        pairs = [(before, after or renames.get(id(before))) for before, after in pairs]
        gained_ids -= {id(after) for _, after in pairs}
    return [*pairs, *((None, field) for field in new.fields if id(field) in gained_ids)]


def _by_footprint(container: Container, ids: set[int], versions: VersionRange) -> dict[tuple[object, ...], Field]:
    """The fields with these ids by what a rename leaves as it is, of several that are alike the first."""
    result: dict[tuple[object, ...], Field] = {}
    untagged_counts: Counter[VersionRange] = Counter()
    for field in container.fields:
        if id(field) in ids:
            kind = "" if field.is_struct else field.element_type
            first = (field.versions & versions).lowest
            before = sum(count for others, count in untagged_counts.items() if first in others)
            place = before if field.tag is None else None
            result.setdefault((field.tag, field.versions, field.is_array, kind, place), field)
        if field.tag is None:
            untagged_counts[field.versions] += 1
    return result


def _field_changes(messages: Both, containers: Iterable[ContainerPair], common: VersionRange) -> Iterator[Change]:
    """The changes of the fields of a message and of all structs inside, in versions that both have.

    Raises TooLargeError for structs that make each other large, each of which counts by itself.
    """
    parts = []
    left: int = 2 * UNFOLDED_FIELDS
    for old, new, pairs, present in containers:
        versions = present[0] & present[1] & common
        intervals = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        parts.append(((old, new), pairs, versions, intervals))
        left -= len(intervals) * sum(unfolded_size(container, left)[0] for container in (old, new))
        if left < 0:
            raise TooLargeError(messages.new.file, UNFOLDED_FIELDS)
    for sides, pairs, versions, intervals in parts:
        changes: dict[Change, VersionRange] = {}
        for interval in intervals:
            for change in _differences(ComparedVersion(messages, sides, interval.lowest), pairs):
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
    sizes = (len(slot_tokens(slot, plain=plain)) for slot in body.slots)
    return dict(zip((slot.field.position for slot in body.slots), accumulate(sizes, initial=0), strict=False))


def _differences(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The differences between the fields of one version; their `versions` are left empty."""
    for pair in pairs:
        yield from _pair_differences(comparison, pair)
    if comparison.same:
        yield from _replaced_fields(comparison, pairs)
    present = [pair for pair in pairs if comparison.has_bytes(pair)]
    was = sorted(present, key=lambda pair: pair[0].position if pair[0] else 0)
    now = sorted(present, key=lambda pair: pair[1].position if pair[1] else 0)
    moved_pairs = [after for before, after in zip(was, now, strict=True) if before is not after]
    if moved_pairs:
        names = [field.name for _, field in now if field]
        yield comparison.change("fields-reordered", moved_pairs[0], same=comparison.same, now=", ".join(names))
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

    A struct with a single value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. But bytes need not be text, and the bytes in records on disk are never batches.
    """
    types = {old.kind, new.kind}
    return "struct" in types or (types == {"bytes", "records"} and new.field.message.is_rpc)


def _replaced_fields(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The fields whose bytes other fields have now: a rename in this version only, or one with a change of type."""
    was, now = comparison.offsets()
    paired_ids = {id(new) for old, new in pairs if old and new and old.position in was}
    free = {
        (now[slot.field.position], slot_tokens(slot, plain=comparison.plain)): slot
        for slot in comparison.new.slots
        if id(slot.field) not in paired_ids
    }
    present = {old.name: new and new.position in now for old, new in pairs if old}
    for before in comparison.old.slots:
        if present[before.field.name]:
            continue
        after = free.get((was[before.field.position], slot_tokens(before, plain=comparison.plain)))
        pair = (before.field, after.field if after else None)
        yield comparison.change("field-renamed", pair, was=before.field.name, now=after.field.name if after else "")
        if after:
            yield from _encoding_differences(comparison, pair, before, after, same=True)


def _shifted_field(comparison: ComparedVersion, pairs: list[FieldPair]) -> Iterator[Change]:
    """The first field at another position in equal bytes, because others came before it or were removed."""
    was, now = comparison.offsets()
    for old, new in pairs:
        if old and new and was[old.position] != now[new.position]:
            before = (slot.field.name for slot in comparison.old.slots if was[slot.field.position] == now[new.position])
            holder = next(before, "")
            yield comparison.change("fields-reordered", (old, new), same=True, was=holder)
            return


# Fields: what no byte shows


def _attribute_changes(messages: Both, old: Field, new: Field, versions: VersionRange) -> Iterator[Change]:
    """The changes of a field that leave its bytes as they are, in versions that have it on both sides."""

    are_structs = old.is_struct and new.is_struct
    was, now = _quote_default(old), _quote_default(new)
    has_other_default = default_value(old) != default_value(new) and not _is_ended(messages, old, new)
    for name, before, after in (
        ("field-renamed", old.name, new.name),
        ("struct-renamed", old.element_type if are_structs else "", new.element_type if are_structs else ""),
        ("default-changed", was, now if has_other_default else was),
        ("entity-type-changed", old.entity_type or "left out", new.entity_type or "left out"),
        ("map-key-changed", str(old.map_key).lower(), str(new.map_key).lower()),
        ("ignorable-changed", str(old.ignorable).lower(), str(new.ignorable).lower()),
    ):
        if before != after:
            yield Change(name, messages, versions, (old, new), was=before, now=after)


def _quote_default(field: Field) -> str:
    """A field's default as messages quote it."""
    if field.defaults_to_null:
        return "null"
    return f'"{field.default}"' if field.has_default else "left out"


def _is_ended(messages: Both, old: Field, new: Field) -> bool:
    """Whether the change ends a field below the highest version, and gives it the default that its readers take."""
    return not old.has_default and new.ends_early and old.present.highest == messages.old.valid.highest


def default_value(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and a default that is left out are the same number."""
    if field.defaults_to_null:
        return None
    return "" if field.is_array or field.is_struct else primitive_default(field, field.element_type)
