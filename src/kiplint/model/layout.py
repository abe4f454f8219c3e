"""What one version of a message puts on the wire: encodings in order, then the tagged fields (KIP-482, KIP-893).

Layouts are made for one version that stands for an interval on which nothing changes (`intervals`); no version is
ever enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import header_map
from kiplint.model.message import Message
from kiplint.model.types import SIZED, WIDTHS
from kiplint.versions import VersionRange, boundaries

MOST_FIELDS = 100_000
"""What the layouts looked at together may have, structs unfolded. Kafka's largest message comes to a thousand."""

DEEPEST = 64
"""How far structs may stand inside one another. Kafka's deepest message comes to five."""


def unfolded(container: Container, most: int) -> tuple[int, int]:
    """How many fields a layout has at most, structs unfolded as layouts unfold them, and how deep these stand.

    Stops above `most` fields and below `DEEPEST` structs.
    """
    path: list[str] = []
    waiting = [iter(container.fields)]
    count, deepest = len(container.fields), 0
    while waiting and count <= most and deepest <= DEEPEST:
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


Tokens = tuple[Any, ...]


class Slot(msgspec.Struct, frozen=True):
    """One field as it travels: a primitive, or a struct with a body, alone or as the element of an array."""

    field: Field
    kind: str
    array: bool
    compact: bool
    nullable: bool
    body: Body | None


class Body(msgspec.Struct, frozen=True):
    """The fields of a message or struct in one version; `tags` is None where the version is not flexible."""

    slots: tuple[Slot, ...]
    tags: tuple[Slot, ...] | None


def ranges_of(container: Container) -> Iterator[VersionRange]:
    """Every range that bears on the layout of the container's own fields."""
    for field in container.fields:
        yield from (field.versions, field.tagged, field.nullable, field.flexible)


def intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which the message's layout does not change, lowest first."""
    ranges = [message.flexible, *(one for struct in (message, *message.structs) for one in ranges_of(struct))]
    pieces: list[VersionRange] = []
    drawn: list[tuple[int, str, str, str]] = []
    for piece in boundaries(ranges, message.valid):
        rows = list(lines(layout(message, piece.lowest)))
        if pieces and rows == drawn and pieces[-1].highest + 1 == piece.lowest:
            pieces[-1] |= piece
        else:
            pieces.append(piece)
        drawn = rows
    return tuple(pieces)


def headed_intervals(message: Message) -> tuple[VersionRange, ...]:
    """The largest ranges of valid versions on which neither the layout changes nor the header in front of it."""
    found = intervals(message)
    if not message.is_rpc:
        return found
    headed = (versions for versions, _ in header_map(message))
    return tuple(boundaries([*found, *headed], message.valid))


def layout(
    container: Container, version: int, flexible: bool | None = None, outer: frozenset[str] = frozenset()
) -> Body:
    """The layout of a message or struct in one version.

    `flexible` says whether the version is flexible, for a message as its own `flexibleVersions` say. A struct inside
    itself (see `outer`) has no body, so that every layout ends.
    """
    if flexible is None:
        flexible = isinstance(container, Message) and version in container.flexible
    present = [field for field in container.fields if version in field.versions]
    slots = tuple(slot(one, version, flexible, outer) for one in present if version not in one.tagged)
    if not flexible:
        return Body(slots, None)
    tagged = sorted((one for one in present if version in one.tagged), key=lambda one: one.tag or 0)
    return Body(slots, tuple(slot(one, version, flexible, outer) for one in tagged))


def known_layout(container: Container, version: int, flexible: bool | None = None) -> Body:
    """The same as `layout`, made once for many questions about one version after the other."""
    known: dict[tuple[int, bool | None], Body] = vars(container).setdefault("_layouts", {})
    if (version, flexible) not in known:
        known.clear()
        known[version, flexible] = layout(container, version, flexible)
    return known[version, flexible]


def slot(field: Field, version: int, flexible: bool, outer: frozenset[str] = frozenset()) -> Slot:
    """How one field travels in one version."""
    compact = flexible and (not field.overrides_flexible or version in field.flexible)
    struct: Struct | None = field.struct if field.is_struct and field.element_type not in outer else None
    body = layout(struct, version, flexible, outer | {field.element_type}) if struct else None
    kind = "struct" if field.is_struct else field.element_type
    return Slot(field, kind, field.is_array, compact, version in field.nullable, body)


def tokens(body: Body, *, plain: bool = False) -> Tokens:
    """What the bytes are made of, without names: equal tokens are equal bytes.

    Tagged fields stand for themselves as one token: what they hold is compared tag by tag. `plain` leaves out all
    that depends on the version being flexible.
    """
    found = tuple(token for one in body.slots for token in slot_tokens(one, plain=plain))
    return found if body.tags is None or plain else (*found, "tags")


def slot_tokens(one: Slot, *, plain: bool = False) -> Tokens:
    """The tokens of one field; a struct that is no array and cannot be null is no box around its fields."""
    compact = one.compact and not plain
    if one.array:
        return (("array", compact, one.nullable, _element(one, compact, plain)),)
    if one.kind == "struct":
        inner = tokens(one.body, plain=plain) if one.body else ("recursion",)
        return (("maybe", inner),) if one.nullable else inner
    return (_primitive(one.kind, compact, one.nullable),)


def _element(one: Slot, compact: bool, plain: bool) -> Tokens:
    if one.kind == "struct":
        return tokens(one.body, plain=plain) if one.body else ("recursion",)
    return (_primitive(one.kind, compact, nullable=False),)


def _primitive(kind: str, compact: bool, nullable: bool) -> Any:
    if kind not in SIZED:
        return kind
    # A compact length is one unsigned varint whatever it counts; the old ones are two bytes for strings, else four.
    return ("compact" if compact else "string" if kind == "string" else "bytes", nullable)


def width(one: Slot) -> str:
    """How many bytes the value, or its length, takes: `4`, `2+n`, `varint+n`, `1+`."""
    if one.array:
        return "varint+" if one.compact else "4+"
    if one.kind == "struct":
        return "1+" if one.nullable else ""
    if one.kind in WIDTHS:
        return str(WIDTHS[one.kind])
    return "varint+n" if one.compact else "2+n" if one.kind == "string" else "4+n"


def describe(one: Slot) -> str:
    """The encoding in words: `compact nullable string`, `array of int32`, `nullable struct`."""
    words = ["compact"] if one.compact and (one.array or one.kind in SIZED) else []
    words += ["nullable"] if one.nullable else []
    kind = one.field.element_type if one.kind == "struct" else one.kind
    return " ".join([*words, f"array of {kind}" if one.array else kind])


def lines(body: Body, depth: int = 0) -> Iterator[tuple[int, str, str, str]]:
    """The layout as rows for people: depth, name, encoding, and bytes."""
    for one in body.slots:
        yield depth, one.field.name, describe(one), width(one)
        if one.body:
            yield from lines(one.body, depth + 1)
    if body.tags is not None:
        yield depth, "tagged fields", "tag section", "varint+"
        for one in body.tags:
            yield depth + 1, f"{one.field.tag}: {one.field.name}", describe(one), width(one)
            if one.body:
                yield from lines(one.body, depth + 2)
