"""The comments of a definition as paragraphs, with the places of their lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, AnyStr, NamedTuple

from kiplint.model.fact import fact

if TYPE_CHECKING:
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


class Spoken:
    """An element of a comment or description: `place_in_file` are its first byte there, and the one behind its last."""

    def __init__(self, message: Message, start: int, end: int) -> None:
        self._message = message
        self.place_in_file = start, end

    @fact
    def message(self) -> Message:
        """The message in whose file it stands."""
        return self._message


def body_start(data: bytes) -> int:
    """Where the heading ends: the comments before the definition, down to those that name a licence; 0 without one.

    What stands between the licence and the definition are notes, as Kafka writes some there.
    """
    before = before_definition(data).lower()
    named = max(before.rfind(b"icen"), before.rfind(b"copyright"))
    if named < 0:
        return 0
    gap = re.compile(_EMPTY_LINE).search(before, named)
    return gap.start() + 1 if gap else len(before) + 1


def before_definition(data: bytes) -> bytes:
    """The comments before the definition, as far as it begins on a line of its own."""
    opening = data.find(_OPENING)
    return data[:opening] if opening > 0 and data[:1] != b"{" else b""


def places_of(part: AnyStr, text: AnyStr, start: int = 0) -> Iterator[int]:
    """Where a part stands in a text, one place after the other."""
    place = text.find(part, start)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def heading(data: bytes) -> str:
    """The licence before the definition, without the blanks around it."""
    return data[: body_start(data)].decode(errors="replace").strip()


def paragraphs(data: bytes) -> Iterator[Paragraph]:
    """The comments behind the heading."""
    start = body_start(data)
    lines: list[tuple[int, int]] = []
    for begin, end in _comment_lines(data, start):
        between = data[lines[-1][1] : begin] if lines else b""
        if between.strip() or between.count(b"\n") > 1:
            yield _paragraph(data, lines)
            lines = []
        lines.append((begin, end))
    if lines:
        yield _paragraph(data, lines)


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
        said = data[begin + 2 : end].rstrip()
        bare = said.lstrip()
        text = bare.decode(errors="replace")
        texts.append(text)
        starts.append(length)
        places.append(begin + 2 + len(said) - len(bare))
        length += len(text) + 1
    return Paragraph("\n".join(texts), tuple(starts), tuple(places))
