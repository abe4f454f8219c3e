"""The comments of a file: notes on versions, and what they say of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kiplint.versions import MAX_VERSION, VersionRange

if TYPE_CHECKING:
    from kiplint.model.fields import Field
    from kiplint.model.message import Message


_COMMENTS: Final = re.compile(rb"//[^\n]*(?:\n[ \t]*//[^\n]*)*")
_MARK: Final = re.compile(rb"(?m)^[ \t]*//")


def paragraphs(data: bytes) -> Iterator[re.Match[bytes]]:
    """The comments on consecutive lines, without those before the definition that name a licence."""
    opening = data.find(b"\n{")
    for match in _COMMENTS.finditer(data):
        words = match[0].lower() if match.start() < opening else b""
        if b"icen" not in words and b"copyright" not in words:
            yield match


_NUMBERS: Final = r"\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?\d{1,5})*\+?"
_BEGIN: Final = re.compile(
    rf"(?m)(?:^[ \t]*|\. )((?:(?:Starting|From|As of|Since)\b[a-z ]*?)?[Vv]ersions?\s+({_NUMBERS}))".encode()
)
# These are compiled where they are needed, which they rarely are.
_SAME: Final = r"(?i)\b(?:same\s+(?:as|with)|identical\s+(?:to|with))\s+(?:that\s+of\s+)?v(?:ersion)?\s*(\d{1,5})\b"
_LEADS_ON: Final = (
    rb"(?i)(?:\b(?:as|with|in|of|from|to|and|or|since|until|before|after|by|the|a|an|this|that|each|every|for|like|than|"
    rb"through|on|at|both|is|are|was|only|below|above|starting|between|protocol|request|response)|[,(/-])\Z"
)
_NAME: Final = r"(?=[a-z]*[A-Z])[A-Za-z][A-Za-z0-9]*\b(?![.\-_]\w|\s+[A-Z])"
# The words before a name are bounded, else a long row of them would be read again from each verb in it.
_ITEM: Final = (
    r"(?:(?:the|a|an|new|optional|also|two|tagged|top-level|per-[a-z-]+|fields?|called|named)\b|[\s'\"`]){0,20}"
    rf"{_NAME}['\"`]*\s*\b(?:fields?\b)?"
)
_ADDED: Final = (
    rf"\b(?:add(?:s|ed|ing)?|introduc(?:es|ed|ing)|new\s+fields?)\b{_ITEM}"
    rf"(?:\s*(?:,\s*(?:and\s+)?|and\s+|&\s*){_ITEM})*"
)


class Note:
    """A sentence about versions; `place_in_file` are the offsets in bytes of its first line."""

    message: Message
    """The message in whose file it stands."""

    def __init__(self, message: Message, place_in_file: tuple[int, int], versions: str, rest: str) -> None:
        self.message = message
        self.place_in_file = place_in_file
        self._versions = versions
        self._rest = rest

    @cached_property
    def versions(self) -> VersionRange:
        """The versions that the note is about."""
        return read_versions(self._versions)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that it adds: those right behind each verb of adding, as far as the list goes."""
        rest = self._rest
        if "add" not in rest and "ntroduc" not in rest and "new field" not in rest:
            return ()
        names = (name for match in re.finditer(_ADDED, rest) for name in re.findall(_NAME, match[0]))
        return tuple(dict.fromkeys(names))

    @cached_property
    def like(self) -> int:
        """The version that it calls the same as its own, or -1."""
        same = re.search(_SAME, self._rest) if "same" in self._rest or "identical" in self._rest else None
        return int(same[1]) if same else -1

    @cached_property
    def stray_names(self) -> tuple[str, ...]:
        """The fields that it adds, and that neither the message nor the other one of its RPC has.

        A name without a capital letter inside may be a word.
        """
        names = [name for name in self.names if any(letter.isupper() for letter in name[1:])]
        messages = self.message.schemas.by_name if names else {}
        if any(word in messages and word != self.message.name for word in re.findall(r"\w+", self._rest)):
            return ()  # it may well be a field of that message
        fields = self.message.fields_of_rpc if names else {}
        types = {field.element_type for group in fields.values() for field in group}
        return tuple(name for name in names if name.lower() not in fields and name not in types)

    @cached_property
    def misplaced(self) -> tuple[Field, ...]:
        """The fields that it adds, but that begin in other valid versions, in both messages of the RPC."""
        misplaced_fields = []
        for name in self.names:
            fields = self.message.fields_of_rpc.get(name.lower(), [])
            is_valid = fields and fields[0].versions & fields[0].message.valid
            if is_valid and not any(start in self.versions for field in fields for start in _starts(field)):
                misplaced_fields.append(fields[0])
        return tuple(misplaced_fields)


def _starts(field: Field) -> Iterator[int]:
    """Where a field, or a change of it, begins: no sooner than its struct."""
    begin = field.versions.lowest if field.top_level else max(field.versions.lowest, field.owner.versions.lowest)
    yield begin
    for part in (field.tagged, field.nullable):
        if part:
            yield max(begin, part.lowest)


def notes_of(message: Message) -> Iterator[Note]:
    """The notes of a file, in order: sentences that begin with versions, in comments on lines of their own."""
    data = message.data
    for paragraph in paragraphs(data):
        start = paragraph.start()
        if data[data.rfind(b"\n", 0, start) + 1 : start].strip():
            continue
        text = _MARK.sub(lambda mark: b" " * len(mark[0]), paragraph[0])
        begins = [begin for begin in _BEGIN.finditer(text) if not _goes_on(text, begin.start(1))]
        ends = [*(begin.start(1) for begin in begins[1:]), len(text)]
        for begin, end in zip(begins, ends, strict=False):
            line_end = text.find(b"\n", begin.start(1))
            line = text[begin.start(1) : line_end if line_end >= 0 else None].rstrip()
            place = start + begin.start(1), start + begin.start(1) + len(line)
            rest = " ".join(text[begin.end() : end].decode(errors="replace").split())
            yield Note(message, place, begin[2].decode(), rest)


def _goes_on(text: bytes, place: int) -> bool:
    """Whether a sentence that is written in lower case goes on here: its last word needs more, on the line before."""
    if not text.startswith(b"v", place):
        return False
    before = text[max(place - 100, 0) : place]
    words = before.rstrip()
    return before.count(b"\n", len(words)) < 2 and re.search(_LEADS_ON, words[-20:]) is not None


_RANGE = r"(\d+)\s*(?:-|\bto\b|\bthrough\b)\s*(\d+)|(\d+)(\+?)"
# It begins as \b[Vv] does, which would be tried at every letter.
_MENTION = (
    r"[Vv](?<!\w.)(?i:ersions?)?\s*"
    r"(\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?(?:v(?:ersion)?\s*)?\d{1,5})*\+?)"
)
# Each look from one "subject to" ends at the next, which matches all that is behind it.
_IN_FLUX = (
    rb"(?i)\bsubject to (?:(?!incompatible change|subject to )\w++ )*+incompatible change"
    rb"|may (?:still )?change incompatibly"
)


def documented_versions(data: bytes) -> VersionRange:
    """The versions that comments mention: `Version 3`, `versions 1 to 3`, `v3`, `versions 2+`."""
    text = b"\n".join(paragraph[0] for paragraph in paragraphs(data)).replace(b"/", b" ").decode(errors="replace")
    return read_versions(" ".join({*re.findall(_MENTION, text)}).replace("version", "").replace("v", ""))


def read_versions(text: str) -> VersionRange:
    """The versions that a text such as `3`, `0 and 1` or `2 through 4` names."""
    ranges = []
    for match in re.finditer(_RANGE, text):
        first = min(int(match[1] or match[3]), MAX_VERSION)
        last = MAX_VERSION if match[4] else min(int(match[2] or match[3]), MAX_VERSION)
        ranges.append((min(first, last), max(first, last)))
    return VersionRange(ranges)


def is_in_flux(data: bytes) -> bool:
    """Whether a comment states that the message may still change incompatibly."""
    if b"ncompatibl" not in data:
        return False
    text = b" ".join(line.lstrip(b"/ ") for line in re.findall(rb"//[^\r\n]*", data))
    return re.search(_IN_FLUX, text) is not None
