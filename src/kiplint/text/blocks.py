"""The definitions in a document: the JSON objects that say `validVersions`, wherever they stand.

One pass over the text, with a stack of open braces. Prose around them may have braces and quotes too: only what
closes counts, and of what does not close what looks like a definition, so that a slip in one is found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

OWN: Final = "validVersions"
"""The property that a definition has, and nothing else."""

QUOTES: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_FOLD: Final = r"""\r?\n(?![ \t]*+["{}\[\]\r\n])"""
"""A line end inside of a string, which wrapping has put there: what begins the next line is no JSON."""
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


class Block(msgspec.Struct, frozen=True):
    """A definition: `text` is that of the document from `start` to `end`, its strings mended, and as long.

    One that is not `closed` lacks a brace; where it ends is a guess.
    """

    start: int
    end: int
    text: str
    closed: bool = True


class Found(NamedTuple):
    """What a document has: its definitions in order, and where fields stand that belong to none of them."""

    blocks: tuple[Block, ...]
    loose: tuple[int, ...]


class _Frame:
    __slots__ = ("keys", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.keys: set[str] = set()


class _Scan:
    """One pass: what closes, what does not, and the characters to write otherwise."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.mends: dict[int, str] = {}
        self.stack: list[_Frame] = []
        self.closed: list[tuple[int, int]] = []
        self.loose: list[int] = []
        self.last_closing = text.rfind("*/")
        at = 0
        while match := _TOKEN.search(text, at):
            at = self._token(match)

    def _token(self, match: re.Match[str]) -> int:
        """Take in a token; where to go on."""
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
            self.stack.append(_Frame(start))
        elif self.stack:
            self._close(self.stack.pop(), end)
        return end

    def _string(self, kind: str, start: int, end: int) -> None:
        if not self.stack:
            return
        if kind == "curly":
            self.mends |= {start: '"', end - 1: '"'}
        if kind != "string":
            inside = self.text[start:end]
            self.mends.update((start + n, " ") for n, char in enumerate(inside) if char in "\r\n")
        if _COLON.match(self.text, end):
            self.stack[-1].keys.add(self.text[start + 1 : end - 1])

    def _close(self, frame: _Frame, end: int) -> None:
        if OWN in frame.keys:
            self.closed.append((frame.start, end))
        elif frame.keys >= _PART:
            self.loose.append(frame.start)


def find_blocks(text: str) -> Found:
    """The definitions of a document, and its loose fields; in linear time."""
    scan = _Scan(text)
    starts = [start for start, _ in scan.closed]
    places = [(start, end, True) for start, end in scan.closed]
    places += [(start, end, False) for start, end in _unclosed(text, scan, starts)]
    kept: list[tuple[int, int, bool]] = []
    for start, end, closed in sorted(places, key=lambda one: (one[0], -one[1])):
        if not kept or start >= kept[-1][1]:  # no definition stands in another
            kept.append((start, end, closed))
    begun = [start for start, _, _ in kept]
    loose = [at for at in scan.loose if not (n := bisect_right(begun, at)) or at >= kept[n - 1][1]]
    return Found(tuple(_block(text, scan.mends, *one) for one in kept), tuple(loose))


def _unclosed(text: str, scan: _Scan, starts: list[int]) -> Iterator[tuple[int, int]]:
    """The definitions that never close: up to the next one, the end of their fence, or the last line of JSON."""
    open_ones = [frame.start for frame in scan.stack if OWN in frame.keys]
    limits = sorted({*starts, *open_ones, len(text)})
    for start in open_ones:
        limit = limits[bisect_right(limits, start)]
        fence = _FENCE.search(text, start, limit)
        end = fence.start() if fence else limit
        lines = text[start:end].splitlines(keepends=True)
        while lines and not lines[-1].rstrip().endswith(("}", "]", ",", '"', "{", "[")):
            lines.pop()
        yield start, start + len("".join(lines).rstrip())


def _block(text: str, mends: dict[int, str], start: int, end: int, closed: bool) -> Block:
    inner = text[start:end]
    if mends:
        inner = "".join(mends.get(at, char) for at, char in enumerate(inner, start))
    return Block(start, end, inner, closed)
