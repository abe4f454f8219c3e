"""Edits of one definition, collected property by property; and the texts of header maps and comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.text.edit import Document, Edit, insert_comment, insert_property, rename_key, replace_value, start_of
from kiplint.text.tree import Node

MESSAGE_KEYS: Final = (
    "apiKey", "type", "listeners", "name", "validVersions", "deprecatedVersions", "flexibleVersions",
    "headerVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
"""The properties of a message in the order in which Kafka writes them."""
FIELD_KEYS: Final = (
    "name", "type", "versions", "nullableVersions", "flexibleVersions", "taggedVersions", "tag", "default", "mapKey",
    "ignorable", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip
"""The properties of a field in the order in which Kafka writes them."""


class MessageEdits:
    """Collects the edits of the file of a message. Pointers are JSON pointers into the file before the edits.

    `actions` say what a migration does besides adding a version, and `notes` what a person has to review.
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
        """Add a property, or replace its value, in the message or in the object at `pointer`. The value is JSON."""
        self.add(set_property(self.document, self.node(pointer), key, value, FIELD_KEYS if pointer else MESSAGE_KEYS))

    def put_comment(self, comment: str) -> None:
        """Add a comment, such as `Version 3 adds Epoch.`, above validVersions.

        If a comment is already there, an empty comment line goes between the two, as in Kafka's files.
        """
        document, valid_versions = self.document, self.node("/validVersions")
        start = start_of(valid_versions)
        line_above = document.lines.line_of(start) - 1
        text_above = document.lines.line(line_above).strip() if line_above else ""
        follows_comment = text_above.startswith("//") and text_above != "//" and document.begins_line(start)
        self.add([insert_comment(document, valid_versions, ["", comment] if follows_comment else [comment])])

    def rename(self, pointer: str, key: str) -> None:
        """Rename the property at `pointer`."""
        self.add([rename_key(self.document, self.node(pointer), key)])

    def add(self, edits: Iterable[Edit]) -> None:
        """Add edits of the same document that were made elsewhere."""
        self._edits += edits

    def node(self, pointer: str) -> Node:
        """The value at `pointer`, which must exist."""
        node = self.document.find(pointer)
        assert node is not None, f"{self.message.file} has no {pointer}"
        return node


def set_property(document: Document, container: Node, key: str, value: str, order: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that add a property to an object, or replace its value. The value is JSON.

    `order` is `MESSAGE_KEYS` or `FIELD_KEYS`; a new property is put after those that come before it in that order.
    """
    node = document.child(container, key)
    if node is None:
        return insert_property(document, container, key, value, order)
    indent = document.indent(node.key_start)
    return (replace_value(document, node, value.replace("\n", f"\n{indent}")),)


def map_text(entries: HeaderMap, indent_unit: str) -> str:
    """The value of headerVersions as JSON, a line for each range; the indent of the property itself is added later."""
    lines = [f'{indent_unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"
