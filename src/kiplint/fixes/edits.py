"""Edits of one definition, collected property by property; and the texts of header maps, notes and new fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.text.edit import (
    Document,
    Edit,
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
        self.actions: list[str] = []
        self.notes: list[str] = []

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits so far, in the order of their offsets."""
        return tuple(sorted(self._edits, key=lambda edit: (edit.start, edit.end)))

    def put(self, key: str, value: str, pointer: str = "") -> None:
        """Set a property of the message, or of the object at a pointer, which must exist; new or not."""
        self.add(set_property(self.document, self.node(pointer), key, value, FIELD if pointer else MESSAGE))

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


def note_edit(document: Document, note: str) -> tuple[Edit, ...]:
    """The note right above validVersions, after a line `//` if a comment is there; none without validVersions."""
    node = document.find("/validVersions")
    if node is None:
        return ()
    number = document.lines.line_of(start_of(node)) - 1
    above = document.lines.line(number).strip() if number else ""
    is_continued = above.startswith("//") and above != "//" and document.begins_line(start_of(node))
    return (insert_comment(document, node, ["", note] if is_continued else [note]),)


def field_text(document: Document, properties: Mapping[str, Any]) -> str:
    """The text of a field as Kafka writes it: its properties in their order, and the description on a line below."""
    parts = {key: f'"{key}": {json.dumps(properties[key])}' for key in sorted(properties, key=FIELD.index)}
    about = parts.pop("about")
    return f"{{ {', '.join(parts.values())},\n{document.indent_unit}{about} }}"
