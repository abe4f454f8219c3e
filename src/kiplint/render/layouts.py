"""The layout of a range of versions, as JSON and as a drawing with encodings and sizes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.values import default_of
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, lines, width
from kiplint.model.message import Message
from kiplint.render.table import BOLD, DIM, paint, table
from kiplint.text.show import encodable, printable
from kiplint.versions import VersionRange

Tags = Annotated[
    "dict[str, FieldObject] | UnsetType",
    Meta(description="The tagged fields by tag; left out where the version is not flexible."),
]


class FieldObject(msgspec.Struct, frozen=True, kw_only=True):
    """A field as these versions put it on the wire."""

    name: str
    type: Annotated[str, Meta(description="As the schema has it: `int32`, `Topic`, `[]string`, `[]Topic`.")]
    array: bool
    element: Annotated[str | None, Meta(description="Of an array: the type of its elements; else null.")]
    compact: Annotated[bool, Meta(description="The length or count is an unsigned varint of that number plus one.")]
    nullable: bool
    tagged: bool
    tag: int | None
    default: Annotated[
        Any,
        Meta(
            description="The value that a writer uses by default, as `kiplint decode` shows values; `{}` for a "
            "struct whose fields have their defaults."
        ),
    ]
    ignorable: bool
    map_key: bool
    entity_type: Annotated[str, Meta(description="What the value identifies, or empty.")]
    encoding: Annotated[str, Meta(description="Compact or not, nullable or not, and the type, in words.")]
    bytes: Annotated[
        str,
        Meta(
            description="A width; or `2+n`, `4+n`, `varint+n`, a length and that many bytes; or `4+`, `varint+`, a "
            "count and the elements; `1+` a marker and a struct; empty for a struct without one."
        ),
    ]
    fields: Annotated[
        list[FieldObject] | UnsetType, Meta(description="Of a struct, alone or as element: its fields, in order.")
    ] = UNSET
    tags: Tags = UNSET


class LayoutObject(msgspec.Struct, frozen=True, kw_only=True):
    """What a message puts on the wire in a range of versions with the same layout."""

    versions: Annotated[str, Meta(description='As Kafka writes them: "3" or "4-9".')]
    lowest: int
    highest: int
    flexible: bool
    header_version: Annotated[
        int | None, Meta(description="The header in front of a request or response, -1 for none; null for others.")
    ]
    header: Annotated[int | UnsetType, Meta(description="The same as `header_version`; left out for others.")] = UNSET
    fields: Annotated[list[FieldObject], Meta(description="The fields that are not tagged, in the order of the wire.")]
    tags: Tags = UNSET


def layout_object(message: Message, versions: VersionRange) -> LayoutObject:
    """The layout of a range of versions on which it is the same."""
    header = header_of(message, versions.lowest) if message.is_rpc else None
    body = layout(message, versions.lowest)
    return LayoutObject(
        versions=str(versions),
        lowest=versions.lowest,
        highest=versions.highest,
        flexible=versions.lowest in message.flexible,
        header_version=header,
        header=UNSET if header is None else header,
        fields=_fields(body),
        tags=_tags(body),
    )


def _fields(body: Layout) -> list[FieldObject]:
    return [_field(slot) for slot in body.slots]


def _tags(body: Layout) -> dict[str, FieldObject] | UnsetType:
    return UNSET if body.tags is None else {str(slot.field.tag): _field(slot, tagged=True) for slot in body.tags}


def _field(slot: Slot, *, tagged: bool = False) -> FieldObject:
    field = slot.field
    return FieldObject(
        name=encodable(field.name),
        type=encodable(field.type),
        array=slot.array,
        element=encodable(field.element_type) if slot.array else None,
        compact=slot.compact and (slot.array or width(slot) == "varint+n"),
        nullable=slot.nullable,
        tagged=tagged,
        tag=field.tag if tagged else None,
        default=_default(slot),
        ignorable=field.ignorable,
        map_key=field.map_key,
        entity_type=field.entity_type,
        encoding=encodable(describe(slot)),
        bytes=width(slot),
        fields=_fields(slot.body) if slot.body else UNSET,
        tags=_tags(slot.body) if slot.body else UNSET,
    )


def _default(slot: Slot) -> Any:
    """The default in JSON; an empty object for a struct, whose fields have their own defaults."""
    if slot.body and not slot.array and not (slot.field.defaults_to_null and slot.nullable):
        return {}
    return default_of(slot)


def draw(message: Message, versions: VersionRange, color: bool, width: int | None) -> str:
    """The drawing of a range of versions on which the layout is the same."""
    header = f", after {message.type} header {header_of(message, versions.lowest)}" if message.is_rpc else ""
    flexible = ", flexible" if versions.lowest in message.flexible else ""
    head = f"{printable(message.name)} {versions}{header}{flexible}"
    rows = [
        [(f"{'  ' * depth}{printable(name)}", ""), (printable(encoding), ""), (size, DIM)]
        for depth, name, encoding, size in lines(layout(message, versions.lowest))
    ]
    return "\n".join([paint(head, BOLD, color), *(table((), rows, color, width) or ["  nothing"])])
