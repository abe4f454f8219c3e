"""The slow path: all problems of a file's text, and its value as far as it can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from kiplint.limits import DEFINITION_BYTES
from kiplint.text.decode import NOT_JSON, Problem, blank_comments
from kiplint.text.lines import BOM
from kiplint.text.tree import read_tree

MISSING: Final = msgspec.UNSET
"""Represents the value of a text that has none."""

_KINDS_WITHOUT_VALUE: Final = frozenset({"invalid-json", "too-deep"})
"""The kinds of problems after which a text has no value."""
_MAX_JSON5_LENGTH: Final = 65_536
"""In characters: the json5 package takes seconds for more."""
_CONFLICT_START: Final = re.compile(r"^<{7}(?: .*)?$", re.MULTILINE)
_CONFLICT_END: Final = re.compile(r"^>{7}(?: .*)?$", re.MULTILINE)


class Diagnosis(NamedTuple):
    """The problems of a file's text, with offsets in characters of it as `decode_text` gives it, and its value.

    The value is plain Python (dict, list, str, int, float, bool, None), or `MISSING`.
    """

    problems: tuple[Problem, ...]
    value: object


def diagnose(data: bytes) -> Diagnosis:
    """All problems of a file's bytes, and its value despite them. Never raises, whatever the bytes."""
    if len(data) > DEFINITION_BYTES:
        detail = f"the file has more than {DEFINITION_BYTES:,} bytes, which is far more than any definition"
        return Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode())
        detail = f"byte 0x{data[error.start]:02x} at byte offset {error.start} is not UTF-8"
        return Diagnosis((Problem("not-utf8", detail, "", start, start + 1),), MISSING)

    root, syntax_problems = read_tree(text)
    problems = list(syntax_problems)
    kinds = {problem.kind for problem in problems}
    if "invalid-json" in kinds and (conflict := _merge_conflict(text)):
        return Diagnosis((conflict,), MISSING)
    if root.kind == "missing" and not kinds & _KINDS_WITHOUT_VALUE:
        empty_file = Problem("empty-file", "the file has no definition", "", 0, min(1, len(text)))
        return Diagnosis((*problems, empty_file), MISSING)
    if text.startswith(BOM):
        detail = "a byte order mark; save the file as UTF-8 without it"
        problems.insert(0, Problem("byte-order-mark", detail, "", 0, 1))
    if kinds & _KINDS_WITHOUT_VALUE:
        return Diagnosis(tuple(problems), MISSING)

    json_text = text[root.start : root.end]
    value: object = MISSING
    try:
        value = msgspec.json.decode(blank_comments(_without_commas(text, problems)[root.start : root.end].encode()))
    except NOT_JSON as error:
        if not kinds & {"json5-only", "trailing-comma"}:  # a mistake that `read_tree` does not find
            problems.append(Problem("invalid-json", str(error), "", root.start, root.end))
        elif len(json_text) <= _MAX_JSON5_LENGTH:
            with suppress(Exception):  # the json5 package raises many kinds of errors for hostile text
                value = read_json5(json_text)
    return Diagnosis(tuple(problems), value)


def _without_commas(text: str, problems: Iterable[Problem]) -> str:
    """The text with blanks for its trailing commas: it may be JSON then, which needs no json5 package."""
    parts: list[str] = []
    end = 0
    for problem in problems:
        if problem.kind == "trailing-comma":
            parts += (text[end : problem.start], " ")
            end = problem.end
    return "".join((*parts, text[end:]))


def _merge_conflict(text: str) -> Problem | None:
    """The problem of a text with git's conflict markers, which is the cause of all its other problems."""
    start = _CONFLICT_START.search(text)
    if start is None or _CONFLICT_END.search(text, start.end()) is None:
        return None
    detail = "an unresolved merge conflict; keep one of the two sides and delete the markers"
    return Problem("invalid-json", detail, "", *start.span())


def read_json5(text: str) -> object:
    """The value of a JSON5 text; raises ValueError for anything else, or whatever else the json5 package raises."""
    import json5  # a clean run does without it

    # The json5 package reads an escaped surrogate pair as two characters, which the json package joins into one.
    return json.loads(json.dumps(json5.loads(text)))
