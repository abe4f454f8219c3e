"""The slow path: all problems of a file's text, and its value as far as it can be read."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

import json5
import msgspec

from kiplint.limits import DEFINITION_BYTES
from kiplint.text.decode import NOT_JSON, Problem, blank_comments
from kiplint.text.lines import BOM, decode_text
from kiplint.text.tree import read_tree

MISSING: Final = msgspec.UNSET
"""Stands for the value of a text that has none."""

_HOPELESS: Final = frozenset({"invalid-json", "too-deep", "empty-file"})
_LONGEST_JSON5: Final = 65_536
_CONFLICT_START: Final = re.compile(r"^<{7}(?: .*)?$", re.MULTILINE)
_CONFLICT_END: Final = re.compile(r"^>{7}(?: .*)?$", re.MULTILINE)


class Diagnosis(NamedTuple):
    """The problems of a file's text, with offsets in characters of it as `decode_text` gives it, and its value.

    The value is plain Python (dict, list, str, int, float, bool, None), or `MISSING`.
    """

    problems: tuple[Problem, ...]
    value: object


def diagnose(data: bytes) -> Diagnosis:
    """All problems of a file's bytes and the value they still have. Never raises, whatever the bytes."""
    if len(data) > DEFINITION_BYTES:
        detail = f"the file has more than {DEFINITION_BYTES:,} bytes, which is far more than any definition"
        return Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING)
    text = decode_text(data)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode())
        detail = f"byte 0x{data[error.start]:02x} at byte offset {error.start} is not UTF-8"
        return Diagnosis((Problem("not-utf8", detail, "", start, start + 1),), MISSING)
    root, found_problems = read_tree(text)
    problems = list(found_problems)
    if root.kind == "missing" and not any(problem.kind in _HOPELESS for problem in problems):
        problems.append(Problem("empty-file", "the file has no definition", "", 0, min(1, len(text))))
    elif text.startswith(BOM):
        detail = "a byte order mark; save the file as UTF-8 without it"
        problems.insert(0, Problem("byte-order-mark", detail, "", 0, 1))
    kinds = {problem.kind for problem in problems}
    if "invalid-json" in kinds and (conflict := _conflict(text)):
        return Diagnosis((conflict,), MISSING)
    if kinds & _HOPELESS:
        return Diagnosis(tuple(problems), MISSING)
    json_text = text[root.start : root.end]
    try:
        value: object = msgspec.json.decode(blank_comments(json_text.encode()))
    except NOT_JSON as error:
        if kinds & {"json5-only", "trailing-comma"}:
            value = _json5_value(json_text)
        else:
            value = MISSING
            problems.append(Problem("invalid-json", str(error), "", root.start, root.end))
    return Diagnosis(tuple(problems), value)


def _conflict(text: str) -> Problem | None:
    """An unresolved merge, which is behind all other problems: markers of git at the beginning of lines."""
    start = _CONFLICT_START.search(text)
    if start is None or _CONFLICT_END.search(text, start.end()) is None:
        return None
    detail = "a merge conflict that was not resolved; choose between the two sides and delete the markers"
    return Problem("invalid-json", detail, "", *start.span())


def _json5_value(text: str) -> object:
    """The value of JSON5, or `MISSING` when the json5 package cannot tell either."""
    if len(text) > _LONGEST_JSON5:
        return MISSING
    try:
        return read_json5(text)
    except Exception:  # whatever a parser of hostile text raises, there is no value
        return MISSING


def read_json5(text: str) -> object:
    """The value of JSON5; raises ValueError for what is none, and what else the parser raises."""
    # The json5 package leaves the halves of an escaped surrogate pair apart, and the json package joins them.
    return json.loads(json.dumps(json5.loads(text)))
