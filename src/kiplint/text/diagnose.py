"""The slow path: everything that is wrong with a file's text, and what of its value can be saved."""

from __future__ import annotations

import codecs
import re
from enum import Enum, auto
from typing import Final

import msgspec

from kiplint.text.comments import blank_comments
from kiplint.text.duplicates import weigh
from kiplint.text.limits import MAX_BYTES
from kiplint.text.lines import BOM, decode_text
from kiplint.text.mishaps import mishap, one_for_odd_spaces
from kiplint.text.nodes import Node
from kiplint.text.problem import Problem
from kiplint.text.scan import scan
from kiplint.text.strings import join_surrogates


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = auto()


MISSING: Final = Missing.MISSING
"""Stands for the value of a text that has none."""

_HOPELESS: Final = frozenset({"invalid-json", "too-deep"})
_JSON5: Final = frozenset({"json5-only", "trailing-comma"})
_LONGEST_JSON5: Final = 65_536
_BYTE: Final = re.compile(r" ?\(byte (\d+)\)")
_WIDE_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class Diagnosis(msgspec.Struct, frozen=True):
    """What a file's bytes come to.

    `value` is plain Python (dict, list, str, int, float, bool, None) or `MISSING`. `text` is what all offsets count
    in: `decode_text` of the bytes (a leading byte order mark stays in it as U+FEFF at offset 0), or "" for a file
    that is too large.
    """

    problems: tuple[Problem, ...]
    value: object
    text: str


def diagnose(data: bytes) -> Diagnosis:
    """All problems of a file's bytes and the value they still have. Never raises, whatever the bytes."""
    if len(data) > MAX_BYTES:
        detail = f"the file has more than {MAX_BYTES:,} bytes, which is far more than any definition"
        return Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING, "")
    text = decode_text(data)
    if problem := _not_utf8(data):
        return Diagnosis((problem,), MISSING, text)
    found = scan(text)
    if found.root is None and not any(problem.kind in _HOPELESS for problem in found.problems):
        detail = "the file has nothing but comments" if text.replace(BOM, "").strip() else "the file is empty"
        return Diagnosis((Problem("empty-file", detail, "", 0, min(1, len(text))),), MISSING, text)
    problems = one_for_odd_spaces(list(weigh(tuple(found.problems), found.root, text)), text)
    unread = next((one for one in problems if one.kind == "invalid-json"), None)
    if unread and (whole := mishap(text, unread.start)):
        return Diagnosis((whole,), MISSING, text)
    if text.startswith(BOM):
        detail = "a byte order mark; save the file as UTF-8 without it"
        problems.insert(0, Problem("byte-order-mark", detail, "", 0, 1))
    if found.root is None or any(problem.kind in _HOPELESS for problem in problems):
        return Diagnosis(tuple(problems), MISSING, text)
    if any(problem.kind in _JSON5 for problem in problems):
        return Diagnosis(tuple(problems), _json5_value(text, found.root), text)
    value = _json_value(text, found.root)
    if isinstance(value, Problem):
        return Diagnosis((*problems, value), MISSING, text)
    return Diagnosis(tuple(problems), value, text)


def _not_utf8(data: bytes) -> Problem | None:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return Problem("not-utf8", f"the file is in {name}, by its byte order mark; save it as UTF-8", "", 0, 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode())
        detail = f"byte 0x{data[error.start]:02x} at byte offset {error.start} is not UTF-8"
        return Problem("not-utf8", detail, "", start, start + 1)
    return None


def _json_value(text: str, root: Node) -> object:
    """The value of strict JSON, or a Problem in the decoder's own words should it know better than the scan."""
    try:
        return msgspec.json.decode(blank_comments(text[root.start : root.end].encode()))
    except (ValueError, RecursionError) as error:
        words = str(error)
    start, end = root.start, root.end
    if byte := _BYTE.search(words):
        before = text[root.start : root.end].encode()[: int(byte[1])]
        start = min(root.start + len(before.decode("utf-8", "ignore")), root.end - 1)
        end = start + 1
    return Problem("invalid-json", _BYTE.sub("", words).removeprefix("JSON is malformed: "), "", start, end)


def _json5_value(text: str, root: Node) -> object:
    """The value of JSON5, or `MISSING` when the json5 package cannot tell either."""
    if root.end - root.start > _LONGEST_JSON5:
        return MISSING
    import json5

    try:
        # json5 would leave the halves of an escaped pair apart, as a string that cannot be encoded.
        value: object = json5.loads(join_surrogates(text[root.start : root.end]))
    except Exception:  # whatever a parser of hostile text raises, there is no value
        return MISSING
    return value
