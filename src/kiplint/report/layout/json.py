"""The JSON document of a message's layouts; its fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any

from kiplint.model.header_map import header_of
from kiplint.model.layout import Body, Slot, describe, layout, width
from kiplint.model.message import Message
from kiplint.runs.show import LayoutResult
from kiplint.versions import VersionRange


def document(result: LayoutResult) -> dict[str, Any]:
    """What `kiplint show --output-format json` writes."""
    message = result.message
    return {
        "version": 1,
        "message_name": message.name,
        "message_type": message.type,
        "valid_versions": str(message.valid),
        "layouts": [layout_object(message, versions) for versions in result.ranges],
    }


def layout_object(message: Message, versions: VersionRange) -> dict[str, Any]:
    """The layout of a range of versions on which it is the same."""
    return {
        "versions": str(versions),
        "flexible": message.flexible.covers(versions.lowest),
        **({"header": header_of(message, versions.lowest)} if message.is_rpc else {}),
        **_body(layout(message, versions.lowest)),
    }


def _body(body: Body) -> dict[str, Any]:
    found: dict[str, Any] = {"fields": [_slot(one) for one in body.slots]}
    if body.tags is not None:
        found["tags"] = {str(one.field.tag): _slot(one) for one in body.tags}
    return found


def _slot(one: Slot) -> dict[str, Any]:
    return {
        "name": one.field.name,
        "type": one.field.type,
        "encoding": describe(one),
        "bytes": width(one),
        "nullable": one.nullable,
        **(_body(one.body) if one.body else {}),
    }
