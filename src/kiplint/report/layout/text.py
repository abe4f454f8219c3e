"""The layout of a message as its reader would draw it, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from kiplint.model.header_map import headed_intervals, header_of
from kiplint.model.layout import Body, Slot, describe, layout, lines, width
from kiplint.model.message import Message
from kiplint.report.kit.colors import BOLD, DIM, paint
from kiplint.text.show import printable
from kiplint.versions import VersionRange


def pieces(message: Message, wanted: VersionRange | None) -> tuple[VersionRange, ...]:
    """The ranges to draw: all on which layout and header are constant, or the one that a version lies in."""
    return tuple(one for one in headed_intervals(message) if wanted is None or one & wanted)


def write_layouts(message: Message, ranges: Sequence[VersionRange], out: TextIO, *, color: bool) -> None:
    """Write one drawing for each range: names, encodings, and the bytes that each takes."""
    drawings = []
    for versions in ranges:
        body = layout(message, versions.lowest)
        rows = [(f"{'  ' * row[0]}{printable(row[1])}", printable(row[2]), row[3]) for row in lines(body)]
        head = f"{printable(message.name)} {versions}{_header(message, versions.lowest)}"
        flexible = ", flexible" if message.flexible.covers(versions.lowest) else ""
        first = max((len(name) for name, _, _ in rows), default=0)
        second = max((len(encoding) for _, encoding, _ in rows), default=0)
        drawn = [
            f"  {name:<{first}}  {encoding:<{second}}  {paint(size, DIM, color)}".rstrip()
            for name, encoding, size in rows
        ]
        drawings.append("\n".join([paint(head + flexible, BOLD, color), *(drawn or ["  nothing"])]))
    out.write("\n\n".join(drawings) + "\n")


def layout_document(message: Message, ranges: Sequence[VersionRange]) -> dict[str, Any]:
    """What `kiplint show --output-format json` writes."""
    return {
        "version": 1,
        "message_name": message.name,
        "message_type": message.type,
        "valid_versions": str(message.valid),
        "layouts": [
            {
                "versions": str(versions),
                "flexible": message.flexible.covers(versions.lowest),
                **({"header": header_of(message, versions.lowest)} if message.is_rpc else {}),
                **_body(layout(message, versions.lowest)),
            }
            for versions in ranges
        ],
    }


def _header(message: Message, version: int) -> str:
    return f", after {message.type} header {header_of(message, version)}" if message.is_rpc else ""


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
