"""Taking properties and elements out of a file, with their commas, and never a comment."""

from __future__ import annotations

from kiplint.text.edit import Edit
from kiplint.text.edit_document import Document, start_of
from kiplint.text.nodes import Node


def delete_item(document: Document, container: Node, item: Node) -> tuple[Edit, ...]:
    """Take a property or element out, and its line if nothing else is on it."""
    number = next(n for n, one in enumerate(container.children) if one is item)
    comma = document.comma_after(item)
    ends = [comma + 1 if comma >= 0 else item.end]
    edits: list[Edit] = []
    if comma < 0 and number:
        before = document.comma_after(container.children[number - 1])
        edits += [document.edit(before, before + 1, "")] if before >= 0 else []
    start, end = _wide(document, start_of(item), ends[0], is_last=comma < 0)
    return (*edits, *_but_comments(document, start, end))


def _wide(document: Document, start: int, end: int, *, is_last: bool) -> tuple[int, int]:
    """The span with the white space that would be left over: the whole line, or the blanks on one side."""
    line_end = document.next_line(max(end - 1, start))
    if document.begins_line(start) and not document.text[end:line_end].strip(" \t\r\n"):
        return document.line_start(start), line_end
    if is_last:
        blank = len(document.text[:start].rstrip(" \t"))
        return (start if document.begins_line(start) else blank), end
    while document.text[end : end + 1] in {" ", "\t"}:
        end += 1
    return start, end


def _but_comments(document: Document, start: int, end: int) -> list[Edit]:
    edits: list[Edit] = []
    for comment in document.comments_in(start, end):
        edits += [document.edit(start, comment.start, "")] if comment.start > start else []
        start = comment.end if comment.block else min(document.next_line(comment.start), end)
    return [*edits, document.edit(start, end, "")] if end > start else edits
