"""The changes in versions that two messages have: flexible versions, headers, fields and their bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplint.codec.values import primitive_default
from kiplint.compat.change import Both, Change, FieldPair, Kind
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
    base, head = both
    if became_flexible := (head.flexible - base.flexible) & common:
        yield Change(Kind.FLEXIBLE_CHANGED, both, became_flexible)
    if no_longer_flexible := (base.flexible - head.flexible) & common:
        yield Change(Kind.FLEXIBLE_CHANGED, both, no_longer_flexible)


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The common versions that have another header, as one change for each header of the head.

    With `derived` headers are also compared where neither side declares them.
    """
    base, head = both
    if not (base.is_rpc and head.is_rpc and (derived or base.declares_headers or head.declares_headers)):
        return
    ranges = [entry.versions for message in both for entry in message.header_ranges]
    changed_versions: defaultdict[int, list[VersionRange]] = defaultdict(list)  # by header of the head
    base_headers: defaultdict[int, dict[str, None]] = defaultdict(dict)  # by header of the head
    version_0 = VersionRange.of(0, 0)  # ControlledShutdownRequest derives another header for it
    for versions in uniform_parts([base.flexible, head.flexible, version_0, *ranges], common):
        base_header, head_header = header_of(base, versions.lowest), header_of(head, versions.lowest)
        if base_header == head_header or min(base_header, head_header) < 0:  # -1: a declared map without the version
            continue
        changed_versions[head_header].append(versions)
        base_headers[head_header][str(base_header)] = None
    for head_header, ranges_of_header in changed_versions.items():
        versions = VersionRange.union(ranges_of_header)
        yield Change(
            Kind.HEADER_CHANGED, both, versions, was=", ".join(base_headers[head_header]), now=str(head_header)
        )


class ContainerPair(NamedTuple):
    """A message or struct in both messages, its fields in pairs, and the versions of each message that have it."""

    base: Container
    head: Container
    fields: list[FieldPair]
    base_versions: VersionRange
    head_versions: VersionRange


def container_pairs(both: Both) -> Sequence[ContainerPair]:
    """The message and the structs inside, each pair once, however many fields use it.

    A pair is visited again where a further field uses it in more versions, as the structs inside then have more, too.
    """
    pairs: dict[tuple[int, int], ContainerPair] = {}
    waiting: list[tuple[Container, Container, VersionRange, VersionRange]] = [(both.base, both.head, ALL, ALL)]
    while waiting:
        base, head, base_versions, head_versions = waiting.pop()
        pair = pairs.get((id(base), id(head)))
        if pair is None:
            pair = ContainerPair(base, head, pair_fields(base, head, base_versions & head_versions), NONE, NONE)
        if base_versions <= pair.base_versions and head_versions <= pair.head_versions:
            continue
        base_versions |= pair.base_versions
        head_versions |= pair.head_versions
        pairs[id(base), id(head)] = pair._replace(base_versions=base_versions, head_versions=head_versions)
        for base_field, head_field in pair.fields:
            if base_field and head_field and base_field.struct and head_field.struct:
                inner_versions = base_versions & base_field.versions, head_versions & head_field.versions
                waiting.append((base_field.struct, head_field.struct, *inner_versions))
    return list(pairs.values())


def pair_fields(base: Container, head: Container, versions: VersionRange) -> list[FieldPair]:
    """Pair the fields of two messages or structs, first by name, then as renames, in the order of the base.

    Fields that share a name, as after a copy, pair in order. A renamed field has the same type and versions, and the
    same tag or, untagged, the same position in the first of the `versions` that both fields have. New fields come last,
    in a pair with None.
    """
    head_fields: defaultdict[str, deque[Field]] = defaultdict(deque)
    for field in head.fields:
        head_fields[field.name].append(field)
    pairs: list[FieldPair] = []
    for field in base.fields:
        candidates = head_fields[field.name]
        pairs.append((field, candidates.popleft() if candidates else None))
    removed_ids = {id(base_field) for base_field, head_field in pairs if head_field is None}
    added_ids = {id(field) for fields in head_fields.values() for field in fields}
    if removed_ids and added_ids:
        added_fields = _fields_by_signature(head, added_ids, versions)
        renames = {
            id(field): added_fields.get(signature)
            for signature, field in _fields_by_signature(base, removed_ids, versions).items()
        }
        pairs = [(base_field, head_field or renames.get(id(base_field))) for base_field, head_field in pairs]
        added_ids -= {id(head_field) for _, head_field in pairs}
    return [*pairs, *((None, field) for field in head.fields if id(field) in added_ids)]


def _fields_by_signature(
    container: Container, ids: set[int], versions: VersionRange
) -> dict[tuple[object, ...], Field]:
    """The fields with these `ids`, by what a rename does not change; of several that are alike, the first.

    This is the tag, the versions, the type (of a struct only that it is one), and the position among the untagged
    fields in the first of the `versions` that has the field.
    """
    fields: dict[tuple[object, ...], Field] = {}
    lowest_versions: list[int] = []  # of the intervals of the untagged fields before, in order
    highest_versions: list[int] = []
    for field in container.fields:
        if id(field) in ids:
            position = None
            if field.tag is None:
                first_version = (field.versions & versions).lowest
                position = bisect_right(lowest_versions, first_version) - bisect_left(highest_versions, first_version)
            type_name = "" if field.is_struct else field.element_type
            fields.setdefault((field.tag, field.versions, field.is_array, type_name, position), field)
        if field.tag is None:
            for lowest, highest in field.versions.intervals:
                insort(lowest_versions, lowest)
                insort(highest_versions, highest)
    return fields


def _field_changes(both: Both, containers: Iterable[ContainerPair], common: VersionRange) -> Iterator[Change]:
    """The changes of the fields of a message and of all structs inside, in versions that both have.

    Raises TooLargeError if the layouts of all these containers together have too many fields.
    """
    intervals_by_pair: list[tuple[ContainerPair, list[VersionRange]]] = []
    remaining_fields: int = 2 * UNFOLDED_FIELDS  # of both sides
    for pair in containers:
        ranges = {*_ranges_below(pair.base), *_ranges_below(pair.head)}
        intervals = list(uniform_parts(ranges, pair.base_versions & pair.head_versions & common))
        for container in (pair.base, pair.head):
            size, _ = unfolded_size(container, max(remaining_fields, 0))
            remaining_fields -= len(intervals) * size
        if remaining_fields < 0:
            raise TooLargeError(both.head.file, UNFOLDED_FIELDS)
        intervals_by_pair.append((pair, intervals))
    for pair, intervals in intervals_by_pair:
        yield from _container_changes(both, pair, intervals)


def _container_changes(both: Both, pair: ContainerPair, intervals: Sequence[VersionRange]) -> Iterator[Change]:
    """The changes of the fields of one message or struct, by intervals of versions with the same layouts."""
    intervals_by_change: defaultdict[Change, list[VersionRange]] = defaultdict(list)
    for interval in intervals:
        for change in _differences(ComparedVersion(both, pair, interval.lowest)):
            intervals_by_change[change].append(interval)
    for change, changed_intervals in intervals_by_change.items():
        yield replace(change, versions=VersionRange.union(changed_intervals))
    versions = VersionRange.union(intervals)
    for base_field, head_field in pair.fields:
        if base_field and head_field and (common := versions & base_field.versions & head_field.versions):
            yield from _attribute_changes(both, base_field, head_field, common)


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
        """Make the layouts of both sides, `base` and `head`."""
        self.both = both
        self.pair = pair
        self.version = version
        self.base_flexible, self.head_flexible = version in both.base.flexible, version in both.head.flexible
        self.plain = self.base_flexible != self.head_flexible
        self.base = layout(pair.base, version, self.base_flexible)
        self.head = layout(pair.head, version, self.head_flexible)

    @cached_property
    def same(self) -> bool:
        """Whether the bytes are the same, apart from what follows from the version being flexible."""
        return tokens(self.base, plain=self.plain) == tokens(self.head, plain=self.plain)

    def change(self, kind: Kind, fields: FieldPair, **values: Any) -> Change:
        """A change of a field in this version; its `versions` are left empty."""
        return Change(kind, self.both, NONE, fields, (self.pair.base, self.pair.head), **values)

    def common_fields(self) -> Iterator[tuple[Field, Field]]:
        """The fields that both sides have untagged, and one of them writes bytes for, in the order of the base."""
        for base, head in self.pair.fields:
            if base is None or head is None:
                continue
            if self.version not in (base.versions - base.tagged) & (head.versions - head.tagged):
                continue
            slots = slot_of(base, self.version, self.base_flexible), slot_of(head, self.version, self.head_flexible)
            if any(slot_tokens(slot, plain=self.plain) for slot in slots):
                yield base, head


def _differences(comparison: ComparedVersion) -> Iterator[Change]:
    """The differences between the fields of one version; their `versions` are left empty."""
    for fields in comparison.pair.fields:
        yield from _pair_differences(comparison, fields)
    if comparison.same:
        yield from _replaced_fields(comparison)
    base_order = list(comparison.common_fields())
    head_order = sorted(base_order, key=lambda fields: fields[1].position)
    moved_pairs = [in_head for in_base, in_head in zip(base_order, head_order, strict=True) if in_base is not in_head]
    if moved_pairs:
        names = ", ".join(head.name for _, head in head_order)
        yield comparison.change(Kind.FIELDS_REORDERED, moved_pairs[0], now=names)
    elif comparison.same:
        yield from _shifted_field(comparison, head_order)


def _pair_differences(comparison: ComparedVersion, fields: FieldPair) -> Iterator[Change]:
    """The differences of one field: it came, went, became tagged, is no longer tagged, or has another encoding."""
    version = comparison.version
    base, head = fields
    base = base if base and version in base.versions else None
    head = head if head and version in head.versions else None
    base_tagged = base is not None and comparison.base_flexible and version in base.tagged
    head_tagged = head is not None and comparison.head_flexible and version in head.tagged
    if base and head and base_tagged != head_tagged:
        yield comparison.change(Kind.TAGGED_MOVED, fields)
    elif base and head:
        yield from _common_field_differences(comparison, base, head)
    elif base_tagged:
        yield comparison.change(Kind.TAG_REMOVED, fields)
    elif head_tagged:
        yield comparison.change(Kind.NEW_TAG, fields)
    elif base and not comparison.same:
        yield comparison.change(Kind.FIELD_REMOVED, fields, was=base.type)
    elif head and not comparison.same:
        yield comparison.change(Kind.FIELD_ADDED, fields, now=head.type)


def _common_field_differences(comparison: ComparedVersion, base: Field, head: Field) -> Iterator[Change]:
    """The differences of a field that both sides have in the version, tagged or untagged on both."""
    version = comparison.version
    base_slot = slot_of(base, version, comparison.base_flexible)
    head_slot = slot_of(head, version, comparison.head_flexible)
    if base.tag != head.tag and version in base.tagged:
        yield comparison.change(Kind.TAG_CHANGED, (base, head))
    # Tagged fields are compared one by one, as a layout has a single token for all of them.
    same = slot_tokens(base_slot) == slot_tokens(head_slot) if version in head.tagged else comparison.same
    yield from _encoding_differences(comparison, base_slot, head_slot, same=same)


def _encoding_differences(comparison: ComparedVersion, base: Slot, head: Slot, *, same: bool) -> Iterator[Change]:
    """How the encoding of one field differs; `same` tells whether the bytes are equal."""
    fields = base.field, head.field
    was, now = describe(base), describe(head)
    if (base.array, base.kind) != (head.array, head.kind):
        if base.compact == head.compact:  # both follow from the version being flexible, which is not part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        if same and _has_same_meaning(base, head):
            yield comparison.change(Kind.TYPE_RETYPED, fields, was=was, now=now)
        else:
            yield comparison.change(Kind.MEANING_CHANGED if same else Kind.TYPE_CHANGED, fields, was=was, now=now)
        return
    if base.nullable != head.nullable:
        yield comparison.change(Kind.NULLABILITY_WIDENED if head.nullable else Kind.NULLABILITY_NARROWED, fields)
    has_length = base.array or base.kind in ("string", "bytes", "records")
    if not comparison.plain and base.compact != head.compact and has_length:
        yield comparison.change(Kind.FIELD_FLEXIBLE_CHANGED, fields, was=was, now=now)


def _has_same_meaning(base: Slot, head: Slot) -> bool:
    """Whether equal bytes of two types have the same meaning.

    A struct around a single value changes nothing, and record batches were declared as bytes before they had a type of
    their own. But bytes need not be text, and the bytes in records on disk are never batches.
    """
    types = {base.kind, head.kind}
    return "struct" in types or (types == {"bytes", "records"} and head.field.message.is_rpc)


def _replaced_fields(comparison: ComparedVersion) -> Iterator[Change]:
    """The changes of fields that only the base has, although the bytes are equal: another field is at the offset.

    This is a rename in this version only, or one with a change of type.
    """
    plain = comparison.plain
    base_offsets, head_offsets = _offsets(comparison.base, plain=plain), _offsets(comparison.head, plain=plain)
    remaining_ids: set[int] = set()  # of fields of the base that the head has, too, and untagged
    earlier_ids: set[int] = set()  # of fields of the head that the base has, too, and untagged
    for base, head in comparison.pair.fields:
        if base and head and head.position in head_offsets:
            remaining_ids.add(id(base))
        if base and head and base.position in base_offsets:
            earlier_ids.add(id(head))
    replacements = {
        (head_offsets[slot.field.position], slot_tokens(slot, plain=plain)): slot
        for slot in comparison.head.slots
        if id(slot.field) not in earlier_ids
    }
    for base_slot in comparison.base.slots:
        field = base_slot.field
        if id(field) in remaining_ids:
            continue
        head_slot = replacements.get((base_offsets[field.position], slot_tokens(base_slot, plain=plain)))
        if head_slot is None:
            yield comparison.change(Kind.FIELD_REPLACED, (field, None), was=field.name)
        else:
            head_field = head_slot.field
            yield comparison.change(Kind.FIELD_REPLACED, (field, head_field), was=field.name, now=head_field.name)
            yield from _encoding_differences(comparison, base_slot, head_slot, same=True)


def _shifted_field(comparison: ComparedVersion, fields: Iterable[tuple[Field, Field]]) -> Iterator[Change]:
    """The change of the first field at another offset, where all bytes are equal and no two fields changed places.

    Fields before it were added or removed. `fields` are those that both sides have, in the order of the head.
    """
    base_offsets = _offsets(comparison.base, plain=comparison.plain)
    head_offsets = _offsets(comparison.head, plain=comparison.plain)
    for base, head in fields:
        offset = head_offsets[head.position]
        if base_offsets[base.position] != offset:
            base_slots = [slot for slot in comparison.base.slots if base_offsets[slot.field.position] == offset]
            was = base_slots[0].field.name if base_slots else ""
            yield comparison.change(Kind.FIELDS_REORDERED, (base, head), was=was)
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


def _attribute_changes(both: Both, base: Field, head: Field, versions: VersionRange) -> Iterator[Change]:
    """The changes of a field that leave its bytes as they are, in versions that have it on both sides."""
    attributes = [
        (Kind.FIELD_RENAMED, base.name, head.name),
        (Kind.ENTITY_TYPE_CHANGED, base.entity_type or "unset", head.entity_type or "unset"),
        (Kind.MAP_KEY_CHANGED, str(base.map_key).lower(), str(head.map_key).lower()),
        (Kind.IGNORABLE_CHANGED, str(base.ignorable).lower(), str(head.ignorable).lower()),
    ]
    if base.is_struct and head.is_struct:
        attributes.append((Kind.STRUCT_RENAMED, base.element_type, head.element_type))
    if default_value(base) != default_value(head) and not _has_default_as_it_ends(both, base, head):
        attributes.append((Kind.DEFAULT_CHANGED, _quote_default(base), _quote_default(head)))
    for kind, was, now in attributes:
        if was != now:
            yield Change(kind, both, versions, (base, head), was=was, now=now)


def _quote_default(field: Field) -> str:
    """A field's default as messages quote it: `"-1"`, `null` or `unset`."""
    if field.defaults_to_null:
        return "null"
    return f'"{field.default}"' if field.has_default else "unset"


def _has_default_as_it_ends(both: Both, base: Field, head: Field) -> bool:
    """Whether a field got its default because it now ends below the highest version; only later versions use it."""
    return not base.has_default and head.ends_early and base.present.highest == both.base.valid.highest


def default_value(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and a missing default are the same number."""
    if field.defaults_to_null:
        return None
    return "" if field.is_array or field.is_struct else primitive_default(field, field.element_type)
