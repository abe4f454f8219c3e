"""Comments, and the mark in front of a text. No comment is touched unasked, so that all of this is unsafe."""

from __future__ import annotations

import re
import textwrap
from typing import Final

from kiplint.engine.finding import Fix
from kiplint.fixes.mend import Case
from kiplint.text.edit_document import Document

_LINE_END: Final = re.compile(r"\r\n?|\n")
_STAR: Final = re.compile(r"[ \t]*\*+[ \t]?")


def byte_order_mark(case: Case) -> Fix | None:
    """Take the mark out; whoever put it there may have an editor that wants it."""
    noted = case.problem.noted
    return case.unsafe([case.document.edit(noted.start, noted.end, "")] if noted.kind == "byte-order-mark" else [])


def block_comment(case: Case) -> Fix | None:
    """Say the same in lines that begin with `//`, where the comment has its lines for itself."""
    document, noted = case.document, case.problem.noted
    written = document.text[noted.start : noted.end]
    whole = noted.kind == "block-comment" and len(written) > 3 and written.endswith("*/")
    if not whole or not document.begins_line(noted.start) or not _ends_line(document, noted.end):
        return None
    indent = document.indent(noted.start)
    lines = [f"// {line}".rstrip() for line in _said(written[2:-2])]
    return case.unsafe([document.edit(noted.start, noted.end, f"\n{indent}".join(lines))])


def unused_ignore(case: Case) -> Fix | None:
    """Take an ignore comment out when there is nothing to ignore; not one whose rule may only be misspelt."""
    document, noted = case.document, case.problem.noted
    if not noted.spare:
        return None
    start, end = noted.start, noted.end
    if document.begins_line(start):
        return case.unsafe([document.edit(document.line_start(start), document.next_line(start), "")])
    return case.unsafe([document.edit(len(document.text[:start].rstrip(" \t")), end, "")])


def _said(body: str) -> list[str]:
    """The lines of a block comment without its frame: the stars that lines begin with, or their common indentation."""
    first, *others = _LINE_END.split(body)
    if all(_STAR.match(line) for line in others if line.strip()):
        others = [_STAR.sub("", line, count=1) for line in others]
    else:
        others = textwrap.dedent("\n".join(others)).split("\n")
    lines = [first.strip("* \t"), *(line.rstrip("* \t") for line in others)]
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines[1:] if len(lines) > 1 and not lines[0] else lines


def _ends_line(document: Document, offset: int) -> bool:
    return not document.text[offset : document.next_line(max(offset - 1, 0))].strip(" \t\r\n")
