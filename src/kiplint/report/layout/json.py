"""The JSON document of messages' layouts; its fields are stable, and only ever added to (`kiplint schema show`)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from kiplint.codec.shape import default_of
from kiplint.model.header_map import header_of
from kiplint.model.layout import Body, Slot, describe, layout, width
from kiplint.model.message import Message
from kiplint.report.layout.shape import FieldObject, LayoutObject, MessageObject, ShowDocument
from kiplint.runs.show import LayoutResult, LayoutsResult
from kiplint.text.show import encodable
from kiplint.versions import VersionRange


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
        flexible=message.flexible.covers(versions.lowest),
        header_version=header,
        header=UNSET if header is None else header,
        fields=fields,
        tags=UNSET if tags is None else tags,
    )


def _body(body: Body) -> tuple[list[FieldObject], dict[str, FieldObject] | None]:
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
