"""What one version of a message puts on the wire: encodings in order, then the tagged fields (KIP-482, KIP-893).

Layouts are made for one version that stands for an interval on which nothing changes (`intervals`); no version is
ever enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS, Limit
from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import header_map
from kiplint.model.message import Message
from kiplint.model.types import SIZED, WIDTHS
from kiplint.versions import VersionRange, boundaries


class Slot(msgspec.Struct, frozen=True):
    """One field as it travels: a primitive, or a struct with a body, alone or as the element of an array."""

    field: Field
    """The field."""
    kind: str
    """The type: a primitive, or the name of a struct."""
    array: bool
    """Whether the value is an array of that type."""
    compact: bool
    """Whether the encoding is the compact one."""
    nullable: bool
    """Whether the value may be null."""
    body: Layout | None
    """The layout of the struct; None for a primitive."""


class Layout(msgspec.Struct, frozen=True):
    """The fields of a message or struct in one version."""

    slots: tuple[Slot, ...]
    """The fields, in the order of their bytes."""
    tags: tuple[Slot, ...] | None
    """The tagged fields, by tag; None where the version is not flexible."""

    @property
    def all_slots(self) -> tuple[Slot, ...]:
        """The fields, then the tagged fields."""
        return (*self.slots, *(self.tags or ()))


def ranges_of(container: Container) -> Iterator[VersionRange]:
    """Every range that affects the layout of the container's own fields."""
    for field in container.fields:
        yield from (field.versions, field.tagged, field.nullable, field.flexible)


def intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which the message's layout does not change, lowest first."""
    containers = (message, *message.structs)
    ranges = [message.flexible, *(versions for container in containers for versions in ranges_of(container))]
    parts: list[VersionRange] = []
    previous: list[tuple[int, str, str, str]] = []
    for part in boundaries(ranges, message.valid):
        rows = list(lines(layout(message, part.lowest)))
        if parts and rows == previous and parts[-1].highest + 1 == part.lowest:
            parts[-1] |= part
        else:
            parts.append(part)
        previous = rows
    return tuple(parts)


def headed_intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which neither the layout changes nor the header in front of it."""
    parts = intervals(message)
    if not message.is_rpc:
        return parts
    header_versions = (versions for versions, _ in header_map(message))
    return tuple(boundaries([*parts, *header_versions], message.valid))


def layout(
    container: Container, version: int, flexible: bool | None = None, outer: frozenset[str] = frozenset()
) -> Layout:
    """The layout of a message or struct in one version.

    `flexible` states whether the version is flexible; for a message, its own `flexibleVersions` decide. A struct inside
    itself (see `outer`) has no body, so that every layout ends.
    """
    if flexible is None:
        flexible = isinstance(container, Message) and version in container.flexible
    present = [field for field in container.fields if version in field.versions]
    slots = tuple(slot(field, version, flexible, outer) for field in present if version not in field.tagged)
    if not flexible:
        return Layout(slots, None)
    tagged = sorted((field for field in present if version in field.tagged), key=lambda field: field.tag or 0)
    return Layout(slots, tuple(slot(field, version, flexible, outer) for field in tagged))


def known_layout(container: Container, version: int, flexible: bool | None = None) -> Layout:
    """The same as `layout`; the last result is kept, for many questions about a version after the other."""
    layouts: dict[tuple[int, bool | None], Layout] = vars(container).setdefault("_layouts", {})
    if (version, flexible) not in layouts:
        layouts.clear()
        layouts[version, flexible] = layout(container, version, flexible)
    return layouts[version, flexible]


def slot(field: Field, version: int, flexible: bool, outer: frozenset[str] = frozenset()) -> Slot:
    """How one field travels in one version."""
    compact = flexible and (not field.overrides_flexible or version in field.flexible)
    struct: Struct | None = field.struct if field.is_struct and field.element_type not in outer else None
    body = layout(struct, version, flexible, outer | {field.element_type}) if struct else None
    kind = "struct" if field.is_struct else field.element_type
    return Slot(field, kind, field.is_array, compact, version in field.nullable, body)


def unfolded_size(container: Container, most: int) -> tuple[int, int]:
    """How many fields a layout has at most, structs unfolded as layouts unfold them, and how deep these stand.

    Stops above `most` fields and below `UNFOLDED_LEVELS` structs.
    """
    path: list[str] = []
    waiting = [iter(container.fields)]
    count, deepest = len(container.fields), 0
    while waiting and count <= most and deepest <= UNFOLDED_LEVELS:
        field = next(waiting[-1], None)
        if field is None:
            waiting.pop()
            del path[-1:]
        elif field.is_struct and field.element_type not in path and field.struct:
            path.append(field.element_type)
            waiting.append(iter(field.struct.fields))
            count += len(field.struct.fields)
            deepest = max(deepest, len(path))
    return count, deepest


def exceeded_limit(message: Message) -> Limit | None:
    """The limit that the layouts of all versions of a message exceed, if any; such a message is not compared."""
    fields, depth = unfolded_size(message, UNFOLDED_FIELDS)
    if depth > UNFOLDED_LEVELS:
        return UNFOLDED_LEVELS
    if message.valid and fields * (message.valid.highest + 1) > UNFOLDED_FIELDS:  # else need not count the layouts
        ranges = [versions for container in (message, *message.structs) for versions in ranges_of(container)]
        fields *= len(list(boundaries(ranges, message.valid))) or 1
    return UNFOLDED_FIELDS if fields > UNFOLDED_FIELDS else None


Tokens = tuple[Any, ...]


def tokens(body: Layout, *, plain: bool = False) -> Tokens:
    """The encodings in order, without names: equal tokens are equal bytes.

    All tagged fields are a single token, because they are compared tag by tag. `plain` leaves out everything that
    only flexible versions have.
    """
    encodings = tuple(token for slot in body.slots for token in slot_tokens(slot, plain=plain))
    return encodings if body.tags is None or plain else (*encodings, "tags")


def slot_tokens(slot: Slot, *, plain: bool = False) -> Tokens:
    """The tokens of a field. A struct that is not in an array and cannot be null has only the tokens of its fields."""
    compact = slot.compact and not plain
    if slot.kind != "struct":
        inner: Tokens = (_primitive(slot.kind, compact, slot.nullable and not slot.array),)
    else:
        inner = tokens(slot.body, plain=plain) if slot.body else ("recursion",)
        inner = (("maybe", inner),) if slot.nullable and not slot.array else inner
    return (("array", compact, slot.nullable, inner),) if slot.array else inner


def _primitive(kind: str, compact: bool, nullable: bool) -> Any:
    if kind not in SIZED:
        return kind
    # A compact length is one unsigned varint whatever it counts; the old ones are two bytes for strings, else four.
    return ("compact" if compact else "string" if kind == "string" else "bytes", nullable)


class Encoding(NamedTuple):
    """The bytes of one version, with the tags of every tag section in the order of the sections."""

    tokens: Tokens
    sections: tuple[Mapping[int, Encoding], ...]

    def agrees_with(self, other: Encoding) -> bool:
        """Whether each side reads what the other writes. A tag that only one side has is skipped (KIP-482)."""
        return self.tokens == other.tokens and all(
            ours[tag].agrees_with(theirs[tag])
            for ours, theirs in zip(self.sections, other.sections, strict=True)
            for tag in ours.keys() & theirs.keys()
        )


def wire_ranges(message: Message) -> list[VersionRange]:
    """The ranges of versions on whose bounds the bytes or the header of a message may change."""
    ranges = [versions for container in (message, *message.structs) for versions in ranges_of(container)]
    return [message.flexible, *ranges, *(entry.versions for entry in message.header_ranges)]


def wire_forms(message: Message) -> Iterator[tuple[VersionRange, Encoding]]:
    """The form of each range of valid versions on which nothing changes, lowest first."""
    for versions in boundaries(wire_ranges(message), message.valid):
        yield versions, encoding(layout(message, versions.lowest))


def encoding(body: Layout) -> Encoding:
    """The bytes of a layout."""
    return Encoding(tokens(body), tuple(_sections(body)))


def _sections(body: Layout) -> Iterator[Mapping[int, Encoding]]:
    for struct in body.slots:
        yield from _sections(struct.body) if struct.body else ()
    if body.tags is not None:
        yield {
            slot.field.tag or 0: Encoding(slot_tokens(slot), tuple(_sections(slot.body)) if slot.body else ())
            for slot in body.tags
        }


def width(slot: Slot) -> str:
    """How many bytes the value, or its length, takes: `4`, `2+n`, `varint+n`, `1+`."""
    if slot.array:
        return "varint+" if slot.compact else "4+"
    if slot.kind == "struct":
        return "1+" if slot.nullable else ""
    if slot.kind in WIDTHS:
        return str(WIDTHS[slot.kind])
    return "varint+n" if slot.compact else "2+n" if slot.kind == "string" else "4+n"


def describe(slot: Slot) -> str:
    """The encoding in words: `compact nullable string`, `array of int32`, `nullable struct`."""
    words = ["compact"] if slot.compact and (slot.array or slot.kind in SIZED) else []
    words += ["nullable"] if slot.nullable else []
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
