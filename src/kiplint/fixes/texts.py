"""The fixers of the text: comments, brackets, commas, and JSON5."""

from __future__ import annotations

import json
import math
import re
import textwrap
from typing import Final

from kiplint.fixes.case import FixerCase, Fixes, fixer
from kiplint.model.notes import SAME, Note
from kiplint.text.diagnose import read_json5
from kiplint.text.edit import Edit
from kiplint.text.lines import character_of, without_blanks
from kiplint.text.source import Document
from kiplint.text.tree import is_identifier

_LINE_END: Final = re.compile(r"\r\n?|\n")
_STAR: Final = re.compile(r"[ \t]*\*+[ \t]?")


@fixer
def byte_order_mark(case: FixerCase) -> Fixes:
    """Remove the mark, although an editor may depend on it."""
    mark = case.element.problem
    return case.unsafe([case.document.edit(mark.start, mark.end, "")] if mark.kind == "byte-order-mark" else [])


@fixer
def block_comment(case: FixerCase) -> Fixes:
    """Turn the comment into lines that begin with `//`, if no code is on its lines."""
    document, problem = case.document, case.element.problem
    comment = document.text[problem.start : problem.end]
    whole = problem.kind == "block-comment" and len(comment) > 3 and comment.endswith("*/")
    if not whole or not document.begins_line(problem.start) or not _ends_line(document, problem.end):
        return ()
    indent = document.indent(problem.start)
    lines = [f"// {line}".rstrip() for line in _comment_lines(comment[2:-2])]
    return case.unsafe([document.edit(problem.start, problem.end, f"\n{indent}".join(lines))])


@fixer
def unused_ignore(case: FixerCase) -> Fixes:
    """Remove an ignore comment that ignores nothing, unless its rule may be misspelt."""
    document, problem = case.document, case.element.problem
    if not problem.removable:
        return ()
    start, end = problem.start, problem.end
    if document.begins_line(start):
        return case.unsafe([document.edit(document.line_start(start), document.next_line(start), "")])
    return case.unsafe([document.edit(without_blanks(document.text, start, " \t"), end, "")])


def _comment_lines(body: str) -> list[str]:
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


@fixer
def version_before(case: FixerCase) -> Fixes:
    """The version before a note's versions, if the note calls them the same as themselves or as later ones."""
    note: Note = case.element
    if not note.versions or note.versions.lowest < 1 or note.like < 0:
        return ()
    document = case.document
    start, _ = note.place_in_file
    first = character_of(document.data, start)
    same = re.compile(SAME.replace(r"\s", r"[\s/]")).search(document.text, first)
    if same is None or int(same[1]) != note.like:
        return ()
    return case.unsafe([document.edit(same.start(1), same.end(1), str(note.versions.lowest - 1))])


_CODE: Final = re.compile(r'"(?:[^"\\\r\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\]]|[^\s"{}\[\]/]+|/', re.DOTALL)
_CLOSERS: Final = {"{": "}", "[": "]"}
_UNCLOSED_DETAIL: Final = re.compile(r"expected '[}\]]' to close the ")


@fixer
def closing_bracket(case: FixerCase) -> Fixes:
    """Close what is open where the file ends, or where a bracket closes what is around it."""
    problem = case.element.problem
    if not _UNCLOSED_DETAIL.match(problem.detail):
        return ()
    edit = _missing_brackets(case.document)
    return case.unsafe([edit] if edit else [])


def _missing_brackets(document: Document) -> Edit | None:
    """The edit that inserts the closing brackets that are missing first."""
    open_offsets: list[int] = []
    code_end = 0
    for match in _CODE.finditer(document.text):
        token = match[0]
        if token[:2] in ("//", "/*"):
            continue
        if token in _CLOSERS:
            open_offsets.append(match.start())
        elif token in ("}", "]"):
            index = len(open_offsets) - 1
            while index >= 0 and _CLOSERS[document.text[open_offsets[index]]] != token:
                index -= 1
            if index < 0:
                return None
            if inner := open_offsets[index + 1 :]:
                return _closers(document, inner, code_end)
            del open_offsets[index:]
        code_end = match.end()
    return _closers(document, open_offsets, code_end) if open_offsets else None


def _closers(document: Document, offsets: list[int], end: int) -> Edit:
    """The brackets that close the open ones after the code that ends there, laid out as the opening ones are."""
    text = ""
    for offset in reversed(offsets):
        closer = _CLOSERS[document.text[offset]]
        inline = not _ends_line(document, offset + 1) or document.same_line(offset, end)
        gap = " " if inline and document.text[offset + 1 : offset + 2] == " " else ""
        text += gap + closer if inline else f"\n{document.indent(offset)}{closer}"
    return document.edit(end, end, text)


MOST_LITERAL: Final = 1000
"""The characters of a literal of JSON5 that is read, which takes long."""


@fixer
def trailing_comma(case: FixerCase) -> Fixes:
    """Remove the comma."""
    problem = case.element.problem
    return case.safe([case.document.edit(problem.start, problem.end, "")] if problem.kind == "trailing-comma" else [])


@fixer
def json5(case: FixerCase) -> Fixes:
    """Rewrite it as JSON: double quotes, plain numbers, escapes and white space that JSON has."""
    problem = case.element.problem
    if problem.kind != "json5-only" or problem.end - problem.start > MOST_LITERAL:
        return ()
    text = _to_json(case.document.text[problem.start : problem.end])
    return () if text is None else case.safe([case.document.edit(problem.start, problem.end, text)])


def _to_json(source: str) -> str | None:
    """White space, a word, a number or a string as JSON; None for what has no form there."""
    if not source.strip():
        return " "
    if is_identifier(source):
        return f'"{source}"' if source not in ("Infinity", "NaN") else None
    try:
        value = read_json5(source)
    except ValueError:
        return None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = int(value) if source.endswith(".") else value
    return json.dumps(value, ensure_ascii=not str(value).isprintable())
