"""Edits of a definition's bytes: what is not edited stays as it is, and what is new follows the layout of the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, islice, takewhile
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from kiplint.text.decode import comments
from kiplint.text.lines import BOM, byte_offsets
from kiplint.text.tree import Locator, Node


class Edit(msgspec.Struct, frozen=True, order=True):
    """The bytes of a file from `start` up to `end` give way to `text`, as UTF-8."""

    path: str
    start: Annotated[int, Meta(ge=0, description="In bytes of the file as it is.")]
    end: Annotated[int, Meta(ge=0, description="Exclusive; the same as `start` for an insertion.")]
    text: str


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with all edits made. Insertions at one place come in the order in which they are given; a replacement
    that is there twice is made once.

    Raises ValueError when an edit begins inside another, or reaches beyond the bytes.
    """
    parts: list[bytes] = []
    position = 0
    last: Edit | None = None
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit == last and edit.end > edit.start:
            continue
        if not position <= edit.start <= edit.end <= len(data):
            raise ValueError(f"an edit of bytes {edit.start} to {edit.end}, where {position} to {len(data)} are left")
        parts += (data[position : edit.start], edit.text.encode())
        position, last = edit.end, edit
    parts.append(data[position:])
    return b"".join(parts)


def collide(edit: Edit, other: Edit) -> bool:
    """Whether two edits that know nothing of each other can not both be made: they share bytes, or a place to insert.

    Two equal replacements count as one edit; two equal insertions collide, because both texts may be intended.
    """
    first, second = sorted((edit, other))
    if second.start < first.end:
        return first != second
    return first.start == second.start


class Edits:
    """Edits of one file that can all be made, in their order."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def collides(self, edit: Edit) -> bool:
        """Whether an edit collides with any of them."""
        at = bisect_left(self._edits, Edit(edit.path, edit.start, -1, ""))
        following = takewhile(lambda other: other.start < max(edit.end, edit.start + 1), islice(self._edits, at, None))
        return any(collide(edit, other) for other in chain(self._edits[max(at - 1, 0) : at], following))

    def add(self, edit: Edit) -> None:
        """Add an edit, once."""
        at = bisect_left(self._edits, edit)
        if self._edits[at : at + 1] != [edit]:
            self._edits.insert(at, edit)


_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_TAIL: Final = re.compile(r"(?:(?:[ \t]*+/\*[^\r\n]*?\*/)*+(?:[ \t]*+//[^\r\n]*+)?+(?=[ \t]*+(?:[\r\n]|\Z)))?")
_INDENT: Final = re.compile(r"[ \t]*+")
_COLON: Final = re.compile(r"[ \t]*+:[ \t]*+")


class NotEditable(ValueError):  # noqa: N818
    """A file cannot be edited there; the message states why."""


class Document(Locator):
    """The text of one file. Offsets count characters; `edit` turns them into offsets in bytes."""

    def __init__(self, data: bytes, path: str = "") -> None:
        self.data, self.path = data, path
        try:
            super().__init__(data.decode())
        except UnicodeDecodeError as error:
            raise NotEditable(f"byte {error.start} is not UTF-8") from error

    @cached_property
    def newline(self) -> str:
        """The line end of the file."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def indent_unit(self) -> str:
        """How much deeper the properties of the whole stand; two spaces when they do not have lines of their own."""
        children = self.root.children
        return (self.indent(start_of(children[0])) if children else "") or "  "

    def find(self, pointer: str) -> Node | None:
        """The value that an RFC 6901 pointer points to, of duplicate keys the last; None when there is none."""
        way = self.way(pointer)
        return way[-1] if len(way) > pointer.count("/") else None

    def edit(self, start: int, end: int, text: str) -> Edit:
        r"""An edit of the characters from `start` up to `end`; `\n` in `text` becomes the file's line end."""
        offsets = byte_offsets(self.data)
        return Edit(self.path, offsets[start], offsets[end], text.replace("\n", self.newline))

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        start = self.lines.starts[self.lines.line_of(offset) - 1]
        return start + self.text.startswith(BOM) if start == 0 else start

    def next_line(self, offset: int) -> int:
        """The start of the next line after an offset, or the end of the text."""
        number = self.lines.line_of(offset)
        return self.lines.starts[number] if number < len(self.lines) else len(self.text)

    def indent(self, offset: int) -> str:
        """The white space at the beginning of the line of an offset."""
        match = _INDENT.match(self.text, self.line_start(offset), offset)
        return match.group() if match else ""

    def begins_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before an offset on its line."""
        return not self.text[self.line_start(offset) : offset].strip(" \t")

    def comma_after(self, node: Node) -> int:
        """Where the comma after a property or element is, -1 when there is none."""
        at = _end(_BLANK, self.text, node.end)
        return at if self.text[at : at + 1] == "," else -1

    def tail(self, offset: int) -> int:
        """Where the comments end that finish the line after an offset; the offset itself when code comes there."""
        return _end(_TAIL, self.text, offset)

    def colon(self, container: Node) -> str:
        """What stands between key and value in an object, as its first property has it."""
        first = container.children[0] if container.children else None
        match = _COLON.fullmatch(self.text, first.key_end, first.start) if first else None
        return match.group() if match else ": "


def _end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset


def start_of(node: Node) -> int:
    """Where a property begins, with its key, or an element."""
    return node.start if node.key is None else node.key_start


def delete_item(document: Document, container: Node, item: Node) -> tuple[Edit, ...]:
    """Remove a property or element, with the comma before it, or of the first the one behind it.

    Raises NotEditable where a comment would go with them.
    """
    number = container.children.index(item)
    if number:
        start, end = container.children[number - 1].end, item.end
    else:
        start, end = start_of(item), start_of(container.children[1]) if len(container.children) > 1 else item.end
    if any(comments(document.text[start:end])):
        raise NotEditable("a comment stands there")
    return (document.edit(start, end, ""),)


def replace_value(document: Document, node: Node, value: str) -> Edit:
    """`value`, as JSON, in place of a value."""
    return document.edit(node.start, node.end, value)


def rename_key(document: Document, node: Node, key: str) -> Edit:
    """Another name for a property."""
    return document.edit(node.key_start, node.key_end, f'"{key}"')


def insert_property(
    document: Document, container: Node, key: str, value: str, order: Sequence[str] = ()
) -> tuple[Edit, ...]:
    r"""A new property of an object: after those that come before it in `order`, on a line of its own if they are.

    `value` is JSON; after a `\n` in it the indentation of the property is put. Keys are always in double quotes,
    the only ones that Kafka reads. A key that is not in `order` comes last.
    """
    earlier = order[: order.index(key)] if key in order else None
    before = [child for child in container.children if earlier is None or child.key in earlier]
    item = f'"{key}"{document.colon(container)}{value}'
    return insert_item(document, container, item, before[-1] if before else None)


def insert_item(document: Document, container: Node, item: str, after: Node | None) -> tuple[Edit, ...]:
    r"""A new property or element, as text, after one that is there, or as the first when `after` is None.

    Comments that finish the line of `after` stay with it. After a `\n` in the item its indentation is put.
    """
    if not container.children:
        return (_into_empty(document, container, item),)
    neighbour = after or container.children[0]
    indent = document.indent(start_of(neighbour))
    item = item.replace("\n", "\n" + indent)
    is_on_line = document.begins_line(start_of(neighbour))
    if after is None:
        place = start_of(neighbour)
        return (document.edit(place, place, item + (f",\n{indent}" if is_on_line else ", ")),)
    following = container.children[container.children.index(after) + 1 :][:1]
    next_start = start_of(following[0]) if following else container.end - 1
    if not is_on_line or document.lines.line_of(after.end) == document.lines.line_of(next_start):
        return (document.edit(after.end, after.end, f", {item}"),)
    line = f"\n{indent}{item}"
    comma = document.comma_after(after)
    if comma >= 0:
        place = document.tail(comma + 1)
        return (document.edit(place, place, f"{line},"),)
    place = document.tail(after.end)
    if place == after.end:
        return (document.edit(place, place, f",{line}"),)
    return document.edit(after.end, after.end, ","), document.edit(place, place, line)


def _into_empty(document: Document, container: Node, item: str) -> Edit:
    start, end = container.start + 1, container.end - 1
    outer = document.indent(container.start)
    indent = outer + document.indent_unit
    line = f"\n{indent}" + item.replace("\n", "\n" + indent)
    if document.text[start:end].strip():  # comments
        return document.edit(start, start, line)
    return document.edit(start, end, f"{line}\n{outer}")


def insert_comment(document: Document, node: Node, lines: Sequence[str]) -> Edit:
    """Lines of comment, each without its marks, above a property or element."""
    start = start_of(node)
    indent = document.indent(start)
    text = "".join(f"// {line}".rstrip() + f"\n{indent}" for line in lines)
    return document.edit(start, start, text if document.begins_line(start) else f"\n{indent}{text}")
