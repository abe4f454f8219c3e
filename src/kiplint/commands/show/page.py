"""Messages and their layouts as a page of HTML: an index, and for each message every version, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO

import msgspec

from kiplint.commands.show.result import document
from kiplint.commands.show.run import LayoutResult, LayoutsResult
from kiplint.model.fields import Field
from kiplint.model.message import Message
from kiplint.render.page import Strip, Tally, anchors, strip, write_page

PARTNERS = {"Request": "Response", "Response": "Request"}


class Row(NamedTuple):
    """A field of a layout: how deep it lies, and what the JSON says of it; `new` to this range of versions."""

    depth: int
    name: str
    encoding: str
    bytes: str
    default: str
    notes: str
    new: bool


class Version(NamedTuple):
    """A range of versions with one layout: as the JSON has it, the name by which it can be linked, and its rows."""

    layout: Mapping[str, Any]
    anchor: str
    rows: list[Row]


class Described(NamedTuple):
    """A field as its definition describes it."""

    path: str
    type: str
    versions: str
    tagged: str
    nullable: str
    about: str


class Entry(NamedTuple):
    """A message as the JSON has it, the name by which it can be linked, and all that is to be shown of it."""

    message: Mapping[str, Any]
    anchor: str
    partner: str
    bar: Strip
    versions: list[Version]
    fields: list[Described]


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write the page of one message, or of all."""
    found = document(result)
    messages = found.get("messages", [found])
    shown = result.messages if isinstance(result, LayoutsResult) else (result,)
    names = anchors([one["message_name"] for one in messages])
    known = dict(zip((one["message_name"] for one in messages), names, strict=True))
    entries = [_entry(*one, known) for one in zip(messages, names, (one.message for one in shown), strict=True)]
    kinds = sorted({one["message_type"] for one in messages})
    sets = sorted({one["set"] for one in messages})
    write_page(
        "commands/show/page.html",
        out,
        scripts=("commands/show/page.js",),
        entries=sorted(entries, key=lambda one: (one.message["set"], one.message["message_name"])),
        whole=isinstance(result, LayoutsResult),
        title=messages[0]["message_name"] if len(messages) == 1 else "Messages",
        kinds=[Tally(kind, kind, sum(one["message_type"] == kind for one in messages)) for kind in kinds],
        sets=[(one, one or "this set") for one in sets],
        layouts=sum(len(one["layouts"]) for one in messages),
        broken=result.broken,
    )


def _entry(message: Mapping[str, Any], anchor: str, source: Message, known: Mapping[str, str]) -> Entry:
    name, flexible = message["message_name"], source.flexible

    def tell(version: int) -> tuple[str, str]:
        return ("flexible", "flexible") if version in flexible else ("", "")

    end = next((end for end in PARTNERS if name.endswith(end)), "")
    partner = known.get(name.removesuffix(end) + PARTNERS[end], "") if end else ""
    versions: list[Version] = []
    for layout in message["layouts"]:
        before = {row[:4] for row in versions[-1].rows} if versions else None
        rows = [row._replace(new=before is not None and row[:4] not in before) for row in _rows(layout, 0)]
        versions.append(Version(layout, f"{anchor}@{layout['lowest']}", rows))
    fields = list(map(_described, source.all_fields))
    return Entry(message, anchor, partner, strip([flexible], source.valid, tell), versions, fields)


def _rows(body: Mapping[str, Any], depth: int) -> Iterator[Row]:
    for one in body["fields"]:
        yield from _field(one, depth, one["name"])
    if "tags" in body:
        yield Row(depth, "tagged fields", "tag section", "varint+", "", "", False)
        for tag, one in body["tags"].items():
            yield from _field(one, depth + 1, f"{tag}: {one['name']}")


def _field(one: Mapping[str, Any], depth: int, name: str) -> Iterator[Row]:
    told = (("ignorable", "ignorable"), ("map_key", "map key"), ("entity_type", str(one["entity_type"])))
    notes = ", ".join(word for what, word in told if one[what])
    default = "" if "fields" in one and one["default"] in ([], {}) else msgspec.json.encode(one["default"]).decode()
    yield Row(depth, name, one["encoding"], one["bytes"], default, notes, False)
    if "fields" in one:
        yield from _rows(one, depth + 1)


def _described(one: Field) -> Described:
    tag = f"{one.tag} in {one.tagged}" if one.tagged and one.tag is not None else ""
    nullable = str(one.nullable) if one.nullable else ""
    return Described(one.path, one.type, str(one.versions), tag, nullable, one.about)
