"""Documents with definitions in them: plain text, Markdown, or the HTML of a wiki, as a reader sees them.

Pasted quotes and blanks are replaced character by character, so that everything keeps its line and column.
"""

from __future__ import annotations

import html
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from kiplint.text.lines import Lines

OWN: Final = "validVersions"
"""The property that a definition has, and nothing else."""

QUOTES: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_FOLD: Final = r"""\r?\n(?![ \t]*+["{}\[\]\r\n])"""
"""A line end inside of a string, which wrapping has put there: what begins the next line is not JSON."""
_TOKEN: Final = re.compile(
    rf"""(?P<string>"(?:[^"\\\r\n]++|\\.)*+")
      | (?P<folded>"(?:[^"\\\r\n]++|\\.)*+(?:{_FOLD}(?:[^"\\\r\n]++|\\.)*+){{1,9}}+"(?=\s*+[,:}}\]]))
      | (?P<curly>[{QUOTES}][^{QUOTES}"\r\n]*+(?:{_FOLD}[^{QUOTES}"\r\n]*+){{0,9}}+[{QUOTES}](?=\s*+[,:}}\]]))
      | (?P<line>//[^\r\n]*+)
      | (?P<block>/\*)
      | (?P<escape>\\++"?+)
      | [{{}}]""",
    re.VERBOSE,
)
_COLON: Final = re.compile(r"\s*+:")
_FENCE: Final = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)
_PART: Final = frozenset(("name", "type", "versions"))
_MESSAGE: Final = frozenset(("name", "type", "fields"))


class Block(msgspec.Struct, frozen=True, dict=True):
    """A definition: `text` is the document from `start` to `end`, of the same length, with its strings repaired."""

    start: int
    end: int
    text: str

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def offset(self, line: int, column: int) -> int:
        """The offset in the document of a line and column of the definition."""
        starts = self._lines.starts
        return self.start + min(starts[min(line, len(starts)) - 1] + column - 1, len(self.text))


class DocumentBlocks(NamedTuple):
    """What a document has: its definitions in order, and where fields stand that belong to neither these nor fields."""

    blocks: tuple[Block, ...]
    loose: tuple[int, ...]


class _Element(NamedTuple):
    start: int
    keys: set[str]


class _Scan:
    """One pass: what closes, what does not, and the characters to write otherwise."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.replacements: dict[int, str] = {}
        self.stack: list[_Element] = []
        self.closed: list[tuple[int, int]] = []
        self.loose: list[int] = []
        self.last_closing = text.rfind("*/")
        at = 0
        while match := _TOKEN.search(text, at):
            at = self._token(match)

    def _token(self, match: re.Match[str]) -> int:
        """Take a token; returns the position to continue at."""
        kind, start, end = match.lastgroup, match.start(), match.end()
        if kind == "block":
            closes = self.stack and end <= self.last_closing  # asked first: each search that fails reads all the rest
            return self.text.find("*/", end) + 2 if closes else end
        if kind == "escape":  # a quote behind an odd number of backslashes begins no string: one that is open has it
            return end - 1 if (end - start) % 2 and self.text[end - 1] == '"' else end
        if kind == "line":
            return end
        if kind:
            self._string(kind, start, end)
        elif match.group() == "{":
            self.stack.append(_Element(start, set()))
        elif self.stack:
            self._close(self.stack.pop(), end)
        return end

    def _string(self, kind: str, start: int, end: int) -> None:
        if not self.stack:
            return
        if kind == "curly":
            self.replacements |= {start: '"', end - 1: '"'}
        if kind != "string":
            inside = self.text[start:end]
            self.replacements.update((start + n, " ") for n, char in enumerate(inside) if char in "\r\n")
        if _COLON.match(self.text, end):
            self.stack[-1].keys.add(self.text[start + 1 : end - 1])

    def _close(self, frame: _Element, end: int) -> None:
        if OWN in frame.keys or (frame.keys >= _MESSAGE and "versions" not in frame.keys):
            self.closed.append((frame.start, end))
        elif frame.keys >= _PART:
            while self.loose and self.loose[-1] > frame.start:
                self.loose.pop()
            self.loose.append(frame.start)


def find_blocks(text: str) -> DocumentBlocks:
    """The definitions of a document, and its loose fields; in linear time."""
    scan = _Scan(text)
    spans = [*scan.closed, *_unclosed_spans(text, scan)]
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or start >= outermost[-1][1]:  # no definition stands in another
            outermost.append((start, end))
    begins = [start for start, _ in outermost]
    loose = [at for at in scan.loose if not (n := bisect_right(begins, at)) or at >= outermost[n - 1][1]]
    return DocumentBlocks(tuple(_block(text, scan.replacements, *span) for span in outermost), tuple(loose))


def _unclosed_spans(text: str, scan: _Scan) -> Iterator[tuple[int, int]]:
    """The definitions that never close: up to the next one, the end of their fence, or the last line of JSON."""
    open_ones = [frame.start for frame in scan.stack if OWN in frame.keys]
    limits = sorted({*(start for start, _ in scan.closed), *open_ones, len(text)})
    for start in open_ones:
        limit = limits[bisect_right(limits, start)]
        fence = _FENCE.search(text, start, limit)
        end = fence.start() if fence else limit
        lines = text[start:end].splitlines(keepends=True)
        while lines and not lines[-1].rstrip().endswith(("}", "]", ",", '"', "{", "[")):
            lines.pop()
        yield start, start + len("".join(lines).rstrip())


def _block(text: str, replacements: dict[int, str], start: int, end: int) -> Block:
    inner = text[start:end]
    if replacements:
        inner = "".join(replacements.get(at, char) for at, char in enumerate(inner, start))
    return Block(start, end, inner)


_SPACES: Final = dict.fromkeys(map(ord, "\u00a0\u1680\u2002\u2003\u2007\u2009\u200a\u202f\u205f\u3000"), " ")
_UNSEEN: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), " ")
_ODD_CHARACTERS: Final = _SPACES | _UNSEEN
_QUOTE_MARKS: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)+", re.MULTILINE)
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
_BREAKS: Final = frozenset(re.findall(r"\w+", "br p div pre tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote"))
"""The elements that begin a new line."""
_CELLS: Final = frozenset(("td", "th"))


class ShownDocument(msgspec.Struct, frozen=True, dict=True):
    """A document's `text`, and `plain`, what is to be read in it.

    `offsets` has for each character of `plain` where it stands in the text, and one for the end; `sizes` how many
    characters of the text it stands for, where that is not one.
    """

    text: str
    plain: str
    offsets: Sequence[int]
    sizes: Mapping[int, int] = {}

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    def span(self, start: int, end: int) -> tuple[int, int, int, int]:
        """The line, column, end line and end column, in the text, of a part of `plain`."""
        lines = self.lines
        first = self.offsets[start]
        if end <= start:
            return (*lines.position(first), *lines.position(first))
        last = self.offsets[end - 1] + self.sizes.get(end - 1, 1)
        return (*lines.position(first), *lines.position(last))


def read_document(text: str) -> ShownDocument:
    """A document out of its text, whatever it is; linear in its length."""
    if not _HTML.search(text):
        return ShownDocument(text, _plain(text), range(len(text) + 1))
    parts: list[str] = []
    offsets = array("q")
    sizes: dict[int, int] = {}
    for part, start, size in _parts(text):
        if size >= 0:  # one character for many
            sizes[len(offsets)] = size
            offsets.append(start)
        else:
            offsets.extend(range(start, start + len(part)))
        parts.append(part)
    offsets.append(len(text))
    return ShownDocument(text, _plain("".join(parts)), offsets, sizes)


def _parts(text: str) -> Iterator[tuple[str, int, int]]:
    """What HTML shows: parts, where they stand, and the length of what a single character stands for, else -1."""
    end_of_last = 0
    in_cell = False
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        yield text[end_of_last:start], end_of_last, -1
        end_of_last = end
        tag = (match["tag"] or "").lower()
        if match["literal"] is not None:
            yield match["literal"], match.start("literal"), -1
        elif tag in _CELLS:
            in_cell = text[start + 1] != "/"
            yield "\t" if in_cell else " ", start, end - start
        elif tag in _BREAKS:
            yield " " if in_cell and tag == "p" else "\n", start, end - start
        elif text[start] == "&":
            characters = html.unescape(match.group())
            if len(characters) == 1:
                yield characters, start, end - start
            else:
                yield match.group(), start, -1
    yield text[end_of_last:], end_of_last, -1


def _plain(text: str) -> str:
    """The text with plain blanks for what looks like one, and for marks of quoting; as long as before."""
    text = text.translate(_ODD_CHARACTERS)
    if ">" not in text:
        return text
    return _QUOTE_MARKS.sub(lambda match: " " * len(match.group()), text)
