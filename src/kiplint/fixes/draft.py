"""One definition on its way to its next state: the edits, gathered one property at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kiplint.model.message import Message
from kiplint.text.edit import Document, Edit, apply_edits, insert_item, insert_property, rename_key, replace_value
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
    """The edits of one file. Values are JSON; pointers are those of the file as it is."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.document = Document(message.data)
        self._edits: list[Edit] = []
        self._new: dict[str, str] = {}
        self._appended: dict[str, list[str]] = {}

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits so far, in the order of their places."""
        edits = [*self._edits, *self._inserted(), *self._extended()]
        return tuple(sorted(edits, key=lambda one: (one.start, one.end)))

    def result(self) -> bytes:
        """The file's bytes with all edits made."""
        return apply_edits(self.document.data, self.edits)

    def put(self, key: str, value: str) -> None:
        """Give the message a property, new or another value for one that it has."""
        node = self.document.find(f"/{key}")
        if node is None:
            self._new[key] = value
        else:
            self._edits.append(replace_value(self.document, node, value))

    def replace(self, pointer: str, value: str) -> None:
        """Another value for what a pointer points to, which has to be there."""
        self._edits.append(replace_value(self.document, self.node(pointer), value))

    def rename(self, pointer: str, key: str) -> None:
        """Another name for a property that has to be there."""
        self._edits.append(rename_key(self.document, self.node(pointer), key))

    def insert(self, pointer: str, key: str, value: str, order: Sequence[str] = ()) -> None:
        """A new property of an object that has to be there; last when it is in no order."""
        self._edits += insert_property(self.document, self.node(pointer), key, value, order)

    def append(self, pointer: str, element: str) -> None:
        """A new last element of an array that has to be there."""
        self._appended.setdefault(pointer, []).append(element)

    def add(self, edits: Sequence[Edit]) -> None:
        """Edits that were made elsewhere for the same document."""
        self._edits += edits

    def node(self, pointer: str) -> Node:
        """The value that a pointer points to; raises LookupError when there is none."""
        node = self.document.find(pointer)
        if node is None:
            raise LookupError(f"{self.message.file} has no {pointer}")
        return node

    def _extended(self) -> list[Edit]:
        edits: list[Edit] = []
        for pointer, elements in self._appended.items():
            array = self.node(pointer)
            last = array.children[-1] if array.children else None
            edits += insert_item(self.document, array, ",\n".join(elements), last)
        return edits

    def _inserted(self) -> list[Edit]:
        """New properties that come to stand side by side are one insertion, so that they need one comma."""
        root = self.document.root
        colon = self.document.colon(root)
        present = [one.key for one in root.children]
        edits: list[Edit] = []
        waiting = sorted(self._new, key=MESSAGE.index)
        while waiting:
            key = waiting.pop(0)
            value = self._new[key]
            while waiting and not _any_between(present, key, waiting[0]):
                key_beside = waiting.pop(0)
                value += f',\n"{key_beside}"{colon}{self._new[key_beside]}'
            edits += insert_property(self.document, root, key, value, MESSAGE)
        return edits


def _any_between(present: Sequence[str | None], one: str, other: str) -> bool:
    return any(
        key in MESSAGE and MESSAGE.index(one) < MESSAGE.index(key) < MESSAGE.index(other) for key in present if key
    )
