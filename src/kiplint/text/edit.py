"""Edits of a definition's bytes: other bytes do not change, and new text follows the formatting of the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from kiplint.text.decode import comments
from kiplint.text.lines import BOM, byte_offsets
from kiplint.text.tree import Locator, Node


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replaces the bytes of a file from `start` up to `end` with `text`, as UTF-8."""

    path: str
    start: Annotated[int, Meta(ge=0, description="In bytes of the file as it is.")]
    end: Annotated[int, Meta(ge=0, description="Exclusive; the same as `start` for an insertion.")]
    text: str


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with all edits made, insertions at one offset in the order given; equal replacements are made once.

    Raises ValueError when an edit begins inside another, or reaches beyond the bytes.
    """
    parts: list[bytes] = []
    position = 0
    previous: Edit | None = None
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        is_insertion = edit.start == edit.end
        if edit == previous and not is_insertion:
            continue
        if not position <= edit.start <= edit.end <= len(data):
            raise ValueError(f"an edit of bytes {edit.start} to {edit.end}, where {position} to {len(data)} are left")
        parts += (data[position : edit.start], edit.text.encode())
        position, previous = edit.end, edit
    parts.append(data[position:])
    return b"".join(parts)


def collides(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether an edit cannot be combined with one of the others, because they share bytes or begin at the same offset.

    `others` are edits of the same file, sorted, and they do not collide. Equal replacements do not collide. Equal
    insertions do, because both texts may be intended.
    """
    index = bisect_left(others, edit.start, key=lambda other: other.start)
    for other in others[max(index - 1, 0) : index + 1]:  # only the previous and the next one can collide
        is_insertion = edit.start == edit.end
        if edit == other and not is_insertion:
            continue
        first, second = sorted((edit, other))
        if first.start == second.start or second.start < first.end:
            return True
    return False


_BLANKS_AND_COMMENTS: Final = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_LINE_COMMENT: Final = re.compile(r"[ \t]*+//[^\r\n]*+")


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
        """The white space of one level of nesting: that before the first property, or two spaces if there is none."""
        children = self.root.children
        return (self.indent(start_of(children[0])) if children else "") or "  "

    def find(self, pointer: str) -> Node | None:
        """The value that an RFC 6901 pointer points to, of duplicate keys the last; None when there is none."""
        nodes = self.nodes_to(pointer)
        return nodes[-1] if len(nodes) == 1 + pointer.count("/") else None

    def edit(self, start: int, end: int, text: str) -> Edit:
        r"""An edit of the characters from `start` up to `end`; `\n` in `text` becomes the file's line end."""
        offsets = byte_offsets(self.data)
        return Edit(self.path, offsets[start], offsets[end], text.replace("\n", self.newline))

    def line_start(self, offset: int) -> int:
        """The offset at which the line of an offset begins, after a byte order mark."""
        start = self.lines.starts[self.lines.line_of(offset) - 1]
        has_bom = start == 0 and self.text.startswith(BOM)
        return 1 if has_bom else start

    def next_line(self, offset: int) -> int:
        """The offset at which the line after that of an offset begins, or the end of the text."""
        index_of_next = self.lines.line_of(offset)  # lines count from 1, and their starts from 0
        return self.lines.starts[index_of_next] if index_of_next < len(self.lines.starts) else len(self.text)

    def indent(self, offset: int) -> str:
        """The white space at the beginning of the line of an offset, up to the offset."""
        before = self.text[self.line_start(offset) : offset]
        return before[: len(before) - len(before.lstrip(" \t"))]

    def begins_line(self, offset: int) -> bool:
        """Whether only white space is before an offset on its line."""
        return not self.text[self.line_start(offset) : offset].strip(" \t")

    def comma_after(self, node: Node) -> int | None:
        """The offset of the comma after a property or element; None when there is none."""
        offset = _match_end(_BLANKS_AND_COMMENTS, self.text, node.end)
        return offset if self.text.startswith(",", offset) else None

    def comment_end(self, offset: int) -> int:
        """The end of the `//` comment that follows an offset on its line; the offset itself when none does."""
        return _match_end(_LINE_COMMENT, self.text, offset)


def _match_end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    """The end of the match at an offset; the offset itself when nothing matches."""
    match = pattern.match(text, offset)
    return match.end() if match else offset


def start_of(node: Node) -> int:
    """The offset at which an element begins, or a property with its key."""
    return node.start if node.key is None else node.key_start


def delete_item(document: Document, container: Node, item: Node) -> tuple[Edit, ...]:
    """The edit that removes a property or element with the comma before it, or for the first with the comma after it.

    Raises NotEditable where a comment would be removed with it.
    """
    items = container.children
    index = items.index(item)
    if index > 0:
        start, end = items[index - 1].end, item.end
    elif len(items) > 1:
        start, end = start_of(item), start_of(items[1])
    else:
        start, end = start_of(item), item.end
    if any(comments(document.text[start:end])):
        raise NotEditable("there is a comment")
    return (document.edit(start, end, ""),)


def replace_value(document: Document, node: Node, value: str) -> Edit:
    """The edit that puts `value`, which is JSON, in place of the value of a property or element."""
    return document.edit(node.start, node.end, value)


def rename_key(document: Document, node: Node, key: str) -> Edit:
    """The edit that gives a property the name `key`."""
    return document.edit(node.key_start, node.key_end, f'"{key}"')


def insert_property(
    document: Document, container: Node, key: str, value: str, order: Sequence[str]
) -> tuple[Edit, ...]:
    """The edits that insert a property with a value, which is JSON, into an object.

    `order` lists keys in their usual order, such as `("name", "type", "versions")`. The property goes behind the last
    one whose key comes before `key` in `order`, and behind all others when `key` is not in `order`.
    """
    earlier = container.children
    if key in order:
        earlier_keys = order[: order.index(key)]
        earlier = [child for child in container.children if child.key in earlier_keys]
    return insert_item(document, container, f'"{key}": {value}', earlier[-1] if earlier else None)


def insert_item(document: Document, container: Node, item: str, after: Node | None) -> tuple[Edit, ...]:
    """The edits that insert a property or element, given as text, behind `after`, or as the first when that is None.

    It gets a line of its own if its neighbour has one, and its further lines are indented like the neighbour. A comment
    at the end of the line of `after` stays there.
    """
    if not container.children:
        return (_insert_into_empty(document, container, item),)
    neighbour = after or container.children[0]
    neighbour_start = start_of(neighbour)
    neighbour_begins_line = document.begins_line(neighbour_start)
    indent = document.indent(neighbour_start)
    text = item.replace("\n", "\n" + indent)
    if after is None:
        separator = f",\n{indent}" if neighbour_begins_line else ", "
        return (document.edit(neighbour_start, neighbour_start, text + separator),)
    if not neighbour_begins_line or _next_is_on_line(document, container, after):
        return (document.edit(after.end, after.end, f", {text}"),)
    line = f"\n{indent}{text}"
    comma = document.comma_after(after)
    if comma is not None:
        line_end = document.comment_end(comma + 1)
        return (document.edit(line_end, line_end, f"{line},"),)
    line_end = document.comment_end(after.end)
    if line_end == after.end:  # no comment follows
        return (document.edit(line_end, line_end, f",{line}"),)
    return document.edit(after.end, after.end, ","), document.edit(line_end, line_end, line)


def _next_is_on_line(document: Document, container: Node, item: Node) -> bool:
    """Whether the next item, or the closing bracket if there is none, begins on the line where an item ends."""
    index = container.children.index(item) + 1
    next_start = start_of(container.children[index]) if index < len(container.children) else container.end - 1
    return document.lines.line_of(item.end) == document.lines.line_of(next_start)


def _insert_into_empty(document: Document, container: Node, item: str) -> Edit:
    """The edit that inserts an item, given as text, on a line of its own into an empty object or array."""
    start, end = container.start + 1, container.end - 1
    outer_indent = document.indent(container.start)
    indent = outer_indent + document.indent_unit
    line = f"\n{indent}" + item.replace("\n", "\n" + indent)
    has_comment = document.text[start:end].strip() != ""  # then the item goes above it
    return document.edit(start, start if has_comment else end, f"{line}\n{outer_indent}")


def insert_comment(document: Document, node: Node, lines: Sequence[str]) -> Edit:
    """The edit that inserts lines of comment, each given without its `//`, above a property or element."""
    start = start_of(node)
    indent = document.indent(start)
    text = "".join(f"// {line}".rstrip() + f"\n{indent}" for line in lines)
    return document.edit(start, start, text if document.begins_line(start) else f"\n{indent}{text}")
