"""Comments that say what a version brings: where a file has them, and written as it writes them."""

from __future__ import annotations

import re
from typing import Final

from kiplint.text.edit import Edit
from kiplint.text.edit_document import Document, start_of
from kiplint.text.edit_insert import insert_comment

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
