"""What a file says outside its JSON: version notes in comments, the licence, and stray white space."""

from __future__ import annotations

import re

from kiplint.model.remarks import before_definition, body_start, places_of
from kiplint.versions import VersionRange

_COMMENT = rb"//[^\r\n]*"
_RANGE = r"(\d+)\s*(?:-|\bto\b|\bthrough\b)\s*(\d+)|(\d+)(\+?)"
# It begins as \b[Vv] does, which would be tried at every letter.
_TOLD = (
    r"[Vv](?<!\w.)(?i:ersions?)?\s*"
    r"(\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?(?:v(?:ersion)?\s*)?\d{1,5})*\+?)"
)
_SPACE_AT_END = rb"(?<![ \t])[ \t]++(?=\r?\n|\Z)"
# Each look from one "subject to" ends at the next, which finds all that is behind it.
_IN_FLUX = (
    rb"(?i)\bsubject to (?:(?!incompatible change|subject to )\w++ )*+incompatible change"
    rb"|may (?:still )?change incompatibly"
)


def names_plainly(data: bytes, version: int) -> bool:
    """Whether a comment after the licence speaks of the version in so many words: a look that costs nearly nothing."""
    words = b"ersion %d" % version
    places = places_of(words, data, body_start(data))
    ends = ((place, place + len(words)) for place in places)
    return any(not data[end : end + 1].isdigit() and _speaks_of(data, place) for place, end in ends)


def told_versions(data: bytes) -> VersionRange:
    """The versions that comments after the licence speak of: `Version 3`, `versions 1 to 3`, `v3`, `versions 2+`."""
    comments = re.compile(_COMMENT).findall(data, body_start(data))
    text = b"\n".join(comments).replace(b"/", b" ").decode(errors="replace")
    return read_versions(" ".join({*re.findall(_TOLD, text)}).replace("version", "").replace("v", ""))


def read_versions(text: str) -> VersionRange:
    """The versions that a text such as `3`, `0 and 1` or `2 through 4` names."""
    if text.isdigit():
        return VersionRange.of(*[min(int(text), 32767)] * 2)
    found = []
    for match in re.finditer(_RANGE, text):
        first = min(int(match[1] or match[3]), 32767)
        last = 32767 if match[4] else min(int(match[2] or match[3]), 32767)
        found.append((min(first, last), max(first, last)))
    return VersionRange(found)


def _speaks_of(data: bytes, place: int) -> bool:
    line = data[data.rfind(b"\n", 0, place) + 1 : place]
    return line.lstrip().startswith(b"//")


def has_licence(data: bytes) -> bool:
    """Whether a comment before the definition names a licence."""
    before = before_definition(data).lower()
    return b"licence" in before or b"license" in before


def trailing_spaces(data: bytes) -> int:
    """The number of lines that end in a blank or a tab."""
    return len(re.findall(_SPACE_AT_END, data))


def is_in_flux(data: bytes) -> bool:
    """Whether a comment says that the message may still change incompatibly."""
    if b"ncompatibl" not in data:
        return False
    text = b" ".join(line.lstrip(b"/ ") for line in re.compile(_COMMENT).findall(data))
    return re.search(_IN_FLUX, text) is not None
