"""The comments of a file: version notes, behind the licence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kiplint.text.lines import line_of, without_blanks
from kiplint.versions import MAX_VERSION, VersionRange

if TYPE_CHECKING:
    from kiplint.model.fields import Field
    from kiplint.model.message import Message


_OPENING = b"\n{"
_EMPTY_LINE = rb"\n[ \t\r]*\n"


class Paragraph(NamedTuple):
    """Comment lines that stand together, joined by line ends; they start at `starts` in it, at `places` in the file."""

    text: str
    starts: tuple[int, ...]
    places: tuple[int, ...]

    def place(self, offset: int) -> tuple[int, int]:
        """Where in the file's bytes the text from `offset` to the end of its line stands."""
        line = bisect_right(self.starts, offset) - 1
        behind = self.text.find("\n", offset)
        start = self.places[line] + len(self.text[self.starts[line] : offset].encode())
        return start, start + len(self.text[offset : behind if behind >= 0 else None].encode())


def body_start(data: bytes) -> int:
    """The end of the heading: the comments before the definition, down to those that name a licence; 0 if none does.

    What stands between the licence and the definition are notes, as Kafka writes some there.
    """
    before = before_definition(data).lower()
    name_end = max(before.rfind(b"icen"), before.rfind(b"copyright"))
    if name_end < 0:
        return 0
    gap = re.compile(_EMPTY_LINE).search(before, name_end)
    return gap.start() + 1 if gap else len(before) + 1


def before_definition(data: bytes) -> bytes:
    """The comments before the definition, as far as it begins on a line of its own."""
    opening = data.find(_OPENING)
    return data[:opening] if opening > 0 and data[:1] != b"{" else b""


def paragraphs(data: bytes) -> Iterator[Paragraph]:
    """The comments behind the heading."""
    groups: list[list[tuple[int, int]]] = []
    last = 0
    for begin, end in _comment_lines(data, body_start(data)):
        between = data[last:begin]
        if not groups or between.strip() or between.count(b"\n") > 1:
            groups.append([])
        groups[-1].append((begin, end))
        last = end
    return (_paragraph(data, lines) for lines in groups)


def _comment_lines(data: bytes, start: int) -> Iterator[tuple[int, int]]:
    """The comments that have a line of their own, without its end."""
    place = data.find(b"//", start)
    while place >= 0:
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        if not data[data.rfind(b"\n", 0, place) + 1 : place].strip():
            yield place, end
        place = data.find(b"//", end)


def _paragraph(data: bytes, lines: list[tuple[int, int]]) -> Paragraph:
    texts, starts, places = [], [], []
    length = 0
    for begin, end in lines:
        comment = data[begin + 2 : end].rstrip()
        bare = comment.lstrip()
        text = bare.decode(errors="replace")
        texts.append(text)
        starts.append(length)
        places.append(begin + 2 + len(comment) - len(bare))
        length += len(text) + 1
    return Paragraph("\n".join(texts), tuple(starts), tuple(places))


_NUMBERS: Final = r"\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?\d{1,5})*\+?"
_OPENERS: Final = ("Version", "version", "Starting", "From", "As of", "Since")
# Those that nearly every definition needs are compiled at once, the others where they are.
_BEGIN: Final = re.compile(rf"(?:(?:Starting|From|As of|Since)\b[a-z ]*?)?[Vv]ersions?\s+({_NUMBERS})")
SAME: Final = r"(?i)\b(?:same\s+(?:as|with)|identical\s+(?:to|with))\s+(?:that\s+of\s+)?v(?:ersion)?\s*(\d{1,5})\b"
_LEADS_ON: Final = (
    r"(?i)(?:\b(?:as|with|in|of|from|to|and|or|since|until|before|after|by|the|a|an|this|that|each|every|for|like|than|"
    r"through|on|at|both|is|are|was|only|below|above|starting|between|protocol|request|response)|[,(/-])\Z"
)
_ADDS: Final = r"\b(?:add(?:s|ed|ing)?|introduc(?:es|ed|ing)|new\s+fields?)\b"
_BEFORE: Final = r"(?:(?:the|a|an|new|optional|also|two|tagged|top-level|per-[a-z-]+|fields?|called|named)\b|[\s'\"`])*"
_NAME: Final = r"(?=[a-z]*[A-Z])[A-Za-z][A-Za-z0-9]*\b(?![.\-_]\w|\s+[A-Z])"
_AFTER: Final = r"['\"`]*\s*\b(fields?\b)?"
_NEXT: Final = r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)"


class FieldMention(NamedTuple):
    """A name in a note, and whether the words around it show that it is a field's."""

    name: str
    sure: bool


class Statement(NamedTuple):
    """A sentence about versions; `rest` is what follows the versions.

    `start` and `end` are where its first line stands in the file's bytes.
    """

    versions: str
    text: str
    rest: str
    start: int
    end: int


def statements(paragraph: Paragraph) -> Iterator[Statement]:
    """The sentences of a paragraph that begin with versions."""
    text = paragraph.text
    begins = list(_begins(paragraph))
    ends = [*(begin.start() for begin in begins[1:]), len(text)]
    for begin, end in zip(begins, ends, strict=False):
        yield Statement(begin[1], text[begin.start() : end], text[begin.end() : end], *paragraph.place(begin.start()))


def _begins(paragraph: Paragraph) -> Iterator[re.Match[str]]:
    """Where sentences about versions begin; a line that begins in lower case may continue a sentence."""
    text = paragraph.text
    places = [start for start in paragraph.starts if text.startswith(_OPENERS, start)]
    if ". Version" in text or ". version" in text:
        places = sorted({*places, *(match.start() + 2 for match in re.finditer(r"\. [Vv]ersion", text))})
    for place in places:
        begin = _BEGIN.match(text, place)
        if begin and (text[place] != "v" or not _goes_on(text, place)):
            yield begin


def _goes_on(text: str, place: int) -> bool:
    """Whether the sentence before a line goes on in it: no empty line is between, and its last word needs more."""
    before = without_blanks(text, place, " \t\r\n")
    return text.count("\n", before, place) < 2 and re.search(_LEADS_ON, text[max(before - 20, 0) : before]) is not None


def like_of(rest: str) -> int:
    """The version that a sentence calls the same as its own, or -1."""
    same = re.search(SAME, rest) if "same" in rest or "identical" in rest else None
    return int(same[1]) if same else -1


def names_of(rest: str) -> tuple[FieldMention, ...]:
    """The names of the fields that a sentence reports as added."""
    return tuple(dict.fromkeys(_names(rest))) if "add" in rest or "ntroduc" in rest or "new field" in rest else ()


def _names(text: str) -> Iterator[FieldMention]:
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
            yield FieldMention(name[0], sure or any(letter.isupper() for letter in name[0][1:]))
            following = re.compile(_NEXT).match(text, after.end() if after else name.end())
            if following is None:
                break
            place = following.end()


_COMMENT = rb"//[^\r\n]*"
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
    """The versions that comments after the licence mention: `Version 3`, `versions 1 to 3`, `v3`, `versions 2+`."""
    comments = re.compile(_COMMENT).findall(data, body_start(data))
    text = b"\n".join(comments).replace(b"/", b" ").decode(errors="replace")
    return read_versions(" ".join({*re.findall(_MENTION, text)}).replace("version", "").replace("v", ""))


def read_versions(text: str) -> VersionRange:
    """The versions that a text such as `3`, `0 and 1` or `2 through 4` names."""

    def version(digits: str) -> int:
        return min(int(digits), MAX_VERSION)

    if text.isdigit():
        return VersionRange.of(version(text), version(text))
    ranges = []
    for match in re.finditer(_RANGE, text):
        first = version(match[1] or match[3])
        last = MAX_VERSION if match[4] else version(match[2] or match[3])
        ranges.append((min(first, last), max(first, last)))
    return VersionRange(ranges)


def is_in_flux(data: bytes) -> bool:
    """Whether a comment states that the message may still change incompatibly."""
    if b"ncompatibl" not in data:
        return False
    text = b" ".join(line.lstrip(b"/ ") for line in re.compile(_COMMENT).findall(data))
    return re.search(_IN_FLUX, text) is not None


class Note:
    """One sentence about versions; `place_in_file` are the offsets of its first byte and behind its last."""

    message: Message
    """The message in whose file it stands."""

    def __init__(self, statement: Statement, message: Message) -> None:
        self.message = message
        self.place_in_file = statement.start, statement.end
        self._statement = statement

    @cached_property
    def versions(self) -> VersionRange:
        """The versions that the note is about."""
        return read_versions(self._statement.versions)

    @cached_property
    def _additions(self) -> tuple[FieldMention, ...]:
        return names_of(self._statement.rest)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that it adds."""
        return tuple(addition.name for addition in self._additions)

    @cached_property
    def text(self) -> str:
        """The text, with single blanks."""
        return " ".join(self._statement.text.split())

    @cached_property
    def place(self) -> int:
        """The line of the file that it begins on."""
        return line_of(self.message.data, self._statement.start)

    @cached_property
    def like(self) -> int:
        """The version that it calls the same as its own, or -1."""
        return like_of(self._statement.rest)

    @cached_property
    def _by_name(self) -> dict[str, list[Field]]:
        return self.message.fields_of_rpc

    @cached_property
    def stray_names(self) -> tuple[str, ...]:
        """The fields that it adds, and that neither the message nor the other one of its RPC has."""
        if not self._additions:
            return ()
        fields_by_name = self._by_name
        messages = self.message.schemas.by_name
        if any(word in messages and word != self.message.name for word in re.findall(r"\w+", self._statement.text)):
            return ()  # it may well be a field of that message
        types = {field.element_type for fields in fields_by_name.values() for field in fields}
        return tuple(
            addition.name
            for addition in self._additions
            if addition.sure and addition.name.lower() not in fields_by_name and addition.name not in types
        )

    @cached_property
    def misplaced(self) -> tuple[Field, ...]:
        """The fields that it adds, but that begin in other valid versions, in both messages of the RPC."""
        misplaced_fields = []
        for addition in self._additions:
            fields = self._by_name.get(addition.name.lower(), [])
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
    """The notes of a message's file, in order."""
    for paragraph in message.paragraphs:
        for statement in statements(paragraph):
            yield Note(statement, message)
