"""The shape of the JSON of `kiplint show`, said once: the document and its JSON Schema are made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.fast import default_of
from kiplint.commands.show.run import LayoutResult, LayoutsResult
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, width
from kiplint.model.message import Message
from kiplint.text.show import encodable
from kiplint.versions import VersionRange

Tags = Annotated[
    "dict[str, FieldObject] | UnsetType",
    Meta(description="The tagged fields by tag; left out where the version is not flexible."),
]


class FieldObject(msgspec.Struct, kw_only=True):
    """One field as it travels in these versions."""

    name: str
    type: Annotated[str, Meta(description="As the schema has it: `int32`, `Topic`, `[]string`, `[]Topic`.")]
    array: bool
    element: Annotated[str | None, Meta(description="Of an array: the type of its elements; else null.")]
    compact: Annotated[bool, Meta(description="The length or count is an unsigned varint, one more than it says.")]
    nullable: bool
    tagged: bool
    tag: int | None
    default: Annotated[
        Any,
        Meta(
            description="What a writer puts where nothing is given, as `kiplint decode` shows values; `{}` for a "
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


class LayoutObject(msgspec.Struct, kw_only=True):
    """What a message puts on the wire in versions in which that is the same."""

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


class MessageObject(msgspec.Struct, kw_only=True):
    """One message with its layouts, lowest versions first. Ranges are as Kafka writes them, `none` for an empty one."""

    message_name: str
    message_type: str
    api_key: int | None
    valid_versions: str
    flexible_versions: str
    deprecated_versions: str
    latest_version_unstable: bool
    listeners: list[str]
    set: Annotated[str, Meta(description="The directory of its schema set below what was shown, or empty.")]
    layouts: list[LayoutObject]


class ShowDocument(msgspec.Struct):
    """What `kiplint show --all --output-format json` writes; of one message, its properties stand beside `version`."""

    version: Literal[1]
    messages: Annotated[list[MessageObject], Meta(description="By name.")]


class OneDocument(MessageObject, kw_only=True):
    """What `kiplint show MESSAGE --output-format json` writes."""

    version: Literal[1]


DOCUMENTS = {"show": (ShowDocument, OneDocument)}


def document(result: LayoutResult | LayoutsResult) -> dict[str, Any]:
    """What `kiplint show --output-format json` writes."""
    if isinstance(result, LayoutsResult):
        found = ShowDocument(1, [_message(one) for one in result.messages])
        return dict(msgspec.to_builtins(found))
    return {"version": 1, **msgspec.to_builtins(_message(result))}


def _message(result: LayoutResult) -> MessageObject:
    message = result.message
    return MessageObject(
        message_name=encodable(message.name),
        message_type=message.type,
        api_key=message.api_key,
        valid_versions=str(message.valid),
        flexible_versions=str(message.flexible & message.valid),
        deprecated_versions=str(message.deprecated & message.valid),
        latest_version_unstable=message.unstable,
        listeners=[*message.listeners],
        set=encodable(message.schemas.directory),
        layouts=[_layout(message, versions) for versions in result.ranges],
    )


def layout_object(message: Message, versions: VersionRange) -> dict[str, Any]:
    """The layout of a range of versions on which it is the same."""
    return dict(msgspec.to_builtins(_layout(message, versions)))


def _layout(message: Message, versions: VersionRange) -> LayoutObject:
    header = header_of(message, versions.lowest) if message.is_rpc else None
    fields, tags = _body(layout(message, versions.lowest))
    return LayoutObject(
        versions=str(versions),
        lowest=versions.lowest,
        highest=versions.highest,
        flexible=versions.lowest in message.flexible,
        header_version=header,
        header=UNSET if header is None else header,
        fields=fields,
        tags=UNSET if tags is None else tags,
    )


def _body(body: Layout) -> tuple[list[FieldObject], dict[str, FieldObject] | None]:
    tags = None if body.tags is None else {str(one.field.tag): _field(one, tagged=True) for one in body.tags}
    return [_field(one) for one in body.slots], tags


def _field(one: Slot, *, tagged: bool = False) -> FieldObject:
    field = one.field
    fields, tags = _body(one.body) if one.body else (None, None)
    return FieldObject(
        name=encodable(field.name),
        type=encodable(field.type),
        array=one.array,
        element=encodable(field.element_type) if one.array else None,
        compact=one.compact and (one.array or width(one) == "varint+n"),
        nullable=one.nullable,
        tagged=tagged,
        tag=field.tag if tagged else None,
        default=_default(one),
        ignorable=field.ignorable,
        map_key=field.map_key,
        entity_type=field.entity_type,
        encoding=encodable(describe(one)),
        bytes=width(one),
        fields=UNSET if fields is None else fields,
        tags=UNSET if tags is None else tags,
    )


def _default(one: Slot) -> Any:
    """The default in JSON's terms; that of a struct has nothing in it, as its fields have theirs."""
    if one.body and not one.array and not (one.field.defaults_to_null and one.nullable):
        return {}
    return default_of(one)
