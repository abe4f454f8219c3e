"""The changes in versions that two messages have: flexible versions, headers, fields and their bytes."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
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
from kiplint.versions import ALL, NONE, VersionRange, uniform_parts


def version_changes(both: Both, containers: Sequence[ContainerPair], versions: VersionRange) -> Iterator[Change]:
    """All changes in versions that both messages have; `containers` are their `container_pairs`."""
    yield from _flexible_changes(both, versions)
    yield from _field_changes(both, containers, versions)
    yield from compare_headers(both, versions)


def _flexible_changes(both: Both, common: VersionRange) -> Iterator[Change]:
    """The common versions that became flexible, and those that are no longer flexible."""
    old, new = both
    if became_flexible := (new.flexible - old.flexible) & common:
        yield Change("flexible-changed", both, became_flexible, flexible=True)
    if no_longer_flexible := (old.flexible - new.flexible) & common:
        yield Change("flexible-changed", both, no_longer_flexible, flexible=False)


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The common versions that have another header than before, as one change for each new header.

    With `derived` headers are also compared where neither side declares them.
    """
    old, new = both
    if not (old.is_rpc and new.is_rpc and (derived or old.declares_headers or new.declares_headers)):
        return
    ranges = [entry.versions for message in both for entry in message.header_ranges]
    changed_versions: dict[int, VersionRange] = {}  # by new header
    old_headers: defaultdict[int, list[str]] = defaultdict(list)  # by new header, each once
    version_0 = VersionRange.of(0, 0)  # ControlledShutdownRequest derives another header for it
    for versions in uniform_parts([old.flexible, new.flexible, version_0, *ranges], common):
        old_header, new_header = header_of(old, versions.lowest), header_of(new, versions.lowest)
        if old_header == new_header or min(old_header, new_header) < 0:  # -1: a declared map without the version
            continue
        changed_versions[new_header] = changed_versions.get(new_header, NONE) | versions
        if str(old_header) not in old_headers[new_header]:
            old_headers[new_header].append(str(old_header))
    for new_header, versions in changed_versions.items():
        yield Change("header-changed", both, versions, was=", ".join(old_headers[new_header]), now=str(new_header))


class ContainerPair(NamedTuple):
    """A message or struct in both messages, its fields in pairs, and the versions of each message that have it."""

    old: Container
    new: Container
    fields: list[FieldPair]
    old_versions: VersionRange
    new_versions: VersionRange


def container_pairs(both: Both) -> Sequence[ContainerPair]:
    """The message and the structs inside, each pair once, however many fields use it.

    A pair is visited again where a further field has it in more versions, as the structs inside then have more, too.
    """
    pairs: dict[tuple[int, int], ContainerPair] = {}
    waiting: list[tuple[Container, Container, VersionRange, VersionRange]] = [(both.old, both.new, ALL, ALL)]
    while waiting:
        old, new, old_versions, new_versions = waiting.pop()
        pair = pairs.get((id(old), id(new)))
        if pair is None:
            pair = ContainerPair(old, new, pair_fields(old, new, old_versions & new_versions), NONE, NONE)
        if old_versions <= pair.old_versions and new_versions <= pair.new_versions:
            continue
        old_versions |= pair.old_versions
        new_versions |= pair.new_versions
        pairs[id(old), id(new)] = pair._replace(old_versions=old_versions, new_versions=new_versions)
        for before, after in pair.fields:
            if before and after and before.struct and after.struct:
                inner_versions = old_versions & before.versions, new_versions & after.versions
                waiting.append((before.struct, after.struct, *inner_versions))
    return list(pairs.values())


def pair_fields(old: Container, new: Container, versions: VersionRange) -> list[FieldPair]:
    """Pair the fields of two messages or structs, first by name, then as renames, in the order of the old fields.

    Fields that share a name, as after a copy, pair in order. A renamed field has the same type and versions, and the
    same tag or, untagged, the same position in the first of the `versions` that has it. New fields come last, in a pair
    with None.
    """
    new_fields: defaultdict[str, deque[Field]] = defaultdict(deque)
    for field in new.fields:
        new_fields[field.name].append(field)
    pairs: list[FieldPair] = []
    for field in old.fields:
        candidates = new_fields[field.name]
        pairs.append((field, candidates.popleft() if candidates else None))
    removed_ids = {id(before) for before, after in pairs if after is None}
    added_ids = {id(field) for fields in new_fields.values() for field in fields}
    if removed_ids and added_ids:
        added_fields = _fields_by_signature(new, added_ids, versions)
        renames = {
            id(field): added_fields.get(signature)
            for signature, field in _fields_by_signature(old, removed_ids, versions).items()
        }
        pairs = [(before, after or renames.get(id(before))) for before, after in pairs]
        added_ids -= {id(after) for _, after in pairs}
    return [*pairs, *((None, field) for field in new.fields if id(field) in added_ids)]


def _fields_by_signature(
    container: Container, ids: set[int], versions: VersionRange
) -> dict[tuple[object, ...], Field]:
    """The fields with these `ids`, by what a rename does not change; of several that are alike, the first.

    This is the tag, the versions, the type (of a struct only that it is one), and the position among the untagged
    fields in the first of the `versions` that has the field.
    """
    fields: dict[tuple[object, ...], Field] = {}
    untagged_counts: Counter[VersionRange] = Counter()  # of the fields before, by their versions
    for field in container.fields:
        if id(field) in ids:
            position = None
            if field.tag is None:
                first_version = (field.versions & versions).lowest
                position = sum(count for others, count in untagged_counts.items() if first_version in others)
            type_name = "" if field.is_struct else field.element_type
            fields.setdefault((field.tag, field.versions, field.is_array, type_name, position), field)
        if field.tag is None:
            untagged_counts[field.versions] += 1
    return fields


def _field_changes(both: Both, containers: Iterable[ContainerPair], common: VersionRange) -> Iterator[Change]:
    """The changes of the fields of a message and of all structs inside, in versions that both have.

    Raises TooLargeError if the layouts of all these containers together have too many fields.
    """
    intervals_by_pair: list[tuple[ContainerPair, list[VersionRange]]] = []
    remaining_fields: int = 2 * UNFOLDED_FIELDS  # of both sides
    for pair in containers:
        ranges = {*_ranges_below(pair.old), *_ranges_below(pair.new)}
        intervals = list(uniform_parts(ranges, pair.old_versions & pair.new_versions & common))
        for container in (pair.old, pair.new):
            size, _ = unfolded_size(container, max(remaining_fields, 0))
            remaining_fields -= len(intervals) * size
        if remaining_fields < 0:
            raise TooLargeError(both.new.file, UNFOLDED_FIELDS)
        intervals_by_pair.append((pair, intervals))
    for pair, intervals in intervals_by_pair:
        yield from _container_changes(both, pair, intervals)


def _container_changes(both: Both, pair: ContainerPair, intervals: Sequence[VersionRange]) -> Iterator[Change]:
    """The changes of the fields of one message or struct, by intervals of versions with the same layouts."""
    versions_by_change: dict[Change, VersionRange] = {}
    versions = NONE
    for interval in intervals:
        versions |= interval
        for change in _differences(ComparedVersion(both, pair, interval.lowest)):
            versions_by_change[change] = versions_by_change.get(change, NONE) | interval
    for change, changed_versions in versions_by_change.items():
        yield replace(change, versions=changed_versions)
    for before, after in pair.fields:
        if before and after and (common := versions & before.versions & after.versions):
            yield from _attribute_changes(both, before, after, common)


def _ranges_below(container: Container) -> Iterator[VersionRange]:
    """Every range that affects the layout of the container, structs inside it included."""
    ids = {id(container)}
    waiting = [container]
    while waiting:
        container = waiting.pop()
        yield from ranges_of(container)
        for field in container.fields:
            if field.is_struct and field.struct and id(field.struct) not in ids:
                ids.add(id(field.struct))
                waiting.append(field.struct)


class ComparedVersion:
    """One version of a message or struct that both sides have; it stands for all versions with the same layouts.

    `plain` is set where the version is flexible on one side only: compact and plain encodings then count as equal.
    """

    def __init__(self, both: Both, pair: ContainerPair, version: int) -> None:
        """Make the layouts of both sides, `old` and `new`."""
        self.both = both
        self.pair = pair
        self.version = version
        self.old_flexible, self.new_flexible = version in both.old.flexible, version in both.new.flexible
        self.plain = self.old_flexible != self.new_flexible
        self.old = layout(pair.old, version, self.old_flexible)
        self.new = layout(pair.new, version, self.new_flexible)

    @cached_property
    def same(self) -> bool:
        """Whether the bytes are the same, apart from what follows from the version being flexible."""
        return tokens(self.old, plain=self.plain) == tokens(self.new, plain=self.plain)

    def change(self, name: str, fields: FieldPair, **values: Any) -> Change:
        """A change of a field in this version; its `versions` are left empty."""
        return Change(name, self.both, NONE, fields, (self.pair.old, self.pair.new), **values)

    def common_fields(self) -> Iterator[tuple[Field, Field]]:
        """The fields that both sides have untagged, and at least one of them writes bytes for, in the old order."""
        for old, new in self.pair.fields:
            if old is None or new is None:
                continue
            if self.version not in (old.versions - old.tagged) & (new.versions - new.tagged):
                continue
            slots = slot_of(old, self.version, self.old_flexible), slot_of(new, self.version, self.new_flexible)
            if any(slot_tokens(slot, plain=self.plain) for slot in slots):
                yield old, new


def _differences(comparison: ComparedVersion) -> Iterator[Change]:
    """The differences between the fields of one version; their `versions` are left empty."""
    for fields in comparison.pair.fields:
        yield from _pair_differences(comparison, fields)
    if comparison.same:
        yield from _replaced_fields(comparison)
    old_order = list(comparison.common_fields())
    new_order = sorted(old_order, key=lambda fields: fields[1].position)
    moved_pairs = [at_new for at_old, at_new in zip(old_order, new_order, strict=True) if at_old is not at_new]
    if moved_pairs:
        names = ", ".join(new.name for _, new in new_order)
        yield comparison.change("fields-reordered", moved_pairs[0], same=comparison.same, now=names)
    elif comparison.same:
        yield from _shifted_field(comparison, new_order)


def _pair_differences(comparison: ComparedVersion, fields: FieldPair) -> Iterator[Change]:
    """The differences of one field: it came, went, became tagged, is no longer tagged, or has another encoding."""
    version = comparison.version
    old, new = fields
    old = old if old and version in old.versions else None
    new = new if new and version in new.versions else None
    old_tagged = old is not None and comparison.old_flexible and version in old.tagged
    new_tagged = new is not None and comparison.new_flexible and version in new.tagged
    if old and new and old_tagged != new_tagged:
        yield comparison.change("tagged-moved", fields, tagged=new_tagged)
    elif old and new:
        yield from _common_field_differences(comparison, old, new)
    elif old_tagged:
        yield comparison.change("tag-removed", fields)
    elif new_tagged:
        yield comparison.change("new-tag", fields)
    elif (old or new) and not comparison.same:
        yield comparison.change("layout-changed", fields, was=old.type if old else "", now=new.type if new else "")


def _common_field_differences(comparison: ComparedVersion, old: Field, new: Field) -> Iterator[Change]:
    """The differences of a field that both sides have in the version, tagged or untagged on both."""
    version = comparison.version
    old_slot = slot_of(old, version, comparison.old_flexible)
    new_slot = slot_of(new, version, comparison.new_flexible)
    if old.tag != new.tag and version in old.tagged:
        yield comparison.change("tag-changed", (old, new))
    # Tagged fields are compared one by one, as a layout has a single token for all of them.
    same = slot_tokens(old_slot) == slot_tokens(new_slot) if version in new.tagged else comparison.same
    yield from _encoding_differences(comparison, old_slot, new_slot, same=same)


def _encoding_differences(comparison: ComparedVersion, old: Slot, new: Slot, *, same: bool) -> Iterator[Change]:
    """How the encoding of one field differs; `same` tells whether the bytes are equal."""
    fields = old.field, new.field
    was, now = describe(old), describe(new)
    if (old.array, old.kind) != (new.array, new.kind):
        if old.compact == new.compact:  # both follow from the version being flexible, which is not part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        if same and _has_same_meaning(old, new):
            yield comparison.change("type-retyped", fields, was=was, now=now)
        else:
            yield comparison.change("layout-changed", fields, was=was, now=now, same=same)
        return
    if old.nullable != new.nullable:
        yield comparison.change("nullability-widened" if new.nullable else "nullability-narrowed", fields)
    has_length = old.array or old.kind in ("string", "bytes", "records")
    if not comparison.plain and old.compact != new.compact and has_length:
        yield comparison.change("flexible-changed", fields, was=was, now=now)


def _has_same_meaning(old: Slot, new: Slot) -> bool:
    """Whether equal bytes of two types have the same meaning.

    A struct around a single value changes nothing, and batches of records travelled as bytes before they had a type of
    their own. But bytes need not be text, and the bytes in records on disk are never batches.
    """
    types = {old.kind, new.kind}
    return "struct" in types or (types == {"bytes", "records"} and new.field.message.is_rpc)


def _replaced_fields(comparison: ComparedVersion) -> Iterator[Change]:
    """The changes of fields that only the old side has, although the bytes are equal: another field is at the offset.

    This is a rename in this version only, or one with a change of type.
    """
    plain = comparison.plain
    old_offsets, new_offsets = _offsets(comparison.old, plain=plain), _offsets(comparison.new, plain=plain)
    remaining_ids: set[int] = set()  # of old fields that the new side has, too, and untagged
    earlier_ids: set[int] = set()  # of new fields that the old side has, too, and untagged
    for old, new in comparison.pair.fields:
        if old and new and new.position in new_offsets:
            remaining_ids.add(id(old))
        if old and new and old.position in old_offsets:
            earlier_ids.add(id(new))
    replacements = {
        (new_offsets[slot.field.position], slot_tokens(slot, plain=plain)): slot
        for slot in comparison.new.slots
        if id(slot.field) not in earlier_ids
    }
    for old_slot in comparison.old.slots:
        field = old_slot.field
        if id(field) in remaining_ids:
            continue
        new_slot = replacements.get((old_offsets[field.position], slot_tokens(old_slot, plain=plain)))
        if new_slot is None:
            yield comparison.change("field-renamed", (field, None), was=field.name)
        else:
            new_field = new_slot.field
            yield comparison.change("field-renamed", (field, new_field), was=field.name, now=new_field.name)
            yield from _encoding_differences(comparison, old_slot, new_slot, same=True)


def _shifted_field(comparison: ComparedVersion, fields: Iterable[tuple[Field, Field]]) -> Iterator[Change]:
    """The change of the first field at another offset, where all bytes are equal and no two fields changed places.

    Fields before it were added or removed. `fields` are those that both sides have, in the new order.
    """
    old_offsets = _offsets(comparison.old, plain=comparison.plain)
    new_offsets = _offsets(comparison.new, plain=comparison.plain)
    for old, new in fields:
        offset = new_offsets[new.position]
        if old_offsets[old.position] != offset:
            old_slots = [slot for slot in comparison.old.slots if old_offsets[slot.field.position] == offset]
            was = old_slots[0].field.name if old_slots else ""
            yield comparison.change("fields-reordered", (old, new), same=True, was=was)
            return


def _offsets(body: Layout, *, plain: bool) -> dict[int, int]:
    """The number of tokens before each untagged field, by the field's position in its message or struct."""
    offsets: dict[int, int] = {}
    offset = 0
    for slot in body.slots:
        offsets[slot.field.position] = offset
        offset += len(slot_tokens(slot, plain=plain))
    return offsets


# Fields: what no byte shows


def _attribute_changes(both: Both, old: Field, new: Field, versions: VersionRange) -> Iterator[Change]:
    """The changes of a field that leave its bytes as they are, in versions that have it on both sides."""
    attributes = [
        ("field-renamed", old.name, new.name),
        ("entity-type-changed", old.entity_type or "left out", new.entity_type or "left out"),
        ("map-key-changed", str(old.map_key).lower(), str(new.map_key).lower()),
        ("ignorable-changed", str(old.ignorable).lower(), str(new.ignorable).lower()),
    ]
    if old.is_struct and new.is_struct:
        attributes.append(("struct-renamed", old.element_type, new.element_type))
    if default_value(old) != default_value(new) and not _has_default_as_it_ends(both, old, new):
        attributes.append(("default-changed", _quote_default(old), _quote_default(new)))
    for name, before, after in attributes:
        if before != after:
            yield Change(name, both, versions, (old, new), was=before, now=after)


def _quote_default(field: Field) -> str:
    """A field's default as messages quote it: `"-1"`, `null` or `left out`."""
    if field.defaults_to_null:
        return "null"
    return f'"{field.default}"' if field.has_default else "left out"


def _has_default_as_it_ends(both: Both, old: Field, new: Field) -> bool:
    """Whether a field got its default because it now ends below the highest version: it is for later versions alone."""
    return not old.has_default and new.ends_early and old.present.highest == both.old.valid.highest


def default_value(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and a default that is left out are the same number."""
    if field.defaults_to_null:
        return None
    return "" if field.is_array or field.is_struct else primitive_default(field, field.element_type)
