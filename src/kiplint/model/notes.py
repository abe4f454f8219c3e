"""What a file says outside its JSON: version notes in comments, the licence, and stray white space."""

from __future__ import annotations

import re

_COMMENT = re.compile(rb"//[^\r\n]*")
_HEADING = re.compile(rb"\s*(?://[^\r\n]*\s*)*")
_NOTE = re.compile(rb"(?i)\bv(?:ersions?)?\s*([0-9]+(?:\s*(?:-|to|through|and|,|&)\s*(?:v(?:ersion)?\s*)?[0-9]+)*)")
_NUMBER = re.compile(rb"[0-9]+")
_SPACE_AT_END = re.compile(rb"[ \t]+(?=\r?\n|\Z)")


def names_version(data: bytes, version: int) -> bool:
    """Whether a comment after the licence speaks of the version: `Version 3`, `versions 1 to 3`, `v3`."""
    text = b" ".join(line.lstrip(b"/ ") for line in _COMMENT.findall(data, _licence_end(data)))
    for note in _NOTE.finditer(text):
        numbers = [int(number[:6]) for number in _NUMBER.findall(note[1])]
        if version in numbers or min(numbers) <= version <= max(numbers):
            return True
    return False


def has_licence(data: bytes) -> bool:
    """Whether a comment before the definition names a licence."""
    return re.search(rb"(?i)licen[cs]e", _heading(data)) is not None


def trailing_spaces(data: bytes) -> int:
    """The number of lines that end in a blank or a tab."""
    return len(_SPACE_AT_END.findall(data))


def _heading(data: bytes) -> bytes:
    match = _HEADING.match(data)
    return match[0] if match else b""


def _licence_end(data: bytes) -> int:
    return len(_heading(data)) if has_licence(data) else 0
