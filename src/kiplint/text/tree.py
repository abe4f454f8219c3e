"""The tree of a definition's text: where every value stands, where a pointer leads, and what is wrong with the syntax.

The scan never fails. It notes what a reader can pass over, such as a trailing comma or a JSON5 number, and reads on;
at the first mistake that leaves open what comes next, such as a missing comma, it stops, with the tree up to there. It
is linear in time and memory whatever the text.
"""

from __future__ import annotations

import math
import re
from functools import cache, cached_property, lru_cache
from typing import Final, Literal, NamedTuple, NoReturn

import msgspec

from kiplint.limits import DEFINITION_LEVELS, DEFINITION_PROBLEMS
from kiplint.text.decode import NOT_JSON, Problem
from kiplint.text.lines import BOM, Lines
from kiplint.text.show import show, show_raw

MAX_POINTER_KEY: Final = 256
"""Longest key, in characters, that a problem's pointer spells out; the pointer stops above a longer one."""

Kind = Literal["object", "array", "string", "word", "missing"]
"""`word` is a number, true, false, null or anything else outside quotes; `missing` stands for no value at all."""


class Node(msgspec.Struct, eq=False):
    """A value in a text. All offsets are half-open character offsets.

    `start` and `end` span the value. When it is a property of an object, `key` is the decoded key and
    `key_start` and `key_end` span it with its quotes; else `key` is None and they are -1. `children` are the
    properties (duplicates and all) or elements, in order; `properties` has the last of each name.
    """

    kind: Kind
    start: int
    end: int
    key: str | None = None
    key_start: int = -1
    key_end: int = -1
    children: list[Node] = []
    properties: dict[str, Node] = {}


class TextTree(NamedTuple):
    """The first value of a text, `missing` when there is none, and the problems of its syntax in text order."""

    root: Node
    problems: tuple[Problem, ...]


@lru_cache(maxsize=2)
def read_tree(text: str) -> TextTree:
    """The tree of a text, with at most `DEFINITION_PROBLEMS` problems, each with a pointer and character offsets.

    Kinds: trailing-comma, json5-only, invalid-json, trailing-content, duplicate-key, too-deep, block-comment.
    A text of nothing but white space and comments has no problem for that. Two trees are kept, because each step of a
    command reads a text again.
    """
    scanner = _Scanner(text)
    root = scanner.read()
    return TextTree(root, tuple(sorted(scanner.problems, key=lambda problem: problem.start)))


class Locator:
    """Spans in `text` (as `decode_text` gives it). The text is scanned once, at the first question.

    Pointers are RFC 6901; of duplicate keys the last counts. A pointer to nothing stands for the nearest thing
    above it that exists, so every pointer has a span, and so has a text that is not JSON.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)

    @cached_property
    def root(self) -> Node:
        """The tree of the text, as far as the text allows."""
        return read_tree(self.text).root

    def member(self, pointer: str) -> tuple[int, int]:
        """The half-open character span that stands for what a pointer points to.

        A property: key and value if they share one line, else the key. An element: itself if on one line, else its
        `name` property, else its opening bracket. The whole: its `name` property, else its first character.
        """
        node = self.node(pointer)
        if node is not self.root and node.key is None and self._on_one_line(node.start, node.end):
            return node.start, node.end
        target = node if node.key is not None else node.properties.get("name")
        if target is None:
            return node.start, min(node.start + 1, len(self.text))
        return target.key_start, target.end if self._on_one_line(target.key_start, target.end) else target.key_end

    def span(self, pointer: str) -> tuple[int, int, int, int]:
        """`member` as (line, column, end line, end column), 1-based, the end column exclusive."""
        return self.span_of(*self.member(pointer))

    def span_of(self, start: int, end: int) -> tuple[int, int, int, int]:
        """A half-open character span as (line, column, end line, end column), 1-based, the end column exclusive."""
        return *self.lines.position(start), *self.lines.position(max(start, end))

    def names(self, pointer: str) -> str:
        """The pointer with the names of elements for their indexes: `/fields/0/tag` is `/fields[Topics]/tag`.

        An index whose element has no name stays, so does whatever points to nothing. For fingerprints: stable
        when elements move. Names are cut at `MAX_POINTER_KEY` characters.
        """
        way = self.way(pointer)
        parts = [f"/{token}" for token in pointer.split("/")[1:]]
        for number, node in enumerate(way[1:]):
            name = node.properties.get("name") if way[number].kind == "array" else None
            if name and name.kind == "string":
                value, _ = read_string(self.text[name.start : name.end])
                parts[number] = f"[{value[:MAX_POINTER_KEY]}]" if value else parts[number]
        return "".join(parts)

    def way(self, pointer: str) -> list[Node]:
        """The values on the way to what a pointer points to, the root first, as far as they exist."""
        way = [self.root]
        for token in pointer.split("/")[1:]:
            child = self.child(way[-1], token.replace("~1", "/").replace("~0", "~"))
            if child is None:
                break
            way.append(child)
        return way

    def node(self, pointer: str) -> Node:
        """The value that a pointer or the longest valid part of it points to."""
        return self.way(pointer)[-1]

    def child(self, node: Node, token: str) -> Node | None:
        """The property or element that an unescaped token of a pointer names."""
        if node.kind != "array":
            return node.properties.get(token)
        # Indexes have few digits, in ASCII, and no leading zero (RFC 6901).
        is_index = len(token) < 8 and token.isascii() and token.isdigit() and (token == "0" or token[0] != "0")
        return node.children[int(token)] if is_index and int(token) < len(node.children) else None

    def _on_one_line(self, start: int, end: int) -> bool:
        return self.lines.line_of(start) == self.lines.line_of(end)


_WORDS: Final = frozenset({"true", "false", "null"})
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_JSON5_NUMBER: Final = r"""(?x)
    [+-]?(?:Infinity | NaN | 0[xX][0-9a-fA-F]++
  | (?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?+ | \.[0-9]++) (?:[eE][+-]?[0-9]++)?+)
"""
_JSON5_STRING: Final = r"""(?x)(?:
    [^\\\x00-\x1f]++
  | \\(?:["'\\/bfnrtv] | 0(?![0-9]) | x[0-9a-fA-F]{2} | \r\n | [\r\n\u2028\u2029])
  | \\u(?:[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2} | (?![dD][89a-fA-F])[0-9a-fA-F]{4})
)*+"""


def word_kind(word: str) -> str:
    """The kind of the problem of a word that stands for a value; empty when it is JSON."""
    if word in _WORDS:
        return ""
    if re.fullmatch(_NUMBER, word):  # no reader takes a number that is out of range
        return "" if math.isfinite(float(word)) else "invalid-json"
    return "json5-only" if re.fullmatch(_JSON5_NUMBER, word) else "invalid-json"


def read_string(literal: str) -> tuple[str, int]:
    """The value of a string literal, quotes included, and the length of what is JSON5 in it, -1 when all is JSON.

    The value of what is not JSON is its text, so that the value can always be encoded.
    """
    try:
        return msgspec.json.decode(literal, type=str), -1
    except NOT_JSON:
        match = re.compile(_JSON5_STRING).match(literal, 1, len(literal) - 1)
        return literal[1:-1], match.end() if match else 0


def is_identifier(word: str) -> bool:
    """Whether JSON5 takes the word as a property name without quotes."""
    return word.replace("$", "_").isidentifier()


# JSON5's white space beside JSON's: Unicode's space separators, and these others.
SPACES: Final = "\v\f\ufeff\u2028\u2029\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOISE: Final = {
    "block": ("block-comment", "a block comment; other readers of these files know only // comments"),
    "open_block": ("invalid-json", "the comment has no closing */"),
    "hash": ("invalid-json", "'#' does not begin a comment; write //"),
    "odd_space": ("json5-only", "white space that JSON does not have; write a plain space"),
}
"""What stands between tokens and is a problem, with its kind and detail."""
_CLOSERS: Final = {"object": "}", "array": "]"}


class Token(NamedTuple):
    """A token: what it is, its half-open character span, and its text.

    Kinds: `plain` is a string that needs no second look; `quoted` has escapes, control characters or single quotes;
    `unclosed` has no closing quote on its line; `word` is anything else: numbers, literals, junk; then `punctuation`,
    `end`, and `_NOISE`.
    """

    kind: str
    start: int
    end: int
    text: str

    def describe(self) -> str:
        """The token as a message names it: strings in double quotes, everything else in single quotes."""
        return show(self.text[1:-1]) if self.kind in ("plain", "quoted") else show_raw(self.text)


@cache
def _token_pattern() -> re.Pattern[str]:
    # Compiled when the first text is read token by token, which clean definitions never are: it takes 5 ms.
    return re.compile(
        rf"""(?:[ \t\r\n]++|//[^\r\n]*+)*+(?:
        (?P<plain>"[^"\\\x00-\x1f]*+")
      | (?P<punctuation>[{{}}\[\]:,])
      | (?P<quoted>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+" | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+')
      | (?P<unclosed>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+ | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+)
      | (?P<block>/\*.*?\*/)
      | (?P<open_block>/\*).*+
      | (?P<hash>\#)[^\r\n]*+
      | (?P<odd_space>[{SPACES}]++)
      | (?P<word>[“”] | (?:[^ \t\r\n{SPACES}{{}}\[\]:,"'/]|/(?![/*]))++)
      | (?P<end>\Z)
        )""",
        re.VERBOSE | re.DOTALL,
    )


class _BrokenError(Exception):
    """After a mistake it is open what comes next; it is noted."""


class _Scanner:
    """Reads values by recursive descent, no deeper than `DEFINITION_LEVELS`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._lines = Lines(text)
        self._open: list[Node] = []
        self._position = 1 if text.startswith(BOM) else 0
        self._token: Token | None = None
        self._last = Token("punctuation", 0, 0, "")

    def read(self) -> Node:
        """The first value of the text; what comes before and after it are problems."""
        root = Node("missing", 0, 0)
        try:
            if self._peek().kind != "end":
                self._value(root)
                token = self._peek()
                if token.text == ":":
                    self._expected("'{' before the first property", token)
                if token.kind != "end":
                    detail = f"found {token.describe()} after the end of the value; a file holds one definition"
                    self._note("trailing-content", detail, token.start, max(token.end, len(self.text.rstrip())))
        except _BrokenError:
            for node in self._open:
                node.end = self._last.end
        return root

    def _peek(self) -> Token:
        """The next token, which stays; comments and odd spaces before it are noted."""
        while self._token is None:
            match = _token_pattern().match(self.text, self._position)
            kind = match.lastgroup if match else None
            if match is None or kind is None:
                raise AssertionError("every character is in a token")
            self._position = match.end()
            token = Token(kind, *match.span(kind), match[kind])
            if kind in _NOISE:
                self._note(*_NOISE[kind], token.start, token.end)
            elif kind == "unclosed":
                self._fail(f"the string {show(token.text[1:41])} has no closing {token.text[0]} on its line", token)
            else:
                self._token = token
        return self._token

    def _take(self) -> Token:
        self._last = self._peek()
        self._token = None
        return self._last

    def _value(self, node: Node) -> None:
        """Read the value that begins with the next token into a node."""
        token = self._peek()
        node.start, node.end = token.start, token.end
        if token.kind == "end" or (token.kind == "punctuation" and token.text not in "{["):
            self._expected("a value", token)
        self._take()
        if token.kind == "punctuation":
            node.kind = "object" if token.text == "{" else "array"
            self._container(node)
        elif token.kind == "word":
            node.kind = "word"
            if kind := word_kind(token.text):
                remedy = "write a string in double quotes, a number, true, false or null"
                self._note(kind, f"{show_raw(token.text)} is not a JSON value; {remedy}", token.start, token.end)
            if kind == "invalid-json" and not self._open:
                raise _BrokenError
        else:
            node.kind = "string"
            self._string(token)

    def _string(self, token: Token) -> str:
        """The value of a string; what is not JSON in it is noted."""
        if token.kind == "plain":
            return token.text[1:-1]
        value, length = read_string(token.text)
        if length == len(token.text) - 1:
            detail = "a string with escapes of JSON5; write those of JSON"
            if token.text[0] == "'":
                detail = "a string in single quotes; write it in double quotes"
            self._note("json5-only", detail, token.start, token.end)
        elif length >= 0:
            start = token.start + length
            end = start + 1 + (self.text[start] == "\\")
            detail = f"{show_raw(self.text[start:end])} in a string; write \\\\ for a backslash"
            detail += ", \\t for a tab, and both halves of a surrogate pair"
            self._note("invalid-json", detail, start, end)
        return value

    def _container(self, node: Node) -> None:
        """Read the properties or elements of an object or array, and its closing bracket."""
        if len(self._open) >= DEFINITION_LEVELS:
            detail = f"more than {DEFINITION_LEVELS} objects and arrays inside one another"
            self._note("too-deep", detail, node.start, node.end)
            raise _BrokenError
        self._open.append(node)
        comma: Token | None = None
        while not self._closes(node, comma):
            if node.kind == "object":
                self._property(node)
            else:
                node.children.append(Node("missing", self._last.start, self._last.end))
                self._value(node.children[-1])
            comma = self._comma(node)
        if len(node.properties) < len(node.children) and node.kind == "object":
            self._note_duplicates(node)
        self._open.pop()

    def _property(self, node: Node) -> None:
        token = self._peek()
        if token.kind not in ("plain", "quoted") and not is_identifier(token.text):
            self._expected("a property name in double quotes", token)
        self._take()
        key = token.text if token.kind == "word" else token.text[1:-1]
        child = Node("missing", token.end, token.end, key, token.start, token.end)
        node.children.append(child)
        if token.kind == "word":
            detail = f"the property name {show_raw(key)} is not in quotes; write it in double quotes"
            self._note("json5-only", detail, token.start, token.end)
        else:
            key = child.key = self._string(token)
        node.properties[key] = child
        if self._peek().text != ":":
            self._expected(f"':' after {show(key)}", self._peek())
        self._take()
        self._value(child)

    def _note_duplicates(self, node: Node) -> None:
        """Note each property that is there already; it is harmless if all its values have the same text."""
        by_key: dict[str | None, list[Node]] = {}
        for child in node.children:
            by_key.setdefault(child.key, []).append(child)
        for key, (first, *others) in by_key.items():
            is_same = len({self.text[child.start : child.end] for child in (first, *others)}) == 1
            detail = f"the property {show(key or '')} is here already, on line {self._lines.line_of(first.key_start)}"
            detail += ", with the same value" if is_same else ""
            for child in others:
                self._note("duplicate-key", detail, child.key_start, child.key_end, child, harmless=is_same)

    def _comma(self, node: Node) -> Token | None:
        """Read the comma after a property or element; None where a bracket has to follow."""
        token = self._peek()
        if token.text == ",":
            return self._take()
        if not _ends(node, token):
            after = f"the value of {show(node.children[-1].key or '')}" if node.kind == "object" else "the element"
            detail = f"expected ',' or '{_CLOSERS[node.kind]}' after {after}, found {token.describe()}"
            # The comma belongs on the line of the value before it.
            is_on_line = self._lines.line_of(token.start) == self._lines.line_of(self._last.end)
            self._fail(detail, token if is_on_line else self._last)
        return None

    def _closes(self, node: Node, comma: Token | None) -> bool:
        """Whether the next token is the bracket that ends an object or array; another bracket is a mistake."""
        token = self._peek()
        if token.text == _CLOSERS[node.kind]:
            if comma:
                detail = f"a comma after the last {'property' if node.kind == 'object' else 'element'}; remove it"
                self._note("trailing-comma", detail, comma.start, comma.end)
            node.end = self._take().end
            return True
        if _ends(node, token):
            self._expected(self._bracket_of(node), token)
        return False

    def _bracket_of(self, node: Node) -> str:
        """The missing bracket, in words."""
        return f"'{_CLOSERS[node.kind]}' to close the {node.kind} opened on line {self._lines.line_of(node.start)}"

    def _expected(self, what: str, token: Token) -> NoReturn:
        """Stop at a token where `what` was to come; at the end of the text it is the bracket of what is open."""
        if token.kind == "end":
            self._fail(f"expected {self._bracket_of(self._open[-1])}, found the end of the file", self._last)
        self._fail(f"expected {what}, found {token.describe()}", token)

    def _fail(self, detail: str, token: Token) -> NoReturn:
        """Note a mistake at a token, and stop."""
        self._note("invalid-json", detail, token.start, token.end)
        raise _BrokenError

    def _note(
        self, kind: str, detail: str, start: int, end: int, child: Node | None = None, *, harmless: bool = False
    ) -> None:
        """Note a problem of a child of what is being read, by default of the last."""
        if len(self.problems) < DEFINITION_PROBLEMS:
            self.problems.append(Problem(kind, detail, self._pointer(child), start, end, harmless=harmless))

    def _pointer(self, child: Node | None) -> str:
        """The JSON pointer of the child, or of the nearest value above that it can name."""
        parts: list[str] = []
        for node in self._open:
            if not node.children:
                break
            key = (child if child and node is self._open[-1] else node.children[-1]).key
            if key is None:
                parts.append(f"/{len(node.children) - 1}")
            elif len(key) > MAX_POINTER_KEY:
                break
            else:
                parts.append("/" + key.replace("~", "~0").replace("/", "~1"))
        return "".join(parts)


def _ends(node: Node, token: Token) -> bool:
    """Whether an object or array ends before a token; `{` most likely begins the one after an unclosed object."""
    return token.kind == "end" or token.text in ("}", "]") or (token.text == "{" and node.kind == "object")
