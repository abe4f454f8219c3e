"""A page of HTML: an index of messages, and for each message the layouts of its versions, and its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TextIO

import msgspec
from msgspec import UNSET, UnsetType

from kiplint.commands.show.result import FieldObject, LayoutObject, LayoutResult, LayoutsResult, MessageObject, Tags
from kiplint.model.fields import Field
from kiplint.model.message import Message
from kiplint.render.links import PagesBeside
from kiplint.render.page import MOST_CELLS, Strip, Tally, anchors, strip, write_page

TAGS = "tag section"
PARTNERS = {"Request": "Response", "Response": "Request"}


class LayoutRow(NamedTuple):
    """A field of a layout: its path of names, its depth, its texts, and what these versions change in it."""

    path: tuple[str, ...]
    depth: int
    name: str
    encoding: str
    bytes: str
    default: str
    notes: str
    change: str = ""


class MessageEntry(NamedTuple):
    """A message: its JSON, its anchor in the page, the anchor of its request or response, its versions and fields.

    A range of versions has its layout, the anchor of each version, and the rows of the layout.
    """

    message: MessageObject
    anchor: str
    partner: str
    bar: Strip
    versions: list[tuple[LayoutObject, list[str], list[LayoutRow]]]
    fields: Sequence[Field]


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write the page of one message, or of all."""
    results = result.messages if isinstance(result, LayoutsResult) else (result,)
    messages = result.document.messages if isinstance(result, LayoutsResult) else [result.document]
    names = [message.message_name for message in messages]
    page_anchors = anchors(names)
    anchors_by_name = dict(zip(names, page_anchors, strict=True))
    entries = [
        _entry(message, anchor, layouts.message, anchors_by_name)
        for message, anchor, layouts in zip(messages, page_anchors, results, strict=True)
    ]
    kinds = sorted({message.message_type for message in messages})
    sets = sorted({message.set for message in messages})
    write_page(
        "commands/show/page.html",
        out,
        subject=PagesBeside(out).subject("show", result.source),
        scripts=("commands/show/page.js",),
        entries=sorted(entries, key=lambda entry: (entry.message.set, entry.message.message_name)),
        whole=isinstance(result, LayoutsResult),
        title=messages[0].message_name if len(messages) == 1 else "Messages",
        kinds=[Tally(kind, kind, sum(message.message_type == kind for message in messages)) for kind in kinds],
        sets=[(name, name or "this set") for name in sets],
        layouts=sum(len(message.layouts) for message in messages),
        broken=result.broken,
    )


def _entry(message: MessageObject, anchor: str, source: Message, anchors_by_name: Mapping[str, str]) -> MessageEntry:
    name, flexible = message.message_name, source.flexible

    def look(version: int) -> tuple[str, str]:
        return ("flexible", "flexible") if version in flexible else ("", "")

    end = next((end for end in PARTNERS if name.endswith(end)), "")
    partner = anchors_by_name.get(name.removesuffix(end) + PARTNERS[end], "") if end else ""
    versions: list[tuple[LayoutObject, list[str], list[LayoutRow]]] = []
    for layout in message.layouts:
        rows = [*_rows(layout.fields, layout.tags, ())]
        if versions:
            before = {row.path: row for row in versions[-1][2]}
            rows = [row._replace(change=_change(before.get(row.path), row)) for row in rows]
        last = min(layout.highest, layout.lowest + MOST_CELLS)
        versions.append((layout, [f"{anchor}@{version}" for version in range(layout.lowest, last + 1)], rows))
    return MessageEntry(message, anchor, partner, strip([flexible], source.valid, look), versions, source.all_fields)


def _change(before: LayoutRow | None, row: LayoutRow) -> str:
    """What is different in a field: that it is new, or the words of its encoding that it did not have before."""
    if before is None:
        return "new here" if row.encoding != TAGS else ""
    was_tagged, is_tagged = (":" in each.name for each in (before, row))
    words = [word for word in row.encoding.split() if word not in before.encoding.split()]
    now = ["tagged"] * (is_tagged and not was_tagged) + words
    gone = ["tagged"] * (was_tagged and not is_tagged)
    gone += [
        word for word in ("compact", "nullable") if word in before.encoding.split() and word not in row.encoding.split()
    ]
    return ", ".join([f"now {' '.join(now)}"] * bool(now) + [f"no longer {' or '.join(gone)}"] * bool(gone))


def _rows(
    fields: list[FieldObject] | UnsetType, tags: Tags, path: tuple[str, ...], depth: int = 0
) -> Iterator[LayoutRow]:
    for field in fields or ():
        yield from _field_rows(field, path, depth, field.name)
    if tags is not UNSET:
        yield LayoutRow((*path, TAGS), depth, "tagged fields", TAGS, "varint+", "", "")
        for tag, field in tags.items():
            yield from _field_rows(field, path, depth + 1, f"{tag}: {field.name}")


def _field_rows(field: FieldObject, path: tuple[str, ...], depth: int, name: str) -> Iterator[LayoutRow]:
    words = (("ignorable", field.ignorable), ("map key", field.map_key), (field.entity_type, field.entity_type))
    notes = ", ".join(word for word, applies in words if applies)
    is_struct = field.fields is not UNSET
    default = "" if is_struct and field.default in ([], {}) else msgspec.json.encode(field.default).decode()
    yield LayoutRow((*path, field.name), depth, name, field.encoding, field.bytes, default, notes)
    if is_struct:
        yield from _rows(field.fields, field.tags, (*path, field.name), depth + 1)
