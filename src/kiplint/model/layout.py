"""The layout of one version of a message: encodings in order, then the tagged fields (KIP-482, KIP-893).

Layouts are made for one version that stands for an interval on which nothing changes (`layout_intervals`); versions
are never enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS, Limit
from kiplint.model.definition import Definition
from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import header_map
from kiplint.model.types import LENGTH_PREFIXED, WIDTHS
from kiplint.versions import VersionRange, uniform_parts

if TYPE_CHECKING:
    from kiplint.model.message import Message


class Slot(msgspec.Struct, frozen=True):
    """The encoding of one field: a primitive, or a struct with a body, alone or as the element of an array."""

    field: Field
    """The field."""
    kind: str
    """A primitive type, or `struct`."""
    array: bool
    """Whether the value is an array of that type."""
    compact: bool
    """Whether the encoding is the compact one."""
    nullable: bool
    """Whether the value may be null."""
    is_tagged: bool
    """Whether it is a tagged field, in which the marker of a nullable struct is a varint."""
    body: Layout | None
    """The layout of the struct; None for a primitive."""


class Layout(msgspec.Struct, frozen=True, dict=True):
    """The fields of a message or struct in one version."""

    slots: tuple[Slot, ...]
    """The fields, in the order of their bytes."""
    tags: tuple[Slot, ...] | None
    """The tagged fields, by tag; None where the version is not flexible."""

    @property
    def all_slots(self) -> tuple[Slot, ...]:
        """The fields, then the tagged fields."""
        return (*self.slots, *(self.tags or ()))

    @cached_property
    def slots_by_field(self) -> Mapping[Field, Slot]:
        """`all_slots` by their fields."""
        return {slot.field: slot for slot in self.all_slots}


def ranges_of(container: Container) -> Iterator[VersionRange]:
    """Every range that affects the layout of the container's own fields."""
    for field in container.fields:
        yield from (field.versions, field.tagged, field.nullable, field.flexible)


def _layout_ranges(message: Message) -> list[VersionRange]:
    """Every range on whose bounds the layout of a message may change."""
    containers = (message, *message.structs)
    return [message.flexible, *(versions for container in containers for versions in ranges_of(container))]


def layout_intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which the names and encodings of fields do not change, lowest first."""
    merged: list[VersionRange] = []
    previous_rows: list[tuple[int, str, str, str]] = []
    for versions in uniform_parts(_layout_ranges(message), message.valid):
        rows = list(lines(layout(message, versions.lowest)))
        is_adjacent = bool(merged) and merged[-1].highest + 1 == versions.lowest
        if is_adjacent and rows == previous_rows:
            merged[-1] |= versions
        else:
            merged.append(versions)
        previous_rows = rows
    return tuple(merged)


def headed_intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which neither the layout changes nor the header in front of it."""
    header_versions = [versions for versions, _ in header_map(message)] if message.is_rpc else []
    return tuple(uniform_parts([*layout_intervals(message), *header_versions], message.valid))


def layout(
    container: Container, version: int, flexible: bool | None = None, outer: frozenset[str] = frozenset()
) -> Layout:
    """The layout of a message or struct in one version.

    `flexible` states whether the version is flexible; None for a message, whose own `flexibleVersions` decide. `outer`
    are the names of the structs around: a struct inside itself has no body, so that every layout ends.
    """
    if flexible is None:
        flexible = isinstance(container, Definition) and version in container.flexible
    present = [field for field in container.fields if version in field.versions]
    slots = tuple(slot(field, version, flexible, outer) for field in present if version not in field.tagged)
    if not flexible:
        return Layout(slots, None)
    tagged = sorted((field for field in present if version in field.tagged), key=lambda field: field.tag or 0)
    return Layout(slots, tuple(slot(field, version, flexible, outer) for field in tagged))


cached_layout = lru_cache(maxsize=4)(layout)
"""`layout` with a cache, for many calls in a row about one version of a message."""


def slot(field: Field, version: int, flexible: bool, outer: frozenset[str] = frozenset()) -> Slot:
    """The encoding of one field in one version; `flexible` and `outer` are those of `layout`."""
    compact = flexible and (not field.overrides_flexible or version in field.flexible)
    struct: Struct | None = field.struct if field.is_struct and field.element_type not in outer else None
    body = layout(struct, version, flexible, outer | {field.element_type}) if struct else None
    kind = "struct" if field.is_struct else field.element_type
    is_tagged = flexible and version in field.tagged
    nullable = version in field.nullable and field.can_be_null  # no bytes of an int32 or a uuid are null
    return Slot(field, kind, field.is_array, compact, nullable, is_tagged, body)


def unfolded_size(container: Container, most: int) -> tuple[int, int]:
    """The number of fields of the largest layout, with those of structs, and the nesting depth of the deepest field.

    Stops counting above `most` fields or `UNFOLDED_LEVELS` structs.
    """
    count = deepest = 0
    waiting: list[tuple[Container, frozenset[str]]] = [(container, frozenset())]
    while waiting and count <= most and deepest <= UNFOLDED_LEVELS:
        container, outer = waiting.pop()
        count += len(container.fields)
        deepest = max(deepest, len(outer))
        waiting += [
            (field.struct, outer | {field.element_type})
            for field in container.fields
            if field.is_struct and field.element_type not in outer and field.struct
        ]
    return count, deepest


def exceeded_limit(message: Message) -> Limit | None:
    """The limit that the layouts of all versions of a message exceed, if any; such a message is not compared."""
    field_count, depth = unfolded_size(message, UNFOLDED_FIELDS)
    if depth > UNFOLDED_LEVELS:
        return UNFOLDED_LEVELS
    most_layouts = max(message.valid.highest + 1, 1)
    if field_count * most_layouts <= UNFOLDED_FIELDS:
        return None  # without the time that it takes to count the different layouts
    return UNFOLDED_FIELDS if field_count * max(layout_count(message), 1) > UNFOLDED_FIELDS else None


def layout_count(message: Message) -> int:
    """How many ranges of valid versions may have a layout of their own."""
    return len(list(uniform_parts(_layout_ranges(message), message.valid)))


Tokens = tuple[Any, ...]
"""Encodings in order: `("int32", ("compact", True), "tags")` for an int32, a compact nullable string, and tags."""


def tokens(body: Layout, *, plain: bool = False) -> Tokens:
    """The encodings in order, without names: equal tokens are equal bytes.

    All tagged fields are a single token, because they are compared tag by tag. `plain` omits everything that only
    flexible versions have.
    """
    encodings = tuple(token for slot in body.slots for token in slot_tokens(slot, plain=plain))
    return encodings if body.tags is None or plain else (*encodings, "tags")


def slot_tokens(slot: Slot, *, plain: bool = False) -> Tokens:
    """The tokens of a field. A struct that is not in an array and cannot be null has only the tokens of its fields."""
    compact = slot.compact and not plain
    if slot.array:
        element = msgspec.structs.replace(slot, array=False, nullable=False)
        return (("array", compact, slot.nullable, slot_tokens(element, plain=plain)),)
    if slot.kind != "struct":
        return (_primitive_token(slot.kind, compact, slot.nullable),)
    struct_tokens = tokens(slot.body, plain=plain) if slot.body else ("recursion",)
    return (("maybe", slot.is_tagged, struct_tokens),) if slot.nullable else struct_tokens


def _primitive_token(kind: str, compact: bool, nullable: bool) -> str | tuple[str, bool]:
    """The token of a primitive: its type, or how its length is written in front and whether it can be null."""
    if kind not in LENGTH_PREFIXED:
        return kind
    if compact:  # the length is one unsigned varint whatever it counts
        return ("compact", nullable)
    length_is_short = kind == "string"  # two bytes, else four
    return ("string" if length_is_short else "bytes", nullable)


class Encoding(NamedTuple):
    """The bytes of one version or of one tagged field."""

    tokens: Tokens
    """The encodings in order; a tag section is one token."""
    sections: tuple[Mapping[int, Encoding], ...]
    """For each tag section, in the order of the bytes: the encoding of each tag."""


def wire_ranges(message: Message) -> list[VersionRange]:
    """The ranges of versions on whose bounds the bytes or the header of a message may change."""
    return [*_layout_ranges(message), *(entry.versions for entry in message.header_ranges)]


def encoding(body: Layout) -> Encoding:
    """The bytes of a layout."""
    return Encoding(tokens(body), tuple(_sections(body)))


def _sections(body: Layout) -> Iterator[Mapping[int, Encoding]]:
    """For each tag section of a layout and of the structs in it: the encoding of each tag."""
    for slot in body.slots:
        if slot.body:
            yield from _sections(slot.body)
    if body.tags is not None:
        yield {
            slot.field.tag or 0: Encoding(slot_tokens(slot), tuple(_sections(slot.body)) if slot.body else ())
            for slot in body.tags
        }


def width(slot: Slot) -> str:
    """How many bytes the value takes: `4`, `2+n` for a string after its length, `varint+` for an array of structs."""
    if slot.array:
        return "varint+" if slot.compact else "4+"
    if slot.kind == "struct":
        return "1+" if slot.nullable else ""  # its fields have widths of their own
    if slot.kind in WIDTHS:
        return str(WIDTHS[slot.kind])
    if slot.compact:
        return "varint+n"
    return "2+n" if slot.kind == "string" else "4+n"


def describe(slot: Slot) -> str:
    """The encoding in words: `compact nullable string`, `array of int32`, `nullable TopicData` for a struct."""
    words: list[str] = []
    if slot.compact and (slot.array or slot.kind in LENGTH_PREFIXED):
        words.append("compact")
    if slot.nullable:
        words.append("nullable")
    kind = slot.field.element_type if slot.kind == "struct" else slot.kind
    return " ".join([*words, f"array of {kind}" if slot.array else kind])


def lines(body: Layout, depth: int = 0) -> Iterator[tuple[int, str, str, str]]:
    """The layout as rows for people: depth, name, encoding, and bytes."""
    for slot in body.slots:
        yield depth, slot.field.name, describe(slot), width(slot)
        if slot.body:
            yield from lines(slot.body, depth + 1)
    if body.tags is not None:
        yield depth, "tagged fields", "tag section", "varint+"
        for slot in body.tags:
            yield depth + 1, f"{slot.field.tag}: {slot.field.name}", describe(slot), width(slot)
            if slot.body:
                yield from lines(slot.body, depth + 2)
