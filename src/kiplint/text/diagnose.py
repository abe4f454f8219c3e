"""The slow path: all problems of a file's text, and its value as far as it can be read."""

from __future__ import annotations

import codecs
import re
from typing import Final

import json5
import msgspec
from msgspec.structs import replace

from kiplint.limits import DEFINITION_BYTES
from kiplint.text.decode import Problem, blank_comments
from kiplint.text.lines import BOM, decode_text
from kiplint.text.literals import join_surrogates
from kiplint.text.tree import Node, read_tree

_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$|^={7}$", re.MULTILINE)
_SPACES: Final = dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000\u200b"), " ")
_QUOTES: Final = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"')
_ODD_CHARACTERS: Final = re.compile("[" + "".join(map(chr, (*_SPACES, *_QUOTES))) + "]")


def _merge_odd_spaces(problems: list[Problem], text: str) -> list[Problem]:
    """The problems, with a single problem for all characters that look like spaces and are not white space in JSON."""
    json5 = [problem for problem in problems if problem.kind == "json5-only"]
    odd = [problem for problem in json5 if not text[problem.start : problem.end].strip()]
    if len(odd) < 2:
        return problems
    again = "once" if len(odd) == 2 else f"{len(odd) - 1} times"
    detail = f"{odd[0].detail}, here and {again} more, as in text from a web page"
    new_problems = [replace(problem, detail=detail) if problem is odd[0] else problem for problem in problems]
    return [problem for problem in new_problems if problem not in odd[1:]]


def _conflict(text: str) -> Problem | None:
    """An unresolved merge, behind all other problems: markers of git at the beginning of lines."""
    marks = list(_CONFLICT.finditer(text))
    starts = [mark for mark in marks if mark[0].startswith("<")]
    if not starts or not any(mark[0].startswith(">") and mark.start() > starts[0].start() for mark in marks):
        return None
    more = f" (there are {len(starts)})" if len(starts) > 1 else ""
    detail = f"a merge conflict that was not resolved{more}; choose between the two sides and delete the markers"
    return Problem("invalid-json", detail, "", starts[0].start(), starts[0].end())


def _odd_characters(text: str, first: int) -> Problem | None:
    """Spaces and quotes from a word processor or web page, from the first problem on, if plain ones make JSON."""
    characters = list(_ODD_CHARACTERS.finditer(text))
    odd = next((character for character in characters if character.start() >= first), None)
    if odd is None or not any(_is_sound(text.translate(table)) for table in (_SPACES, _SPACES | _QUOTES)):
        return None
    counts = [
        (sum(ord(character[0]) in table for character in characters), noun)
        for table, noun in ((_SPACES, "no-break or other odd space"), (_QUOTES, "curly quote"))
    ]
    numbers = " and ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number)
    detail = f'text that was pasted from a web page or a document, with {numbers}; write plain spaces and "'
    return Problem("invalid-json", detail, "", odd.start(), odd.end())


def _is_sound(text: str) -> bool:
    result = read_tree(text)
    return result.root is not None and not any(problem.kind in _HOPELESS for problem in result.problems)


MISSING: Final = msgspec.UNSET
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
    """The result of reading a file's bytes.

    `value` is plain Python (dict, list, str, int, float, bool, None) or `MISSING`. `text` is what all offsets count
    in: `decode_text` of the bytes (a leading byte order mark stays in it as U+FEFF at offset 0), or "" for a file
    that is too large.
    """

    problems: tuple[Problem, ...]
    value: object
    text: str


def diagnose(data: bytes) -> Diagnosis:
    """All problems of a file's bytes and the value they still have. Never raises, whatever the bytes."""
    if len(data) > DEFINITION_BYTES:
        detail = f"the file has more than {DEFINITION_BYTES:,} bytes, which is far more than any definition"
        return Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING, "")
    text = decode_text(data)
    if problem := _not_utf8(data):
        return Diagnosis((problem,), MISSING, text)
    result = read_tree(text)
    if result.root is None and not any(problem.kind in _HOPELESS for problem in result.problems):
        detail = "the file has nothing but comments" if text.replace(BOM, "").strip() else "the file is empty"
        return Diagnosis((Problem("empty-file", detail, "", 0, min(1, len(text))),), MISSING, text)
    problems = _merge_odd_spaces(list(result.problems), text)
    invalid = next((problem for problem in problems if problem.kind == "invalid-json"), None)
    if invalid and (cause := _conflict(text) or _odd_characters(text, invalid.start)):
        return Diagnosis((cause,), MISSING, text)
    if text.startswith(BOM):
        detail = "a byte order mark; save the file as UTF-8 without it"
        problems.insert(0, Problem("byte-order-mark", detail, "", 0, 1))
    if result.root is None or any(problem.kind in _HOPELESS for problem in problems):
        return Diagnosis(tuple(problems), MISSING, text)
    if any(problem.kind in _JSON5 for problem in problems):
        return Diagnosis(tuple(problems), _json5_value(text, result.root), text)
    value = _json_value(text, result.root)
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
    try:
        # json5 would leave the halves of an escaped pair apart, as a string that cannot be encoded.
        value: object = json5.loads(join_surrogates(text[root.start : root.end]))
    except Exception:  # whatever a parser of hostile text raises, there is no value
        return MISSING
    return value
