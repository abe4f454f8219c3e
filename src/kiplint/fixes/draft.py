"""The edits of one definition, collected property by property."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kiplint.model.message import Message
from kiplint.text.edit import Edit, apply_edits
from kiplint.text.source import Document, insert_item, insert_property, rename_key, replace_value
from kiplint.text.tree import Node

MESSAGE: Final = (
    "apiKey", "type", "listeners", "name", "validVersions", "deprecatedVersions", "flexibleVersions",
    "headerVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
FIELD: Final = (
    "name", "type", "versions", "nullableVersions", "flexibleVersions", "taggedVersions", "tag", "default", "mapKey",
    "ignorable", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip
STRUCT: Final = ("name", "versions", "fields")


class Draft:
    """The edits of one file. Values are JSON; pointers refer to the file before the edits."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.document = Document(message.data, message.file)
        self._edits: list[Edit] = []
        self._new: dict[str, str] = {}

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits so far, in the order of their places."""
        edits = [*self._edits, *self._insert_new()]
        return tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))

    def result(self) -> bytes:
        """The file's bytes with all edits made."""
        return apply_edits(self.document.data, self.edits)

    def put(self, key: str, value: str, pointer: str = "", order: Sequence[str] = ()) -> None:
        """Set a property, new or not, of the message or of the object at a pointer, which must exist.

        A new property of such an object is put last if its key is not in `order`.
        """
        node = self.document.find(f"{pointer}/{key}")
        if node is not None:
            self._edits.append(replace_value(self.document, node, value))
        elif pointer:
            self._edits += insert_property(self.document, self.node(pointer), key, value, order)
        else:
            self._new[key] = value

    def replace(self, pointer: str, value: str) -> None:
        """Replace the value at a pointer, which must exist."""
        self._edits.append(replace_value(self.document, self.node(pointer), value))

    def rename(self, pointer: str, key: str) -> None:
        """Rename the property at a pointer, which must exist."""
        self._edits.append(rename_key(self.document, self.node(pointer), key))

    def append(self, pointer: str, element: str) -> None:
        """Append an element to the array at a pointer, which must exist."""
        array = self.node(pointer)
        self._edits += insert_item(self.document, array, element, array.children[-1] if array.children else None)

    def add(self, edits: Sequence[Edit]) -> None:
        """Add edits of the same document that were made elsewhere."""
        self._edits += edits

    def node(self, pointer: str) -> Node:
        """The value at a pointer; raises LookupError when there is none."""
        node = self.document.find(pointer)
        if node is None:
            raise LookupError(f"{self.message.file} has no {pointer}")
        return node

    def _insert_new(self) -> list[Edit]:
        """New properties that are neighbours are inserted together, with a single comma to the next."""
        root = self.document.root
        colon = self.document.colon(root)
        present = {child.key for child in root.children}
        edits: list[Edit] = []
        waiting = sorted(self._new, key=MESSAGE.index)
        while waiting:
            key = waiting.pop(0)
            value = self._new[key]
            while waiting and present.isdisjoint(MESSAGE[MESSAGE.index(key) + 1 : MESSAGE.index(waiting[0])]):
                key_beside = waiting.pop(0)
                value += f',\n"{key_beside}"{colon}{self._new[key_beside]}'
            edits += insert_property(self.document, root, key, value, MESSAGE)
        return edits
