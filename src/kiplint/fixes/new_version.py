"""What a new version needs in a definition: valid versions, header map, comment, and the text of a new field."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import count, pairwise
from typing import Any, Final

from kiplint.fixes.draft import FIELD, Draft
from kiplint.model.fields import Field
from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc
from kiplint.text.edit import Edit
from kiplint.text.source import Document, insert_comment, start_of
from kiplint.text.tree import Node
from kiplint.versions import VersionRange


def led_on(entries: HeaderMap, version: int, header: int) -> HeaderMap:
    """The map in which all versions from `version` on have `header`; the same when they have it already."""
    if any(version in versions and versions.open and old == header for versions, old in entries):
        return entries
    new = VersionRange.of(version)
    return (*((piece - new, old) for piece, old in entries if piece - new), (new, header))


def declared_map(message: Message) -> HeaderMap | None:
    """The map as declared; None when it is not whole: unreadable, with gaps, overlaps or a closed end."""
    entries = message.header_ranges
    whole = entries and all(entry.header >= 0 and len(entry.versions.parts) == 1 for entry in entries)
    if not whole or entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(after.versions.lowest != before.versions.highest + 1 for before, after in pairwise(entries)):
        return None
    return tuple((entry.versions, entry.header) for entry in entries)


def map_text(entries: HeaderMap, unit: str) -> str:
    """The map as JSON, a range a line, to be indented like its property."""
    lines = [f'{unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"


def declare(draft: Draft, entries: HeaderMap) -> None:
    """Write the map into the message of a draft. An existing map is updated entry by entry, and keeps its comments."""
    before = draft.message.header_ranges
    if not draft.message.declares_headers or not before:
        draft.put("headerVersions", map_text(entries, draft.document.indent_unit))
        return
    there = {entry.versions.lowest: entry for entry in before}
    for versions, header in entries:
        entry = there.get(versions.lowest)
        if entry is None:
            draft.put(str(versions), f'"{header}"', "/headerVersions")
            continue
        if entry.versions != versions:
            draft.rename(entry.pointer, str(versions))
        if entry.header != header:
            draft.replace(entry.pointer, f'"{header}"')


_NOTE: Final = re.compile(r"//\s*(?:starting (?:in|from|with) )?versions?\s+[0-9]", re.IGNORECASE)


def note_edit(document: Document, note: str) -> tuple[Edit, ...]:
    """The note after the last one of its kind above validVersions, else right above it; none without validVersions.

    Notes are separated by a line `//`, an empty line or nothing, as above the last note.
    """
    node = document.find("/validVersions")
    if node is None:
        return ()
    first, end = document.lines.line_of(document.root.start), document.lines.line_of(start_of(node))

    def line(number: int) -> str:
        return document.lines.line(number).strip() if 1 <= number <= len(document.lines) else ""

    notes = [number for number in range(first, end) if _NOTE.match(line(number))]
    if not notes or not document.begins_line(start_of(node)):
        block = end - 1 > first and line(end - 1).startswith("//")
        return (insert_comment(document, node, ["", note] if block else [note]),)
    last = next(number for number in count(notes[-1]) if not line(number + 1).startswith("//"))
    above = line(notes[-1] - 1)
    lines: list[str | None] = [note]  # None is an empty line, "" a comment without text
    if line(last) == "//":
        lines = [note, ""]
    elif not above.startswith("//") or above == "//":
        lines = [None if not above and line(notes[-1] - 2).startswith("//") else "", note]
    place = document.lines.starts[last - 1] + len(document.lines.line(last))
    place += document.text.startswith("\ufeff") and last == 1
    indent = document.indent(start_of(node))
    text = "".join("\n" + (f"{indent}// {line}".rstrip() if line is not None else "") for line in lines)
    return (document.edit(place, place, text),)


def field_like(document: Document, array: Node, properties: Mapping[str, Any]) -> str:
    """The text of a field, spread over lines as the last field of the array is."""
    unit = document.indent_unit
    last = array.children[-1] if array.children else None
    if last is None or not last.children:
        return _field_text(properties, f"\n{unit}")
    if document.same_line(start_of(last), last.end):
        return _field_text(properties, " ")
    text = _field_text(properties, f"\n{unit}")
    if document.same_line(last.start, start_of(last.children[0])):
        return text
    return f"{{\n{unit}{text.removeprefix('{ ').removesuffix(' }')}\n}}"


def _field_text(properties: Mapping[str, Any], gap: str) -> str:
    """The text of a field in the order of Kafka's; `gap` is what stands before the description."""
    parts = {key: f'"{key}": {json.dumps(properties[key])}' for key in sorted(properties, key=FIELD.index)}
    about = parts.pop("about")
    return f"{{ {', '.join(parts.values())},{gap}{about} }}"


_RANGES: Final = (
    ("versions", "versions", "versions"),
    ("nullableVersions", "nullable", "nullable_versions"),
    ("taggedVersions", "tagged", "tagged_versions"),
)
"""Of fields: properties with ranges of versions, the fact and the attribute of each."""


def obstacle(rpc: Rpc) -> str:
    """Why a request and its response cannot both get a new version, or empty."""
    if rpc.is_dead:
        return "it has no valid version"
    if rpc.request is None or rpc.response is None:
        return f"there is no {'request' if rpc.request is None else 'response'}"
    for half in (rpc.request, rpc.response):
        if not half.valid or half.valid.open or len(half.valid.parts) > 1:
            return f"the valid versions of {half.name} are {half.valid}"
    return ""


def add_version(
    draft: Draft, version: int, note: str, *, unstable: bool = False, ending: Collection[str] = ()
) -> list[str]:
    """Make `version` the highest valid one, `unstable` or not; returns what a person has to review.

    Ranges that end with the previous highest version are extended, since the new version has the same body, except for
    the fields that are `ending`.
    """
    message = draft.message
    draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    draft.add(note_edit(draft.document, note))
    looks: list[str] = []
    for field, key, versions in _ending(message):
        if field.name in ending:
            continue
        draft.put(key, f'"{VersionRange.of(versions.lowest)}"', field.pointer, FIELD)
        looks.append(f"{key} of {field.name} ended with version {versions.highest}; it now includes the new version")
    if message.type == "request" and unstable is not message.unstable:
        draft.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        looks.append(
            f"version {message.valid.highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )
    return looks


def _ending(message: Message) -> Iterator[tuple[Field, str, VersionRange]]:
    """The ranges of fields that end with the highest valid version."""
    for field in message.all_fields:
        for key, fact, attribute in _RANGES:
            versions: VersionRange = getattr(field, fact)
            ends = versions.highest == message.valid.highest and len(versions.parts) == 1
            if ends and isinstance(getattr(field.spec, attribute), str):
                yield field, key, versions
