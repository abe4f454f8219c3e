"""The text of one file, and edits that follow its layout: new properties, elements and comments, and deletions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from kiplint.text.decode import Comment, comments
from kiplint.text.edit import Edit
from kiplint.text.lines import BOM, byte_offsets, without_blanks
from kiplint.text.tree import Locator, Node

_LINE_END: Final = re.compile(r"\r\n?|\n")
_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_TAIL: Final = re.compile(r"(?:[ \t]*+/\*[^\r\n]*?\*/)*+(?:[ \t]*+//[^\r\n]*+)?+(?=[ \t]*+(?:[\r\n]|\Z))")
_INDENT: Final = re.compile(r"[ \t]*+")
_COLON: Final = re.compile(r"[ \t]*+:[ \t]*+")
_MANY: Final = 64


class NotEditable(ValueError):  # noqa: N818
    """The bytes are not text with a JSON value; the message states what they are."""


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
        r"""The end of the file's first line; `\n` for a single line."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def indent_unit(self) -> str:
        """How much deeper the properties of the whole stand; two spaces when they do not have lines of their own."""
        children = self.root.children
        indent = self.indent(start_of(children[0])) if children and self.begins_line(start_of(children[0])) else ""
        return indent or "  "

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

    def same_line(self, first: int, other: int) -> bool:
        """Whether two offsets are on one line."""
        return self.lines.line_of(first) == self.lines.line_of(other)

    def code_after(self, offset: int) -> int:
        """Where the next thing that is neither white space nor comment begins."""
        match = _BLANK.match(self.text, offset)
        return match.end() if match else offset

    def comma_after(self, node: Node) -> int:
        """Where the comma after a property or element is, -1 when there is none."""
        at = self.code_after(node.end)
        return at if self.text[at : at + 1] == "," else -1

    def tail(self, offset: int) -> int:
        """Where the comments end that finish the line after an offset; the offset itself when code comes there."""
        match = _TAIL.match(self.text, offset)
        return match.end() if match else offset

    def comments_in(self, start: int, end: int) -> list[Comment]:
        """The comments that begin between two offsets."""
        first = bisect_left(self._comments, start, key=lambda comment: comment.start)
        last = bisect_left(self._comments, end, key=lambda comment: comment.start)
        return self._comments[first:last]

    def colon(self, container: Node) -> str:
        """What stands between key and value in an object, as most of its properties have it."""
        matches = [_COLON.fullmatch(self.text, child.key_end, child.start) for child in container.children[:_MANY]]
        separators = Counter(match.group() for match in matches if match)
        return separators.most_common(1)[0][0] if separators else ": "

    @cached_property
    def _comments(self) -> list[Comment]:
        return list(comments(self.text))


def start_of(node: Node) -> int:
    """Where a property begins, with its key, or an element."""
    return node.start if node.key is None else node.key_start


def delete_items(document: Document, container: Node, items: Sequence[Node]) -> tuple[Edit, ...]:
    """Remove properties or elements, and lines that have nothing else; comments stay.

    The comma before them goes too where nothing follows.
    """
    deleted_ids = set(map(id, items))
    last_remaining = next((child for child in reversed(container.children) if id(child) not in deleted_ids), None)
    last = container.children[-1]
    edits: list[Edit] = []
    if last_remaining and last_remaining is not last and document.comma_after(last) < 0:
        before = document.comma_after(last_remaining)
        edits += [document.edit(before, before + 1, "")] if before >= 0 else []
    spans: list[tuple[int, int, bool]] = []
    for item in sorted(items, key=start_of):
        comma = document.comma_after(item)
        start, end = start_of(item), comma + 1 if comma >= 0 else item.end
        if spans and not document.text[spans[-1][1] : start].strip(" \t"):
            start = spans.pop()[0]  # the blank between them belongs to both
        spans.append((start, end, comma < 0))
    for start, end, is_last in spans:
        edits += _but_comments(document, *_wide(document, start, end, is_last=is_last))
    return tuple(edits)


def _wide(document: Document, start: int, end: int, *, is_last: bool) -> tuple[int, int]:
    """The span with the white space that would be left over: the whole line, or the blanks on one side."""
    line_end = document.next_line(max(end - 1, start))
    if document.begins_line(start) and not document.text[end:line_end].strip(" \t\r\n"):
        return document.line_start(start), line_end
    if is_last:
        blank = without_blanks(document.text, start, " \t")
        return (start if document.begins_line(start) else blank), end
    while document.text[end : end + 1] in {" ", "\t"}:
        end += 1
    if document.text[end : end + 1] in {"\r", "\n"}:
        start = without_blanks(document.text, start, " \t")
    return start, end


def _but_comments(document: Document, start: int, end: int) -> list[Edit]:
    edits: list[Edit] = []
    for comment in document.comments_in(start, end):
        edits += [document.edit(start, comment.start, "")] if comment.start > start else []
        start = comment.end if comment.block else min(document.next_line(comment.start), end)
    return [*edits, document.edit(start, end, "")] if end > start else edits


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
    rank = {name: number for number, name in enumerate(order)}
    mine = rank.get(key, len(rank))
    earlier = [
        (rank[child.key], number, child)
        for number, child in enumerate(container.children)
        if child.key and rank.get(child.key, mine) < mine
    ]
    after = max(earlier)[2] if earlier else None
    if after is None and mine == len(rank) and container.children:
        after = container.children[-1]
    return insert_item(document, container, f'"{key}"{document.colon(container)}{value}', after)


def insert_item(document: Document, container: Node, item: str, after: Node | None) -> tuple[Edit, ...]:
    r"""A new property or element, as text, after one that is there, or as the first when `after` is None.

    Comments that finish the line of `after` stay with it. After a `\n` in the item its indentation is put.
    """
    if not container.children:
        return _into_empty(document, container, item)
    if after is None:
        return (_as_first(document, container, item),)
    if not _has_own_lines(document, container, after):
        return (document.edit(after.end, after.end, ", " + _deeper(item, document.indent(start_of(after)))),)
    indent = document.indent(start_of(after))
    line = f"\n{indent}{_deeper(item, indent)}"
    comma = document.comma_after(after)
    if comma >= 0:
        place = document.tail(comma + 1)
        return (document.edit(place, place, line + ","),)
    place = document.tail(after.end)
    if place == after.end:
        return (document.edit(place, place, "," + line),)
    return document.edit(after.end, after.end, ","), document.edit(place, place, line)


def insert_comment(document: Document, node: Node, lines: Sequence[str]) -> Edit:
    """Lines of comment, each without its marks, above a property or element."""
    start = start_of(node)
    indent = document.indent(start)
    text = "".join(f"// {line}".rstrip() + f"\n{indent}" for line in lines)
    if document.begins_line(start):
        return document.edit(start, start, text)
    return document.edit(start, start, f"\n{indent}{text}")


def _has_own_lines(document: Document, container: Node, after: Node) -> bool:
    """Whether what comes after `after` is to begin a line."""
    if not document.begins_line(start_of(after)):
        return False
    number = next(n for n, child in enumerate(container.children) if child is after)
    following = container.children[number + 1 : number + 2]
    return not document.same_line(after.end, start_of(following[0]) if following else container.end - 1)


def _as_first(document: Document, container: Node, item: str) -> Edit:
    first = start_of(container.children[0])
    if not document.begins_line(first):
        return document.edit(first, first, _deeper(item, document.indent(first)) + ", ")
    indent = document.indent(first)
    place = document.tail(container.start + 1)
    return document.edit(place, place, f"\n{indent}{_deeper(item, indent)},")


def _into_empty(document: Document, container: Node, item: str) -> tuple[Edit, ...]:
    start, end = container.start + 1, container.end - 1
    inner = document.text[start:end]
    outer = document.indent(container.start)
    indent = outer + document.indent_unit
    line = f"\n{indent}{_deeper(item, indent)}"
    if not inner.strip(" \t\r\n"):
        one_line = container.kind == "object" and container is not document.root and not _spans_lines(inner + item)
        return (document.edit(start, end, f" {item} " if one_line else f"{line}\n{outer}"),)
    place = document.tail(start)
    if place == start and not _spans_lines(inner):
        return (document.edit(end, end, f"{line}\n{outer}"),)
    return (document.edit(place, place, line),)


def _spans_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _deeper(item: str, indent: str) -> str:
    return item.replace("\n", "\n" + indent)
