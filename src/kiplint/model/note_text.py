"""What a comment says of versions: the ways in which Kafka's definitions tell the history of a message.

`Version 3 adds X and Y.`, `Starting in version 1, ...`, `Versions 1 and 2 are the same as version 0.`, and lists of
errors, `- NOT_COORDINATOR (version 0+)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from kiplint.model.remarks import Paragraph

_NUMBERS: Final = r"\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?\d{1,5})*\+?"
_OPENERS: Final = ("Version", "version", "Starting", "From", "As of", "Since")
# Those that nearly every definition needs are compiled at once, the others where they are.
_BEGIN: Final = re.compile(rf"(?:(?:Starting|From|As of|Since)\b[a-z ]*?)?[Vv]ersions?\s+({_NUMBERS})")
_ERROR: Final = re.compile(r"-\s*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?:\s*\(versions?\s+([^)\n]{1,30})\))?")
_SAME: Final = r"(?i)\b(?:same\s+(?:as|with)|identical\s+(?:to|with))\s+(?:that\s+of\s+)?v(?:ersion)?\s*(\d{1,5})\b"
_ADDS: Final = r"\b(?:add(?:s|ed|ing)?|introduc(?:es|ed|ing)|new\s+fields?)\b"
_REMOVES: Final = r"\b(?:remov(?:es|ed|ing)|drops|dropped|deprecat(?:es|ed|ing))\b"
_OF: Final = r"\s+of\s+([A-Za-z]+(?:Request|Response))\b"
_BEFORE: Final = r"(?:(?:the|a|an|new|optional|also|two|tagged|top-level|per-[a-z-]+|fields?|called|named)\b|[\s'\"`])*"
_NAME: Final = r"(?=[a-z]*[A-Z])[A-Za-z][A-Za-z0-9]*\b(?![.\-_]\w|\s+[A-Z])"
_AFTER: Final = r"['\"`]*\s*\b(fields?\b)?"
_NEXT: Final = r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)"


class Named(NamedTuple):
    """A name in a note, and whether the words around it say that it is a field's."""

    name: str
    sure: bool


class Statement(NamedTuple):
    """A sentence about versions, or an item of a list of errors; `rest` is what follows the versions.

    `start` and `end` are where its first line stands in the file's bytes.
    """

    versions: str
    text: str
    rest: str
    start: int
    end: int
    error: str = ""


def statements(paragraph: Paragraph) -> Iterator[Statement]:
    """The sentences of a paragraph that begin with versions, and the items of its lists of errors."""
    text = paragraph.text
    begins = list(_begins(paragraph))
    ends = [*(one.start() for one in begins[1:]), len(text)]
    for begin, end in zip(begins, ends, strict=False):
        yield Statement(begin[1], text[begin.start() : end], text[begin.end() : end], *paragraph.place(begin.start()))
    for start in paragraph.starts:
        if text.startswith("-", start) and (item := _ERROR.match(text, start)):
            place, _ = paragraph.place(item.start(1))
            yield Statement(item[2] or "", item[0], "", place, place + len(item[1]), item[1])


def _begins(paragraph: Paragraph) -> Iterator[re.Match[str]]:
    """Where sentences about versions begin; a line may also begin in the middle of one."""
    text = paragraph.text
    places = [start for start in paragraph.starts if text.startswith(_OPENERS, start)]
    if ". Version" in text:
        places = sorted({*places, *(match.start() + 2 for match in re.finditer(r"\. Version", text))})
    for place in places:
        begin = _BEGIN.match(text, place)
        if begin and (text[place] != "v" or text[:place].rstrip()[-1:] in ("", ".", ":", ")")):
            yield begin


def verb_of(rest: str) -> str:
    """What a sentence tells: adds, removes, same, flexible, or other."""
    if like_of(rest) >= 0:
        return "same"
    added, removed, place = re.search(_ADDS, rest), re.search(_REMOVES, rest), rest.find("flexible")
    found = [(match.start(), verb) for match, verb in ((added, "adds"), (removed, "removes")) if match]
    return min([*found, *([(place, "flexible")] if place >= 0 else [])], default=(0, "other"))[1]


def like_of(rest: str) -> int:
    """The version that a sentence says its own are the same as, or -1."""
    same = re.search(_SAME, rest) if "same" in rest or "identical" in rest else None
    return int(same[1]) if same else -1


def about_of(rest: str) -> str:
    """The request or response whose versions a sentence says it is about, or empty."""
    about = re.compile(_OF).match(rest) if rest.startswith(" of ") else None
    return about[1] if about else ""


def names_of(rest: str) -> tuple[Named, ...]:
    """The names that a sentence says its versions add."""
    return tuple(dict.fromkeys(_names(rest))) if "add" in rest or "ntroduc" in rest or "new field" in rest else ()


def _names(text: str) -> Iterator[Named]:
    """The names that stand right behind each verb of adding, as far as the list goes."""
    for verb in re.finditer(_ADDS, text):
        place = verb.end()
        while True:
            before = re.compile(_BEFORE).match(text, place)
            name = re.compile(_NAME).match(text, before.end() if before else place)
            if name is None:
                break
            after = re.compile(_AFTER).match(text, name.end())
            sure = bool(after and after[1]) or bool(before and "field" in before[0]) or "field" in verb[0]
            yield Named(name[0], sure or any(letter.isupper() for letter in name[0][1:]))
            following = re.compile(_NEXT).match(text, after.end() if after else name.end())
            if following is None:
                break
            place = following.end()
