"""The definitions in a document: blocks of JSON in plain text or Markdown, as wikis alter them."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

import msgspec

from kiplint.text.lines import Lines
from kiplint.text.tree import SPACES

_OWN: Final = "validVersions"
"""The property that a definition has, and nothing else."""
_MESSAGE: Final = frozenset(("name", "type", "fields"))
_QUOTES: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_SPACES: Final = re.compile(f"[{SPACES}\u00ad\u200b-\u200d\u2060]")
_FOLD: Final = r"""\r?\n(?![ \t]*+["{}\[\]\r\n])"""
"""A line end inside of a string, which wrapping has put there: what begins the next line is not JSON."""
_TOKEN: Final = re.compile(
    rf"""(?P<comment>//[^\r\n]*+)
      | \\.  # outside of a string, where an escaped quote begins none
      | (?P<string>"(?:[^"\\\r\n]++|\\.)*+")
      | (?P<folded>"(?:[^"\\\r\n]++|\\.)*+(?:{_FOLD}(?:[^"\\\r\n]++|\\.)*+){{1,9}}+"(?=\s*+[,:}}\]]))
      | (?P<curly>[{_QUOTES}][^{_QUOTES}"\r\n]*+(?:{_FOLD}[^{_QUOTES}"\r\n]*+){{0,9}}+[{_QUOTES}](?=\s*+[,:}}\]]))
      | [{{}}]""",
    re.VERBOSE,
)
_COLON: Final = re.compile(r"\s*+:")


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


def find_blocks(document: str) -> list[Block]:
    """The definitions of a document, in order, none in another; in linear time.

    One that never closes ends where the next begins.
    """
    text = _TOKEN.sub(_repair, _SPACES.sub(" ", document))
    unclosed: list[tuple[int, set[str]]] = []
    spans: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        if match["string"] and unclosed and _COLON.match(text, match.end()):
            unclosed[-1][1].add(match[0][1:-1])
        elif match[0] == "{":
            unclosed.append((match.start(), set()))
        elif match[0] == "}" and unclosed:
            start, keys = unclosed.pop()
            if _OWN in keys or (keys >= _MESSAGE and "versions" not in keys):
                spans.append((start, match.end()))
    starts = sorted([*(start for start, _ in spans), *(start for start, keys in unclosed if _OWN in keys), len(text)])
    spans += [(start, starts[bisect_right(starts, start)]) for start, keys in unclosed if _OWN in keys]
    blocks: list[Block] = []
    for start, end in sorted(spans):
        if not blocks or start >= blocks[-1].end:
            blocks.append(Block(start, end, text[start:end]))
    return blocks


def _repair(match: re.Match[str]) -> str:
    """A token with straight quotes, on one line; as long as before."""
    if match.lastgroup not in ("folded", "curly"):
        return match[0]
    return f'"{match[0][1:-1]}"'.replace("\r", " ").replace("\n", " ")
