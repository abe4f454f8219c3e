"""The definitions in a document: blocks of JSON in plain text, Markdown or HTML, as wikis alter them."""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

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
_FIELD_KEYS: Final = frozenset(("name", "type", "versions"))
"""The properties of a field."""
_ENTITY: Final = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_HUNK: Final = re.compile(r"(?m)^[ \t]*@@ -[0-9]")
_FENCED_DIFF: Final = re.compile(r"(?ms)^[ \t]*```[ \t]*(?:diff|patch)\b[^\n]*\n(?P<lines>.*?)^[ \t]*```")


class Block(msgspec.Struct, frozen=True, dict=True):
    """One definition of a document.

    `text` is that part of the document with straight quotes, without line ends inside strings and without entities. It
    begins at the offset `place` of the whole document without its `entities`.
    """

    text: str
    place: int
    entities: Entities

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    @property
    def start(self) -> int:
        """The offset in the document at which the definition begins."""
        return self.entities.offset(self.place)

    @property
    def end(self) -> int:
        """The offset in the document at which it ends."""
        return self.entities.offset(self.place + len(self.text))

    def offset(self, line: int, column: int) -> int:
        """The offset in the document of a 1-based line and column of the definition."""
        return self.entities.offset(self.place + self._lines.starts[line - 1] + column - 1)


class Entities(NamedTuple):
    """The positions where a text without HTML entities, such as `&quot;`, is shorter than its document.

    `ends` are the offsets in the text after each entity, and `lengths` how much longer the document is up to there.
    """

    ends: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()

    def offset(self, offset: int) -> int:
        """The offset in the document of an offset in the text."""
        index = bisect_right(self.ends, offset)
        return offset + (self.lengths[index - 1] if index else 0)


class DocumentContent(NamedTuple):
    """The definitions of a document, and whatever else in it looks like a part of one."""

    blocks: tuple[Block, ...]
    fields: tuple[int, ...]
    """The offsets of the fields that are in no definition."""
    patches: tuple[int, ...]
    """The offsets of the parts of patches that do not contain a complete definition."""


def read_document(document: str) -> DocumentContent:
    """The definitions of a document in their order, without those inside another; takes linear time.

    A definition whose closing brace is missing ends where the next one begins. Of a fenced `diff`, the lines that are
    added count, and those that stay.
    """
    text, entities = _without_entities(_FENCED_DIFF.sub(_after_diff, document))
    text = _TOKEN.sub(_repair, _SPACES.sub(" ", text))
    spans: list[tuple[int, int]] = []
    field_starts: list[int] = []
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
            elif keys >= _FIELD_KEYS:
                field_starts.append(start)
        elif token["string"] and _COLON.match(text, token.end()):
            _, keys = open_objects[-1]
            keys.add(token[0][1:-1])

    unclosed_starts = [start for start, keys in open_objects if _VALID_VERSIONS in keys]
    starts = sorted([*(start for start, _ in spans), *unclosed_starts])
    next_starts = dict(pairwise([*starts, len(text)]))
    spans += [(start, next_starts[start]) for start in unclosed_starts]

    outer_spans: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not outer_spans or start >= outer_spans[-1][1]:
            outer_spans.append((start, end))
    blocks = tuple(Block(text[start:end], start, entities) for start, end in outer_spans)
    hunks = [match.start() for match in _HUNK.finditer(document)]
    block_starts = [block.start for block in blocks]
    return DocumentContent(
        blocks,
        fields=tuple(entities.offset(start) for start in _outside(sorted(field_starts), outer_spans)),
        patches=tuple(
            start
            for start, next_start in pairwise([*hunks, len(document)])
            if bisect_left(block_starts, start) == bisect_left(block_starts, next_start)  # no block begins in it
        ),
    )


def _outside(starts: Iterable[int], spans: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The sorted offsets that are in none of the spans, which are sorted and do not overlap."""
    for start in starts:
        index = bisect_right(spans, (start, start))
        if not index or spans[index - 1][1] <= start:
            yield start


def _after_diff(block: re.Match[str]) -> str:
    """A fenced diff after its changes, with the same length: removed lines are blank."""
    after: list[str] = []
    for line in block["lines"].split("\n"):
        is_removed = line.startswith(("-", "@"))
        after.append(" " * len(line) if is_removed else f" {line[1:]}" if line.startswith("+") else line)
    start = block.start("lines") - block.start()
    return block[0][:start] + "\n".join(after) + block[0][start + len(block["lines"]) :]


def _without_entities(document: str) -> tuple[str, Entities]:
    """The text with characters for entities; the document itself unless entities stand for the quotes of its JSON."""
    if "&quot;" not in document and "&#" not in document:
        return document, Entities()
    parts: list[str] = []
    ends: list[int] = []
    lengths: list[int] = []
    position = size = 0
    for entity in _ENTITY.finditer(document):
        character = html.unescape(entity[0])
        parts += [document[position : entity.start()], character]
        size += entity.start() - position + len(character)
        position = entity.end()
        ends.append(size)
        lengths.append(position - size)
    return "".join([*parts, document[position:]]), Entities(tuple(ends), tuple(lengths))


def _repair(token: re.Match[str]) -> str:
    """The text of a token; a wrapped or curly string is put on one line in straight quotes, with the same length."""
    if token.lastgroup not in ("wrapped", "curly"):
        return token[0]
    return f'"{token[0][1:-1]}"'.replace("\r", " ").replace("\n", " ")
