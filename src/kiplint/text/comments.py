"""Comments: `//` to the end of the line and `/* */`, outside strings.

Strings are those of JSON5 (double or single quotes), and a string that is not closed ends with its line
unless a backslash stands before the line end. So one missing quote never hides a whole file. A block comment that
is not closed reaches to the end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

_STRING: Final = r"""
    "(?:[^"\\\r\n]++|\\(?:\r\n|.))*+"?+
  | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+'?+
"""
_COMMENT: Final = r"""
    //[^\r\n]*+
  | /\*.*?(?:\*/|\Z)
"""
_TOKEN: Final = f"(?xs){_STRING} | (?P<comment>{_COMMENT})"  # compiled when needed: clean definitions never do
_LINE_COMMENTS: Final = re.compile(rb"//[^\r\n]*+(?:[ \t\r\n]++//[^\r\n]*+)*+")

_BLANKS: Final = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_NOT_LINE_END: Final = r"[^\r\n]"


class Comment(msgspec.Struct, frozen=True):
    """One comment; `start` and `end` are half-open character offsets and take in the comment marks."""

    start: int
    end: int
    block: bool

    def body(self, text: str) -> str:
        """What the comment says, without its marks and outer white space; `text` is the text it was found in."""
        closed = self.block and self.end - self.start >= 4 and text.endswith("*/", self.start, self.end)
        return text[self.start + 2 : self.end - 2 if closed else self.end].strip()


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a text, in order; in linear time."""
    for match in re.finditer(_TOKEN, text):
        if match["comment"] is not None:
            start, end = match.span()
            yield Comment(start, end, block=text[start + 1] == "*")


def blank_comments(data: bytes) -> bytes:
    """The same bytes with every comment made of spaces; line ends, strings and the length stay as they are."""
    return _blank_exactly(data) if b"/*" in data else blank_line_comments(data)


def blank_line_comments(data: bytes) -> bytes:
    """Like `blank_comments`, but when a block comment is present the result need only stay invalid as strict JSON.

    This is what the fast path wants: strict JSON has no '/' outside strings, so a block comment left in place
    makes the decoder refuse the text, and comments that merely contain `/*` cost nothing.
    """
    if b"//" not in data:
        return data
    if b"\\" in data and (b"\\\n" in data or b"\\\r" in data):
        return _blank_exactly(data, keep_blocks=True)
    parts: list[bytes] = []
    done = 0
    for match in _LINE_COMMENTS.finditer(data):
        start, end = match.span()
        code = data[done:start]
        line = code[max(code.rfind(b"\n"), code.rfind(b"\r")) + 1 :]
        # No string spans lines without a backslash at a line's end, so the line alone tells whether we are in one.
        doubtful = line.count(b'"') % 2 or b"'" in line or b"\\" in line or b"/*" in line
        if doubtful and line.strip(b" \t"):
            return _blank_exactly(data, keep_blocks=True)
        parts += (code, match.group().translate(_BLANKS))
        done = end
    parts.append(data[done:])
    return b"".join(parts)


def blank_text(text: str) -> str:
    """`blank_comments` for a decoded text."""
    return re.sub(_TOKEN, _blank_text_match, text)


def _blank_text_match(match: re.Match[str]) -> str:
    return match.group() if match["comment"] is None else re.sub(_NOT_LINE_END, " ", match.group())


def _blank_exactly(data: bytes, *, keep_blocks: bool = False) -> bytes:
    def replacement(match: re.Match[bytes]) -> bytes:
        found = match.group()
        if match["comment"] is None or (keep_blocks and found.startswith(b"/*")):
            return found
        return found.translate(_BLANKS)

    return re.sub(_TOKEN.encode(), replacement, data)
