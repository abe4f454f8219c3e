"""The comments of a file: notes on versions, and what they say about fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from kiplint.versions import MAX_VERSION, NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.model.fields import Field
    from kiplint.model.message import Message


_COMMENTS: Final = re.compile(rb"//[^\n]*(?:\n[ \t]*//[^\n]*)*")
_MARK: Final = re.compile(rb"(?m)^[ \t]*//")


def paragraphs(data: bytes) -> Iterator[re.Match[bytes]]:
    """The comments of a file, those on consecutive lines as one; without a licence before the definition."""
    definition_start = data.find(b"\n{")
    for match in _COMMENTS.finditer(data):
        words = match[0].lower()
        names_licence = b"icen" in words or b"copyright" in words  # license and licence
        if match.start() >= definition_start or not names_licence:
            yield match


_NUMBERS: Final = r"\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?\d{1,5})*\+?"
_BEGINNING: Final = re.compile(
    r"(?m)(?:^[ \t]*|\. )(?P<opening>(?:(?:Starting|From|As of|Since)\b[a-z ]*?)?[Vv]ersions?\s+"
    rf"(?P<versions>{_NUMBERS}))".encode()
)
# The other patterns are compiled when they are needed, which is rarely.
_SAME: Final = r"(?i)\b(?:same\s+(?:as|with)|identical\s+(?:to|with))\s+(?:that\s+of\s+)?v(?:ersion)?\s*(\d{1,5})\b"
_OPEN_ENDING: Final = (
    rb"(?i)(?:\b(?:as|with|in|of|from|to|and|or|since|until|before|after|by|the|a|an|this|that|each|every|for|like|than|"
    rb"through|on|at|both|is|are|was|only|below|above|starting|between|protocol|request|response)|[,(/-])\Z"
)
_NAME: Final = r"(?=[a-z]*[A-Z])[A-Za-z][A-Za-z0-9]*\b(?![.\-_]\w|\s+[A-Z])"
# The words before a name are bounded: otherwise a long row of them would be read again from each verb in it.
_ITEM: Final = (
    r"(?:(?:the|a|an|new|optional|also|two|tagged|top-level|per-[a-z-]+|fields?|called|named)\b|[\s'\"`]){0,20}"
    rf"{_NAME}['\"`]*\s*\b(?:fields?\b)?"
)
_ADDED: Final = (
    rf"\b(?:add(?:s|ed|ing)?|introduc(?:es|ed|ing)|new\s+fields?)\b{_ITEM}"
    rf"(?:\s*(?:,\s*(?:and\s+)?|and\s+|&\s*){_ITEM})*"
)


class Note:
    """A sentence of a comment that begins with versions, such as `Version 3 adds the Reason field.`

    `span_in_file` are the first and the last offset of its first line in the file, in bytes; `versions_text` is `3`;
    `text` is what comes after, `adds the Reason field.`; `sentence` is all of it, with those that follow.
    """

    message: Message
    """The message of the file that contains it."""
    versions: VersionRange
    """The versions that the note is about."""
    text: str
    """What it says after the versions, such as `adds the Reason field.`"""
    sentence: str
    """All of it, with the sentences that follow."""

    def __init__(
        self, message: Message, span_in_file: tuple[int, int], versions_text: str, text: str, sentence: str
    ) -> None:
        self.message = message
        self.span_in_file = span_in_file
        self.versions = read_versions(versions_text)
        self.text = text
        self.sentence = sentence

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that it adds, such as `Nodes` and `Racks` of `Version 2 adds Nodes and Racks.`"""
        may_add = "add" in self.text or "ntroduc" in self.text or "new field" in self.text
        if not may_add:  # most notes, and the patterns are slow
            return ()
        lists = [match[0] for match in re.finditer(_ADDED, self.text)]
        return tuple(dict.fromkeys(name for text in lists for name in re.findall(_NAME, text)))

    @cached_property
    def same_as(self) -> int | None:
        """The version that the note says its own is the same as, or None."""
        may_compare = "same" in self.text or "identical" in self.text
        match = re.search(_SAME, self.text) if may_compare else None
        return int(match[1]) if match else None

    @cached_property
    def stray_names(self) -> tuple[str, ...]:
        """The names that it adds, but that neither the message nor the other one of its RPC has as a field or struct.

        Names without an inner capital letter are ignored, because they may be ordinary words. There are none if the
        note names another message, as its names may be fields of that message.
        """
        names = [name for name in self.names if any(letter.isupper() for letter in name[1:])]
        if not names:
            return ()
        other_words = {*re.findall(r"\w+", self.text)} - {self.message.name}
        if any(word in self.message.schemas.by_name for word in other_words):
            return ()
        fields_by_lower_name = self.message.fields_of_rpc
        struct_names = {field.element_type for fields in fields_by_lower_name.values() for field in fields}
        return tuple(name for name in names if name.lower() not in fields_by_lower_name and name not in struct_names)

    @cached_property
    def misplaced(self) -> tuple[Field, ...]:
        """The fields that it adds, but that begin, or become tagged or nullable, in none of its versions.

        A field of the same name in the other message of the RPC may do so instead.
        """
        misplaced_fields = []
        for name in self.names:
            fields = self.message.fields_of_rpc.get(name.lower(), [])  # those of the message itself come first
            if not fields or not fields[0].versions & fields[0].message.valid:
                continue
            starts = [version for field in fields for version in _starts(field)]
            if not any(version in self.versions for version in starts):
                misplaced_fields.append(fields[0])
        return tuple(misplaced_fields)


def _starts(field: Field) -> Iterator[int]:
    """The versions in which a field begins, and in which it becomes tagged or nullable: no sooner than its struct."""
    first = field.versions.lowest if field.top_level else max(field.versions.lowest, field.owner.versions.lowest)
    yield first
    for versions in (field.tagged, field.nullable):
        if versions:
            yield max(first, versions.lowest)


def notes_of(message: Message) -> Iterator[Note]:
    """The notes of a file, in order: sentences that begin with versions, in comments on lines of their own."""
    data = message.data
    for paragraph in paragraphs(data):
        paragraph_start = paragraph.start()
        line_start = data.rfind(b"\n", 0, paragraph_start) + 1
        if data[line_start:paragraph_start].strip():
            continue
        text = _MARK.sub(lambda mark: b" " * len(mark[0]), paragraph[0])  # as long as before, so that offsets hold
        for beginning, end in _sentences(text):
            start = beginning.start("opening")
            line_end = text.find(b"\n", start)
            first_line = text[start : line_end if line_end >= 0 else len(text)].rstrip()
            span = paragraph_start + start, paragraph_start + start + len(first_line)
            words = _words(text[beginning.end() : end])
            yield Note(message, span, beginning["versions"].decode(), words, _words(text[start:end]))


def _words(text: bytes) -> str:
    """The words of a text with single spaces between them."""
    return " ".join(text.decode(errors="replace").split())


def sentences_on(message: Message, versions: VersionRange) -> str:
    """What the comments of a definition say of versions, a line for each sentence that begins with one of them."""
    return "\n".join(note.sentence for note in message.notes if note.versions & versions)


def subject_versions(sentence: str) -> VersionRange:
    """The versions that a line of `sentences_on` begins with."""
    beginning = _BEGINNING.match(sentence.encode())
    return read_versions(beginning["versions"].decode()) if beginning else NONE


def prose(data: bytes) -> str:
    """The words of the comments on lines of their own, without a licence and without comments for kiplint."""
    texts = []
    for paragraph in paragraphs(data):
        line_start = data.rfind(b"\n", 0, paragraph.start()) + 1
        if not data[line_start : paragraph.start()].strip() and b"kiplint:" not in paragraph[0]:
            texts.append(_words(_MARK.sub(b" ", paragraph[0])))
    return " ".join(texts)


def _sentences(text: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """The beginning of each sentence that begins with versions, and the offset at which the next one begins."""
    matches = _BEGINNING.finditer(text)
    beginnings = [match for match in matches if not _continues_sentence(text, match.start("opening"))]
    for beginning, following in zip_longest(beginnings, beginnings[1:]):
        yield beginning, following.start("opening") if following else len(text)


def _continues_sentence(text: bytes, start: int) -> bool:
    """Whether `version 3` at `start` goes on with a sentence, as after `only in`, on this line or the one above."""
    if not text.startswith(b"v", start):  # a capital begins a sentence
        return False
    before = text[max(start - 100, 0) : start]
    words = before.rstrip()
    line_ends = before.count(b"\n", len(words))
    return line_ends < 2 and re.search(_OPEN_ENDING, words[-20:]) is not None


_RANGE = r"(?P<first>\d+)\s*(?:-|\bto\b|\bthrough\b)\s*(?P<last>\d+)|(?P<single>\d+)(?P<plus>\+?)"
# It begins as \b[Vv] does, which would be tried at every letter.
_MENTION = (
    r"[Vv](?<!\w.)(?i:ersions?)?\s*"
    r"(\d{1,5}(?:\s*(?:-|,|&|\b(?:to|through|and|or)\b)[\s,]*(?:and\s+)?(?:v(?:ersion)?\s*)?\d{1,5})*\+?)"
)
# The search from one "subject to" ends at the next, so that it takes linear time.
_INCOMPATIBLE = rb"(?:incompatible|non-backwards?-compatible) change"
_IN_FLUX = rb"(?i)\bsubject to (?:(?!%b|subject to )\w++ )*+%b|may (?:still )?change incompatibly" % (
    _INCOMPATIBLE,
    _INCOMPATIBLE,
)


def documented_versions(data: bytes) -> VersionRange:
    """The versions that comments mention: `Version 3`, `versions 1 to 3`, `v3`, `versions 2+`."""
    comments = b"\n".join(paragraph[0] for paragraph in paragraphs(data))
    text = comments.replace(b"/", b" ").decode(errors="replace")
    mentions = {*re.findall(_MENTION, text)}  # such as `1 to version 4`
    return read_versions(" ".join(mentions).replace("version", "").replace("v", ""))


def read_versions(text: str) -> VersionRange:
    """The versions that a text such as `3`, `0 and 1` or `2 through 4` names."""
    intervals = []
    for match in re.finditer(_RANGE, text):
        first = min(int(match["first"] or match["single"]), MAX_VERSION)
        last = MAX_VERSION if match["plus"] else min(int(match["last"] or match["single"]), MAX_VERSION)
        intervals.append((min(first, last), max(first, last)))
    return VersionRange(intervals)


def is_in_flux(data: bytes) -> bool:
    """Whether a comment states that the message may still change incompatibly."""
    if b"ncompatibl" not in data and b"-compatible" not in data:  # as in nearly all files
        return False
    text = b" ".join(line.lstrip(b"/ ") for line in re.findall(rb"//[^\r\n]*", data))
    return re.search(_IN_FLUX, text) is not None
