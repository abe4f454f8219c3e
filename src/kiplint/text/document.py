"""The definitions in a document: blocks of JSON in plain text or Markdown, as wikis alter them."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Final

import msgspec

from kiplint.text.lines import Lines
from kiplint.text.tree import SPACES

_VALID_VERSIONS: Final = "validVersions"
"""The property that every definition has, and nothing else in these documents."""
_MESSAGE_KEYS: Final = frozenset(("name", "type", "fields"))
"""The properties by which a definition without `validVersions` is recognized; a field also has `versions`."""
_QUOTES: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_SPACES: Final = re.compile(f"[{SPACES}\u00ad\u200b-\u200d\u2060]")
_WRAP: Final = r"""\r?\n(?![ \t]*+["{}\[\]\r\n])"""
"""A line end that wrapping has put inside a string: what begins the next line is not JSON."""
_TOKEN: Final = re.compile(
    rf"""(?P<comment>//[^\r\n]*+)
      | \\.  # outside of a string, where an escaped quote begins none
      | (?P<string>"(?:[^"\\\r\n]++|\\.)*+")
      | (?P<wrapped>"(?:[^"\\\r\n]++|\\.)*+(?:{_WRAP}(?:[^"\\\r\n]++|\\.)*+){{1,9}}+"(?=\s*+[,:}}\]]))
      | (?P<curly>[{_QUOTES}][^{_QUOTES}"\r\n]*+(?:{_WRAP}[^{_QUOTES}"\r\n]*+){{0,9}}+[{_QUOTES}](?=\s*+[,:}}\]]))
      | [{{}}]""",
    re.VERBOSE,
)
_COLON: Final = re.compile(r"\s*+:")


class Block(msgspec.Struct, frozen=True, dict=True):
    """One definition of a document, from the offset `start` up to `end`.

    `text` is as long as that part of the document, but has straight quotes and no line end inside a string.
    """

    start: int
    end: int
    text: str

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def offset(self, line: int, column: int) -> int:
        """The offset in the document of a 1-based line and column of the definition."""
        return self.start + self._lines.starts[line - 1] + column - 1


def find_blocks(document: str) -> list[Block]:
    """The definitions of a document in their order, without those inside another; takes linear time.

    A definition whose closing brace is missing ends where the next one begins.
    """
    text = _TOKEN.sub(_repair, _SPACES.sub(" ", document))
    spans: list[tuple[int, int]] = []
    open_objects: list[tuple[int, set[str]]] = []  # the start and the keys of each, the innermost last
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            open_objects.append((token.start(), set()))
        elif not open_objects:
            continue
        elif token[0] == "}":
            start, keys = open_objects.pop()
            is_message = keys >= _MESSAGE_KEYS and "versions" not in keys  # a field has `versions`
            if _VALID_VERSIONS in keys or is_message:
                spans.append((start, token.end()))
        elif token["string"] and _COLON.match(text, token.end()):
            _, keys = open_objects[-1]
            keys.add(token[0][1:-1])

    unclosed_starts = [start for start, keys in open_objects if _VALID_VERSIONS in keys]
    starts = sorted([*(start for start, _ in spans), *unclosed_starts])
    next_starts = dict(pairwise([*starts, len(text)]))
    spans += [(start, next_starts[start]) for start in unclosed_starts]

    blocks: list[Block] = []
    for start, end in sorted(spans):
        is_inside_another = bool(blocks) and start < blocks[-1].end
        if not is_inside_another:
            blocks.append(Block(start, end, text[start:end]))
    return blocks


def _repair(token: re.Match[str]) -> str:
    """The text of a token; a wrapped or curly string is put on one line in straight quotes, with the same length."""
    if token.lastgroup not in ("wrapped", "curly"):
        return token[0]
    return f'"{token[0][1:-1]}"'.replace("\r", " ").replace("\n", " ")
