"""The tree of a definition's text: the position of every value, and the problems of the syntax.

Reading never fails. It notes what it can skip, such as a trailing comma or a JSON5 number. At the first mistake after
which the next token could mean anything, such as a missing comma, it stops, with the tree up to there. It is linear in
time and memory whatever the text.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, NoReturn

import msgspec

from kiplint.limits import DEFINITION_LEVELS, FIXED_PROBLEMS
from kiplint.text.decode import NOT_JSON, Problem
from kiplint.text.lines import BOM, Lines
from kiplint.text.show import quoted

MAX_POINTER: Final = 1_000
"""The longest pointer of a problem, in characters; a longer one ends at an element around the problem."""


class Node(msgspec.Struct, eq=False):
    """A value in a text. All offsets are half-open character offsets.

    `start` and `end` span the value. The kind `word` is a number, true, false, null or anything else outside quotes;
    `missing` stands for no value at all. When it is a property of an object, `key` is the decoded key and
    `key_start` and `key_end` span it with its quotes; otherwise `key` is None and they are -1. `children` are the
    properties (duplicates and all) or elements, in order; `properties` has the last of each name.
    """

    kind: Literal["object", "array", "string", "word", "missing"]
    start: int
    end: int
    key: str | None = None
    key_start: int = -1
    key_end: int = -1
    children: list[Node] = []
    properties: dict[str, Node] = {}


@lru_cache(maxsize=2)  # each step of a command reads the same text, or one before and one after an edit
def read_tree(text: str) -> tuple[Node, tuple[Problem, ...]]:
    """The first value of a text, which is `missing` when there is none, and the problems of its syntax in text order.

    Problems have a pointer, character offsets and one of the kinds trailing-comma, json5-only, invalid-json,
    trailing-content, duplicate-key, too-deep and block-comment. There are at most `FIXED_PROBLEMS`.
    """
    scanner = _Scanner(text)
    root = scanner.read()
    return root, tuple(sorted(scanner.problems, key=lambda problem: problem.start))


class Locator:
    """Finds values in `text` (as `decode_text` gives it), which may be broken JSON, by RFC 6901 pointers.

    Of duplicate keys the last counts. A pointer to nothing stands for the nearest existing value above it, so every
    pointer has a span.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)

    @cached_property
    def root(self) -> Node:
        """The tree of the text, up to the first mistake at which `read_tree` stops."""
        root, _ = read_tree(self.text)
        return root

    def reported_characters(self, pointer: str) -> tuple[int, int]:
        """The half-open character span to report for what a pointer points to, which is on one line if possible.

        A property: key and value if they share one line, otherwise the key. An element: itself if on one line,
        otherwise its `name` property, otherwise its opening bracket. The root: its `name` property, otherwise its first
        character.
        """
        node = self.node(pointer)
        is_element = node.key is None and node is not self.root
        if is_element and self.lines.line_of(node.start) == self.lines.line_of(node.end):
            return node.start, node.end
        shown_property = node.properties.get("name") if node.key is None else node
        if shown_property is None:
            return node.start, min(node.start + 1, len(self.text))
        start, end = shown_property.key_start, shown_property.end
        is_on_one_line = self.lines.line_of(start) == self.lines.line_of(end)
        return start, end if is_on_one_line else shown_property.key_end

    def span(self, pointer: str) -> tuple[int, int, int, int]:
        """The span to report for a pointer, as (line, column, end line, end column), 1-based, with an exclusive end."""
        return self.line_span(*self.reported_characters(pointer))

    def line_span(self, start: int, end: int) -> tuple[int, int, int, int]:
        """A half-open character span as (line, column, end line, end column), 1-based, the end column exclusive."""
        return *self.lines.position(start), *self.lines.position(end)

    def named_pointer(self, pointer: str) -> str:
        """The pointer with the names of elements for their indexes: `/fields/0/tag` is `/fields[Topics]/tag`.

        An index whose element has no name stays, and so does whatever points to nothing. Fingerprints use it, because
        it does not change when elements move. It is cut at `MAX_POINTER` characters.
        """
        parts = [f"/{token}" for token in pointer.split("/")[1:]]
        for index, (parent, node) in enumerate(pairwise(self.nodes_to(pointer))):
            name = node.properties.get("name")
            if parent.kind != "array" or name is None or name.kind != "string":
                continue
            value = _string_value(self.text[name.start : name.end])
            if value:
                parts[index] = f"[{value[:MAX_POINTER]}]"
        return "".join(parts)[:MAX_POINTER]

    def nodes_to(self, pointer: str) -> list[Node]:
        """The values from the root to what a pointer points to, as far as they exist: at least the root."""
        nodes = [self.root]
        for token in pointer.split("/")[1:]:
            child = self.child(nodes[-1], token.replace("~1", "/").replace("~0", "~"))
            if child is None:
                break
            nodes.append(child)
        return nodes

    def node(self, pointer: str) -> Node:
        """The value that a pointer, or the longest part of it that leads to a value, points to."""
        return self.nodes_to(pointer)[-1]

    def child(self, node: Node, token: str) -> Node | None:
        """The property or element that the unescaped token of a pointer, such as `fields` or `0`, leads to, if any."""
        if node.kind != "array":
            return node.properties.get(token)
        is_index = re.fullmatch("0|[1-9][0-9]{0,6}", token)  # no array has an index of eight digits
        return node.children[int(token)] if is_index and int(token) < len(node.children) else None


_JSON_WORDS: Final = frozenset({"true", "false", "null"})
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


def _problem_of_word(word: str) -> Literal["json5-only", "invalid-json"] | None:
    """The kind of problem that a word has as a value; None when it is JSON."""
    if word in _JSON_WORDS:
        return None
    if re.fullmatch(_NUMBER, word):  # no reader takes a number that is out of range
        return None if math.isfinite(float(word)) else "invalid-json"
    return "json5-only" if re.fullmatch(_JSON5_NUMBER, word) else "invalid-json"


def _string_value(literal: str) -> str:
    """The value of a string literal, which has its quotes; the text between the quotes when it is not JSON."""
    try:
        return msgspec.json.decode(literal, type=str)
    except NOT_JSON:
        return literal[1:-1]


def is_identifier(word: str) -> bool:
    """Whether JSON5 allows the word as a property name without quotes."""
    return word.replace("$", "_").isidentifier()


# JSON5's white space beside JSON's: Unicode's space separators, and these others.
SPACES: Final = "\v\f\ufeff\u2028\u2029\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_SKIPPED_TOKENS: Final = {
    "block": ("block-comment", "a block comment; other readers of these files support only // comments"),
    "open_block": ("invalid-json", "the comment has no closing */"),
    "hash": ("invalid-json", "'#' does not begin a comment; write //"),
    "odd_space": ("json5-only", "a whitespace character that JSON does not allow; use a plain space"),
}
"""The kinds of tokens that are noted and skipped, with the kind and the detail of their problem."""
_CLOSING_BRACKETS: Final = {"object": "}", "array": "]"}


class Token(NamedTuple):
    """A token: what it is, its half-open character span, and its text.

    Kinds: `string`, with its quotes, which may be single ones; `unclosed`, a string without a closing quote on its
    line; `punctuation`, one of `{}[]:,`; `word`, anything else, such as a number or `true`; `end`, the end of the text;
    and those of `_SKIPPED_TOKENS`.
    """

    kind: str
    start: int
    end: int
    text: str

    def describe(self) -> str:
        """The token as a message names it: strings in double quotes, everything else in single quotes."""
        return quoted(self.text[1:-1]) if self.kind == "string" else quoted(self.text, single=True)


_TOKEN: Final = rf"""(?xs)
        (?:[ \t\r\n]++|//[^\r\n]*+)*+(?:
        (?P<punctuation>[{{}}\[\]:,])
      | (?P<string>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+" | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+')
      | (?P<unclosed>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+ | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+)
      | (?P<block>/\*.*?\*/)
      | (?P<open_block>/\*).*+
      | (?P<hash>\#)[^\r\n]*+
      | (?P<odd_space>[{SPACES}]++)
      | (?P<word>[“”] | (?:[^ \t\r\n{SPACES}{{}}\[\]:,"'/]|/(?![/*]))++)
      | (?P<end>\Z)
        )"""
"""A token and the white space and comments before it; the name of the group is its kind.

It is compiled by the first `_Scanner`, because that takes 5 ms and clean definitions never need one.
"""


class _StopScanning(Exception):  # noqa: N818
    """A mistake, already recorded, after which the next token cannot be interpreted."""


class _Scanner:
    """Reads values by recursive descent, no deeper than `DEFINITION_LEVELS`.

    `_open` are the objects and arrays that are being read, the innermost last. `_next` is the token that `_peek` has
    read, None before it has, and `_last` is the token that `_take` gave last.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._lines = Lines(text)
        self._pattern = re.compile(_TOKEN)
        self._open: list[Node] = []
        self._position = 1 if text.startswith(BOM) else 0
        self._next: Token | None = None
        self._last = Token("punctuation", 0, 0, "")

    def read(self) -> Node:
        """The first value of the text; what comes before and after it is noted."""
        root = Node("missing", 0, 0)
        try:
            if self._peek().kind != "end":
                self._read_value(root)
                token = self._peek()
                if token.text == ":":
                    self._fail_expected("'{' before the first property", token)
                if token.kind != "end":
                    detail = f"found {token.describe()} after the end of the value; a file holds one definition"
                    self._note("trailing-content", detail, token.start, max(token.end, len(self.text.rstrip())))
        except _StopScanning:
            for node in self._open:
                node.end = self._last.end
        return root

    def _peek(self) -> Token:
        """The next token, which the next call gives again; comments and odd spaces before it are noted."""
        while self._next is None:
            match = self._pattern.match(self.text, self._position)
            if match is None or match.lastgroup is None:
                raise AssertionError("every character is in a token")
            self._position = match.end()
            token = Token(match.lastgroup, *match.span(match.lastgroup), match[match.lastgroup])
            if token.kind in _SKIPPED_TOKENS:
                self._note(*_SKIPPED_TOKENS[token.kind], token.start, token.end)
            elif token.kind == "unclosed":
                self._fail(f"the string {quoted(token.text[1:41])} has no closing {token.text[0]} on its line", token)
            else:
                self._next = token
        return self._next

    def _take(self) -> Token:
        """The next token; the call after this one gives the token after it."""
        self._last = self._peek()
        self._next = None
        return self._last

    def _read_value(self, node: Node) -> None:
        """Read the value that begins with the next token into a node."""
        token = self._peek()
        node.start, node.end = token.start, token.end
        if token.kind == "end" or (token.kind == "punctuation" and token.text not in "{["):
            self._fail_expected("a value", token)
        self._take()
        if token.kind == "string":
            node.kind = "string"
            self._check_string(token)
        elif token.kind == "word":
            node.kind = "word"
            kind = _problem_of_word(token.text)
            if kind is not None:
                detail = f"{quoted(token.text, single=True)} is not a JSON value"
                detail += "; write a string in double quotes, a number, true, false or null"
                self._note(kind, detail, token.start, token.end)
            if kind == "invalid-json" and not self._open:  # the text begins with a word, so it may be no JSON at all
                raise _StopScanning
        else:
            node.kind = "object" if token.text == "{" else "array"
            self._read_container(node)

    def _check_string(self, token: Token) -> None:
        """Note the whole string if it is JSON5 but not JSON; if it is neither, its first wrong character or escape."""
        try:
            msgspec.json.decode(token.text, type=str)
            return
        except NOT_JSON:
            match = re.compile(_JSON5_STRING).match(token.text, 1, len(token.text) - 1)
        json5_end = match.end() if match else 1  # up to here the string is JSON5
        if json5_end == len(token.text) - 1:
            detail = "a string with JSON5 escapes; use JSON escapes"
            if token.text[0] == "'":
                detail = "a string in single quotes; use double quotes"
            self._note("json5-only", detail, token.start, token.end)
            return
        start = token.start + json5_end
        end = start + (2 if self.text[start] == "\\" else 1)
        detail = f"{quoted(self.text[start:end], single=True)} in a string; write \\\\ for a backslash"
        detail += ", \\t for a tab, and both halves of a surrogate pair"
        self._note("invalid-json", detail, start, end)

    def _read_container(self, node: Node) -> None:
        """Read the properties or elements of an object or array, and its closing bracket."""
        if len(self._open) >= DEFINITION_LEVELS:
            detail = f"objects and arrays nested more than {DEFINITION_LEVELS} levels deep"
            self._note("too-deep", detail, node.start, node.end)
            raise _StopScanning
        self._open.append(node)
        while not self._read_end(node):
            if node.kind == "object":
                self._read_property(node)
            else:
                node.children.append(Node("missing", self._last.start, self._last.end))
                self._read_value(node.children[-1])
            self._read_comma(node)
        if node.kind == "object" and len(node.properties) < len(node.children):
            self._note_duplicates(node)
        self._open.pop()

    def _read_property(self, node: Node) -> None:
        """Read one property of an object: its key, the colon and its value."""
        token = self._peek()
        if token.kind != "string" and not is_identifier(token.text):
            self._fail_expected("a property name in double quotes", token)
        self._take()
        key = _string_value(token.text) if token.kind == "string" else token.text
        child = Node("missing", token.end, token.end, key, token.start, token.end)
        node.children.append(child)
        node.properties[key] = child
        if token.kind == "string":
            self._check_string(token)
        else:
            detail = f"the property name {quoted(key, single=True)} is not in quotes; write it in double quotes"
            self._note("json5-only", detail, token.start, token.end)
        if self._peek().text != ":":
            self._fail_expected(f"':' after {quoted(key)}", self._peek())
        self._take()
        self._read_value(child)

    def _note_duplicates(self, node: Node) -> None:
        """Note each property whose key an earlier one has, which is harmless if all of them have the same value."""
        children_by_key: dict[str, list[Node]] = defaultdict(list)
        for child in node.children:
            children_by_key[child.key or ""].append(child)
        for key, children in children_by_key.items():
            first, *others = children
            values = {self.text[child.start : child.end] for child in children}
            detail = f"the property {quoted(key)} is already defined on line {self._lines.line_of(first.key_start)}"
            detail += ", with the same value" if len(values) == 1 else ""
            for child in others:
                self._note("duplicate-key", detail, child.key_start, child.key_end, child, harmless=len(values) == 1)

    def _read_comma(self, node: Node) -> None:
        """Read the comma after a property or element, which is needed unless the object or array ends."""
        token = self._peek()
        if token.text == ",":
            self._take()
        elif not _ends(node, token):
            after = f"the value of {quoted(node.children[-1].key or '')}" if node.kind == "object" else "the element"
            detail = f"expected ',' or '{_CLOSING_BRACKETS[node.kind]}' after {after}, found {token.describe()}"
            self._fail(detail, self._last)

    def _read_end(self, node: Node) -> bool:
        """Read the closing bracket of an object or array if it is next; False if a property or element is next."""
        token = self._peek()
        if token.text == _CLOSING_BRACKETS[node.kind]:
            if self._last.text == ",":
                detail = f"a comma after the last {'property' if node.kind == 'object' else 'element'}; remove it"
                self._note("trailing-comma", detail, self._last.start, self._last.end)
            node.end = self._take().end
            return True
        if _ends(node, token):
            self._fail_expected(self._missing_bracket(node), token)
        return False

    def _missing_bracket(self, node: Node) -> str:
        """The closing bracket of an object or array in words: `'}' to close the object opened on line 3`."""
        line = self._lines.line_of(node.start)
        return f"'{_CLOSING_BRACKETS[node.kind]}' to close the {node.kind} opened on line {line}"

    def _fail_expected(self, what: str, token: Token) -> NoReturn:
        """Stop because `token` stands where `what` is expected; at the end of the text that is a closing bracket."""
        if token.kind == "end":
            self._fail(f"expected {self._missing_bracket(self._open[-1])}, found the end of the file", self._last)
        self._fail(f"expected {what}, found {token.describe()}", token)

    def _fail(self, detail: str, token: Token) -> NoReturn:
        """Note a mistake at a token, and stop."""
        self._note("invalid-json", detail, token.start, token.end)
        raise _StopScanning

    def _note(
        self, kind: str, detail: str, start: int, end: int, child: Node | None = None, *, harmless: bool = False
    ) -> None:
        """Record a problem from `start` to `end`, which is in `child` of the innermost object, by default its last."""
        if len(self.problems) < FIXED_PROBLEMS:
            self.problems.append(Problem(kind, detail, self._pointer(child), start, end, harmless=harmless))

    def _pointer(self, child: Node | None) -> str:
        """The JSON pointer of a child of the innermost open object or array, by default of its last child."""
        pointer = ""
        for node in self._open:
            if not node.children:
                break
            is_innermost = node is self._open[-1]
            item = child if child and is_innermost else node.children[-1]
            token = str(len(node.children) - 1) if item.key is None else item.key
            if len(pointer) + len(token) > MAX_POINTER:
                break
            pointer += "/" + token.replace("~", "~0").replace("/", "~1")
        return pointer


def _ends(node: Node, token: Token) -> bool:
    """Whether an object or array ends before a token; `{` for a property most likely begins the next object."""
    return token.kind == "end" or token.text in ("}", "]") or (token.text == "{" and node.kind == "object")
