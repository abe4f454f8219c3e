"""A page of HTML: an index of RPCs and messages, and for each what its versions changed, its layouts and fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple, TextIO

import msgspec
from msgspec import UNSET, UnsetType

from kiplint.commands.show.history import version_row
from kiplint.commands.show.result import FieldObject, LayoutObject, LayoutResult, LayoutsResult, MessageObject, Tags
from kiplint.model.fields import Field
from kiplint.model.message import Message
from kiplint.render.page import MOST_CELLS, Strip, Tally, anchors, strip, write_page
from kiplint.versions import VersionRange, boundaries

TAGS = "tag section"


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


class PagePart(NamedTuple):
    """A message of an entry: its JSON, its anchor, its versions and its fields.

    A range of versions has its layout, the anchor of each version, and the rows of the layout.
    """

    message: MessageObject
    anchor: str
    versions: list[tuple[LayoutObject, list[str], list[LayoutRow]]]
    fields: Sequence[Field]


class RpcEntry(NamedTuple):
    """An RPC with its request and response, or another message: its parts, and what changed in which versions.

    A change has the versions, the texts of the parts, and the KIPs that brought them.
    """

    name: str
    anchor: str
    kind: str
    bar: Strip
    parts: list[PagePart]
    changes: list[tuple[VersionRange, list[str], str]]


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write the page of one message, or of all."""
    results = result.messages if isinstance(result, LayoutsResult) else (result,)
    documents = result.document.messages if isinstance(result, LayoutsResult) else [result.document]
    messages = [document.message_name for document in documents]
    groups: dict[tuple[str, int | str], list[tuple[Message, PagePart, tuple[VersionRange, ...]]]] = {}
    for document, anchor, layouts in zip(documents, anchors(messages), results, strict=True):
        message = layouts.message
        key = message.api_key if message.is_rpc and message.api_key is not None else anchor
        part = PagePart(document, anchor, list(_versions(document, anchor)), message.all_fields)
        groups.setdefault((document.set, key), []).append((message, part, layouts.ranges))
    names = [group[0][0].base_name if len(group) > 1 else group[0][0].name for group in groups.values()]
    rpcs = [name for name, group in zip(names, groups.values(), strict=True) if len(group) > 1]
    rpc_anchors = iter(anchors([*messages, *rpcs])[len(messages) :])
    entries = [
        _entry(name, next(rpc_anchors) if len(group) > 1 else group[0][1].anchor, group)
        for name, group in zip(names, groups.values(), strict=True)
    ]
    kinds = Counter(entry.kind for entry in entries)
    sets = sorted({document.set for document in documents})
    write_page(
        "commands/show/page.html",
        out,
        subject=("show", result.source),
        entries=sorted(entries, key=lambda entry: (entry.parts[0].message.set, entry.name)),
        title=names[0] if len(names) == 1 else "Messages",
        kinds=[Tally(kind, kind, number) for kind, number in sorted(kinds.items())],
        sets=[(name, name or "this set") for name in sets],
        layouts=sum(len(document.layouts) for document in documents),
        broken=result.broken,
    )


def _entry(name: str, anchor: str, group: Sequence[tuple[Message, PagePart, tuple[VersionRange, ...]]]) -> RpcEntry:
    messages = [message for message, *_ in group]
    valid, flexible = (reduce(or_, (getattr(message, what) for message in messages)) for what in ("valid", "flexible"))

    def look(version: int) -> tuple[str, str]:
        return ("flexible", "flexible") if version in flexible else ("", "")

    cuts = [versions for *_, ranges in group for versions in ranges]
    cuts += [note.versions for message in messages for note in message.notes if "KIP-" in note.text]
    changes = []
    for versions in boundaries(cuts, valid):
        rows = [  # a half may lack a version that the other has
            version_row(versions.lowest, [("", message)], ()) if versions.lowest in message.valid else None
            for message in messages
        ]
        kips = ", ".join(dict.fromkeys(kip for row in rows if row for kip in row.kips))
        changes.append((versions, [row.cells[-1] if row else "not valid" for row in rows], kips))
    kind = "RPC" if messages[0].is_rpc else messages[0].type
    return RpcEntry(name, anchor, kind, strip([flexible], valid, look), [part for _, part, _ in group], changes)


def _versions(document: MessageObject, anchor: str) -> Iterator[tuple[LayoutObject, list[str], list[LayoutRow]]]:
    before: dict[tuple[str, ...], LayoutRow] | None = None
    for layout in document.layouts:
        rows = [*_rows(layout.fields, layout.tags, ())]
        if before is not None:
            rows = [row._replace(change=_change(before.get(row.path), row)) for row in rows]
        before = {row.path: row for row in rows}
        last = min(layout.highest, layout.lowest + MOST_CELLS)
        yield layout, [f"{anchor}@{version}" for version in range(layout.lowest, last + 1)], rows


def _change(before: LayoutRow | None, row: LayoutRow) -> str:
    """What is different in a field: that it is new, or the words of its encoding that it did not have before."""
    if before is None:
        return "new here" if row.encoding != TAGS else ""
    was_tagged, is_tagged = (":" in each.name for each in (before, row))
    words = [word for word in row.encoding.split() if word not in before.encoding.split()]
    now = ["tagged"] * (is_tagged and not was_tagged) + words
    losses = ["tagged"] * (was_tagged and not is_tagged)
    losses += [
        word for word in ("compact", "nullable") if word in before.encoding.split() and word not in row.encoding.split()
    ]
    return ", ".join([f"now {' '.join(now)}"] * bool(now) + [f"no longer {' or '.join(losses)}"] * bool(losses))


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
