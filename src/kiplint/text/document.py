"""Documents that have definitions in them: plain text, Markdown, or the HTML of a wiki, as a reader sees them.

What pasting has done to a text is undone character by character, so that every place keeps its line and column.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kiplint.text.lines import Lines

_SPACES: Final = dict.fromkeys(map(ord, "\u00a0\u1680\u2002\u2003\u2007\u2009\u200a\u202f\u205f\u3000"), " ")
_UNSEEN: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), " ")
_PASTED: Final = _SPACES | _UNSEEN
_QUOTED: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)+", re.MULTILINE)
"""How mail and Markdown mark lines that are quoted. No line of JSON begins so."""

_HTML: Final = re.compile(r"\A\s*+<[!?a-zA-Z]|</(?:p|pre|div|td|span|code|ac:plain-text-body)\s*>", re.IGNORECASE)
_MARKUP: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)
      | <!\[CDATA\[(?P<literal>.*?)(?:\]\]>|\Z)
      | <(?P<hidden>script|style)\b[^<>]*+>.*?(?:</(?P=hidden)\s*>|\Z)
      | </?(?P<tag>[a-zA-Z][\w:.-]*+)[^<>]*+>
      | <[!?][^<>]*+>
      | &(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});""",
    re.DOTALL | re.VERBOSE | re.IGNORECASE,
)
_BREAKS: Final = frozenset(re.findall(r"\w+", "br p div pre tr td th li ul ol table h1 h2 h3 h4 h5 h6 blockquote"))
"""The elements that begin a new line."""


class Document(msgspec.Struct, frozen=True, dict=True):
    """A document's `text`, and `plain`, what is to be read in it.

    `offsets` has for each character of `plain` where it stands in the text, and one for the end; `sizes` how many
    characters of the text it stands for, where that is not one.
    """

    text: str
    plain: str
    offsets: Sequence[int]
    sizes: Mapping[int, int] = {}

    def span(self, start: int, end: int, lines: Lines) -> tuple[int, int, int, int]:
        """The line, column, end line and end column, in the text, of a stretch of `plain`; `lines` are the text's."""
        first = self.offsets[start]
        if end <= start:
            return (*lines.position(first), *lines.position(first))
        last = self.offsets[end - 1] + self.sizes.get(end - 1, 1)
        return (*lines.position(first), *lines.position(last))


def read_document(text: str) -> Document:
    """A document out of its text, whatever it is; linear in its length."""
    if not _HTML.search(text):
        return Document(text, _mended(text), range(len(text) + 1))
    pieces: list[str] = []
    offsets = array("q")
    sizes: dict[int, int] = {}
    for shown, start, size in _shown(text):
        if size >= 0:  # one character for many
            sizes[len(offsets)] = size
            offsets.append(start)
        else:
            offsets.extend(range(start, start + len(shown)))
        pieces.append(shown)
    offsets.append(len(text))
    return Document(text, _mended("".join(pieces)), offsets, sizes)


def _shown(text: str) -> Iterator[tuple[str, int, int]]:
    """What HTML shows: pieces, where they stand, and the length of what a single character stands for, else -1."""
    done = 0
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        yield text[done:start], done, -1
        done = end
        if match["literal"] is not None:
            yield match["literal"], match.start("literal"), -1
        elif match["tag"] and match["tag"].lower() in _BREAKS:
            yield "\n", start, end - start
        elif text[start] == "&":
            shown = html.unescape(match.group())
            if len(shown) == 1:
                yield shown, start, end - start
            else:
                yield match.group(), start, -1
    yield text[done:], done, -1


def _mended(text: str) -> str:
    """The text with plain blanks for what looks like one, and for marks of quoting; as long as before."""
    spaced = text.translate(_PASTED)
    if ">" not in spaced:
        return spaced
    return _QUOTED.sub(lambda match: " " * len(match.group()), spaced)
