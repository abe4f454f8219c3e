"""What a new version needs in a definition: valid versions, header map, comment, and new fields."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec

from kiplint.fixes.draft import FIELD, Draft
from kiplint.model.fields import Container, Field
from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc
from kiplint.model.types import PRIMITIVES, respelt
from kiplint.text.edit import Document, Edit, insert_comment, start_of
from kiplint.text.tree import Node
from kiplint.text.words import did_you_mean, nearest
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


def map_text(entries: HeaderMap, unit: str = "  ") -> str:
    """The map as JSON, a range a line, to be indented like its property."""
    lines = [f'{unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"


def declare(draft: Draft, entries: HeaderMap) -> None:
    """Give the message of a draft the map; a map that it has is led on entry by entry, and keeps its comments."""
    before = draft.message.header_ranges
    if not draft.message.declares_headers or not before:
        draft.put("headerVersions", map_text(entries, draft.document.indent_unit))
        return
    wanted = dict(_starts(entries))
    there = {entry.versions.lowest: entry for entry in before}
    for lowest, (versions, header) in wanted.items():
        entry = there.get(lowest)
        if entry is None:
            draft.insert("/headerVersions", str(versions), f'"{header}"')
            continue
        if entry.versions != versions:
            draft.rename(entry.pointer, str(versions))
        if entry.header != header:
            draft.replace(entry.pointer, f'"{header}"')


def _starts(entries: HeaderMap) -> Sequence[tuple[int, tuple[VersionRange, int]]]:
    return [(versions.lowest, (versions, header)) for versions, header in entries]


_NOTE: Final = re.compile(r"//\s*(?:starting (?:in|from|with) )?versions?\s+[0-9]", re.IGNORECASE)


def note_edit(document: Document, note: str) -> Edit | None:
    """The note after the last one of its kind above validVersions, else right above it; None without validVersions.

    A line `//`, an empty line or nothing stands between notes, whatever stands above the last one.
    """
    node = document.find("/validVersions")
    if node is None:
        return None
    above = _Above(document, document.lines.line_of(start_of(node)))
    last = above.last_note
    if last is None or not document.begins_line(start_of(node)):
        block = above.comment_before(start_of(node))
        return insert_comment(document, node, ["", note] if block else [note])
    end = above.block_end(last)
    lines = [*above.separator(last), note]
    indent = document.indent(start_of(node))
    if above.is_bare(end):
        lines = [note, ""]
    place = document.lines.starts[end - 1] + len(document.lines.line(end))
    place += document.text.startswith("\ufeff") and end == 1
    text = "".join("\n" + (f"{indent}// {line}".rstrip() if line is not None else "") for line in lines)
    return document.edit(place, place, text)


class _Above:
    """The lines of a definition above the 1-based line `end`."""

    def __init__(self, document: Document, end: int) -> None:
        self._document = document
        self._first = document.lines.line_of(document.root.start)
        self._end = end

    @property
    def last_note(self) -> int | None:
        """The line on which the last note on a version begins."""
        notes = [n for n in range(self._first, self._end) if _NOTE.match(self._line(n))]
        return notes[-1] if notes else None

    def block_end(self, line: int) -> int:
        """The last line of the comment that a line is part of."""
        while self._line(line + 1).startswith("//"):
            line += 1
        return line

    def is_bare(self, line: int) -> bool:
        """Whether a line is a comment that says nothing."""
        return self._line(line) == "//"

    def comment_before(self, offset: int) -> bool:
        """Whether the line above that of an offset, inside the definition, is a comment."""
        line = self._document.lines.line_of(offset)
        return line - 1 > self._first and self._line(line - 1).startswith("//")

    def separator(self, note: int) -> list[str | None]:
        """What stands between two notes: a bare comment (""), an empty line (None), or nothing."""
        above = self._line(note - 1)
        if above.startswith("//") and above != "//":
            return []
        if not above and self._line(note - 2).startswith("//"):
            return [None]
        return [""]

    def _line(self, number: int) -> str:
        return self._document.lines.line(number).strip() if 1 <= number <= len(self._document.lines) else ""


_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*")


class BadField(ValueError):  # noqa: N818
    """A new field that cannot be; the message says why."""


class FieldToAdd(msgspec.Struct, frozen=True):
    """A field to add. `path` leads to it from the top, by the names of fields: `Topics`, `Partitions`.

    `message` is the name of the request or response, empty for the request.
    """

    name: str
    type: str
    about: str
    path: tuple[str, ...] = ()
    message: str = ""

    @classmethod
    def parse(cls, text: str) -> FieldToAdd:
        """Read `Name:type:about`; in front of the name the fields that lead to it, and a message, with dots.

        Raises BadField when it is not of that form.
        """
        parts = [part.strip() for part in text.split(":", 2)]
        if len(parts) < 3 or not all(parts):
            raise BadField(f"{text!r} is not Name:type:about, such as 'ErrorMessage:string:Why it failed, or empty.'")
        names = parts[0].split(".")
        if wrong := next((name for name in names if not _NAME.fullmatch(name)), None):
            hint = did_you_mean(wrong, [wrong[:1].upper() + wrong[1:]]) if wrong.isalnum() else ""
            raise BadField(f"{wrong!r} cannot be the name of a field: letters and digits, the first a capital{hint}")
        first = names[0] if len(names) > 1 and names[0].endswith(("Request", "Response")) else ""
        return cls(names[-1], parts[1], parts[2], tuple(names[bool(first) : -1]), first)


def add_field(draft: Draft, new: FieldToAdd, version: int, entities: Mapping[str, str]) -> None:
    """Put the field last into its struct, in `version` and all later ones; writers may leave it out before.

    `entities` are entity types by names of fields. Raises BadField when the message has no place for it.
    """
    owner, pointer = _place(draft.message, new)
    if any(field.name.lower() == new.name.lower() for field in owner.fields):
        raise BadField(f"{owner.name} has a field {new.name} already")
    known = PRIMITIVES | {struct.name for struct in draft.message.common_structs}
    element = new.type.removeprefix("[]")
    if element in draft.message.structs_by_name and element not in known:
        raise BadField(f"{element} belongs to one field of {draft.message.name}; move it to commonStructs to share it")
    if element not in known:
        meant = respelt(new.type) or ("[]" if element != new.type else "") + nearest(element.strip("[]"), known)
        hint = (
            f"; did you mean {meant}?" if meant.strip("[]") else "; it is a primitive, or a common struct of the file"
        )
        raise BadField(f"{new.type} is not a type of {draft.message.name}{hint}")
    properties: dict[str, Any] = {
        "name": new.name,
        "type": new.type,
        "versions": f"{version}+",
        "ignorable": True,
        "about": new.about,
    }
    if new.name in entities and element == new.type and element in PRIMITIVES:
        properties["entityType"] = entities[new.name]
    array = draft.document.find(f"{pointer}/fields")
    if array is None:
        draft.put("fields", "[\n" + draft.document.indent_unit + field_text(properties) + "\n]")
    else:
        draft.append(f"{pointer}/fields", field_like(draft.document, array, properties))


def field_like(document: Document, array: Node, properties: Mapping[str, Any]) -> str:
    """The text of a field, on one line, on two, or on one line a bracket, as the last of the array is written."""
    last = array.children[-1] if array.children else None
    if last is None or not last.children:
        return field_text(properties)
    if document.same_line(start_of(last), last.end):
        return field_text(properties, about="")
    if document.same_line(last.start, start_of(last.children[0])):
        return field_text(properties)
    unit = document.indent_unit
    inner = field_text(properties, about=f"\n{unit}").removeprefix("{ ").removesuffix(" }")
    return f"{{\n{unit}{inner}\n}}"


def field_text(properties: Mapping[str, Any], about: str = "\n  ") -> str:
    """The text of a field in the order of Kafka's; `about` is what stands before the description."""
    ordered = sorted(properties, key=FIELD.index)
    written = [f'"{key}": {json.dumps(properties[key], ensure_ascii=False)}' for key in ordered]
    first = ", ".join(part for part in written if not part.startswith('"about"'))
    return "{ " + first + "".join(f",{about or ' '}{part}" for part in written if part.startswith('"about"')) + " }"


def _place(message: Message, new: FieldToAdd) -> tuple[Container, str]:
    """The message or struct that the field goes into, and the pointer of its definition."""
    owner: Container = message
    pointer = ""
    for name in new.path:
        field = owner.by_name.get(name)
        if field is None:
            hint = did_you_mean(name, owner.by_name)
            raise BadField(f"{owner.name} has no field {name}{hint}")
        if field.struct is None:
            raise BadField(f"{name} of {owner.name} is {field.type}, and has no fields")
        owner = field.struct
        pointer = owner.pointer
    return owner, pointer


_RANGES: Final = (("versions", "versions"), ("nullableVersions", "nullable"), ("taggedVersions", "tagged"))


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
    """Make `version` the highest valid one, for a request unstable if wanted; gives what a person has to look at.

    What ends with the version that was the highest goes on, since the new version has the same body, except for the
    fields that are `ending`.
    """
    message = draft.message
    draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    edit = note_edit(draft.document, note)
    draft.add([edit] if edit else [])
    looks: list[str] = []
    for field, key, versions in _ending(message):
        if field.name in ending:
            continue
        draft.replace(f"{field.pointer}/{key}", f'"{VersionRange.of(versions.lowest)}"')
        looks.append(f"{key} of {field.name} ended with version {versions.highest}; it goes on now")
    if message.type == "request" and unstable is not message.unstable:
        draft.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        looks.append(
            f"version {message.valid.highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )
    return looks


def make_flexible(draft: Draft, version: int) -> bool:
    """Make the new version the first flexible one, unless it is flexible; gives whether it was not."""
    message = draft.message
    if version in message.flexible:
        return False
    draft.put("flexibleVersions", f'"{VersionRange.of(version)}"')
    return True


def _ending(message: Message) -> Iterator[tuple[Field, str, VersionRange]]:
    """The ranges of fields that end with the highest valid version."""
    for field in message.all_fields:
        for key, fact in _RANGES:
            versions: VersionRange = getattr(field, fact)
            written = getattr(
                field.spec, {"nullable": "nullable_versions", "tagged": "tagged_versions"}.get(fact, fact)
            )
            if isinstance(written, str) and versions.highest == message.valid.highest and len(versions.parts) == 1:
                yield field, key, versions
