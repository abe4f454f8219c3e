"""Edits of one definition, collected property by property; and the texts of header maps, notes and new fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Final

from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.text.edit import Edit
from kiplint.text.source import (
    Document,
    insert_comment,
    insert_property,
    rename_key,
    replace_value,
    start_of,
)
from kiplint.text.tree import Node

MESSAGE: Final = (
    "apiKey", "type", "listeners", "name", "validVersions", "deprecatedVersions", "flexibleVersions",
    "headerVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
FIELD: Final = (
    "name", "type", "versions", "nullableVersions", "flexibleVersions", "taggedVersions", "tag", "default", "mapKey",
    "ignorable", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip


class MessageEdits:
    """The edits of the file of a message. Values are JSON; pointers refer to the file before the edits.

    `actions` and `notes` say what was done beyond a new version, and what a person has to review.
    """

    def __init__(self, message: Message) -> None:
        self.message = message
        self.document = Document(message.data, message.file)
        self._edits: list[Edit] = []
        self._new: dict[str, str] = {}
        self.actions: list[str] = []
        self.notes: list[str] = []

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits so far, in the order of their offsets."""
        edits = [*self._edits, *self._insert_new()]
        return tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))

    def put(self, key: str, value: str) -> None:
        """Set a property of the message, new or not."""
        if self.document.find(f"/{key}") is None:
            self._new[key] = value
        else:
            self.add(set_property(self.document, self.document.root, key, value))

    def put_in(self, pointer: str, key: str, value: str, order: Sequence[str] = ()) -> None:
        """Set a property of the object at a pointer, which must exist; a new one is put last if not in `order`."""
        self.add(set_property(self.document, self.node(pointer), key, value, order))

    def rename(self, pointer: str, key: str) -> None:
        """Rename the property at a pointer, which must exist."""
        self.add([rename_key(self.document, self.node(pointer), key)])

    def add(self, edits: Iterable[Edit]) -> None:
        """Add edits of the same document that were made elsewhere."""
        self._edits += edits

    def node(self, pointer: str) -> Node:
        """The value at a pointer, which must exist."""
        node = self.document.find(pointer)
        assert node is not None, f"{self.message.file} has no {pointer}"
        return node

    def _insert_new(self) -> list[Edit]:
        """New properties that are neighbours are inserted together, with a single comma to the next."""
        document = self.document
        present = {child.key for child in document.root.children}
        edits: list[Edit] = []
        waiting = sorted(self._new, key=MESSAGE.index)
        while waiting:
            key = waiting.pop(0)
            value = self._new[key]
            while waiting and present.isdisjoint(MESSAGE[MESSAGE.index(key) + 1 : MESSAGE.index(waiting[0])]):
                key_beside = waiting.pop(0)
                value += f',\n"{key_beside}"{document.colon(document.root)}{self._new[key_beside]}'
            edits += insert_property(document, document.root, key, value, MESSAGE)
        return edits


def set_property(
    document: Document, container: Node, key: str, value: str, order: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """Edits that give a property of an object a value as JSON; a new property takes its place in `order`."""
    node = document.child(container, key)
    if node is None:
        return insert_property(document, container, key, value, order)
    return (replace_value(document, node, value.replace("\n", "\n" + document.indent(node.key_start))),)


def map_text(entries: HeaderMap, unit: str) -> str:
    """The map as JSON, a range a line, to be indented like its property."""
    lines = [f'{unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"


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
    offset = document.lines.starts[last - 1] + len(document.lines.line(last))
    offset += document.text.startswith("\ufeff") and last == 1
    indent = document.indent(start_of(node))
    text = "".join("\n" + (f"{indent}// {line}".rstrip() if line is not None else "") for line in lines)
    return (document.edit(offset, offset, text),)


def field_text(document: Document, properties: Mapping[str, Any]) -> str:
    """The text of a field as Kafka writes it: its properties in their order, and the description on a line below."""
    parts = {key: f'"{key}": {json.dumps(properties[key])}' for key in sorted(properties, key=FIELD.index)}
    about = parts.pop("about")
    return f"{{ {', '.join(parts.values())},\n{document.indent_unit}{about} }}"
