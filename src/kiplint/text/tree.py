"""The tree of a definition's text: where every value stands, and what is wrong with the syntax.

The scan never fails. It notes what a reader can pass over, such as a trailing comma or a JSON5 number, and reads on;
at the first mistake that leaves open what comes next, such as a missing comma, it stops, with the tree up to there. It
is linear in time and memory whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple, NoReturn

from kiplint.limits import DEFINITION_LEVELS, DEFINITION_PROBLEMS
from kiplint.text.decode import MAX_POINTER_KEY, Problem
from kiplint.text.lines import BOM, Lines
from kiplint.text.literals import is_identifier, read_string, word_problem
from kiplint.text.show import show, show_raw

Kind = Literal["object", "array", "string", "word", "missing"]
"""`word` is a number, true, false, null or anything else outside quotes; `missing` is a key without a value."""

# JSON5's white space beside JSON's: Unicode's space separators, and these others. A test compares it with Unicode.
SPACES: Final = "\v\f\ufeff\u2028\u2029\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOISE: Final = frozenset({"block", "open_block", "hash", "odd_space"})
_COLON: Final = re.compile(r"[ \t\r\n]*+:")
_CLOSERS: Final = {"object": "}", "array": "]"}


class Node:
    """A value in a text. All offsets are half-open character offsets.

    `start` and `end` span the value. When it is a property of an object, `key` is the decoded key and
    `key_start` and `key_end` span it with its quotes; else `key` is None and they are -1. `children` are the
    properties (duplicates and all) or elements, in order.
    """

    __slots__ = ("children", "end", "key", "key_end", "key_start", "kind", "start")

    def __init__(self, kind: Kind, start: int, end: int) -> None:
        self.kind: Kind = kind
        self.start = start
        self.end = end
        self.key: str | None = None
        self.key_start = -1
        self.key_end = -1
        self.children: list[Node] = []

    def string(self, text: str) -> str | None:
        """The value of a whole string; None for any other value."""
        is_whole = self.kind == "string" and self.end - self.start > 1 and text[self.end - 1] == text[self.start]
        return read_string(text, self.start, self.end)[0] if is_whole else None


class TextTree(NamedTuple):
    """The first value of a text, None when there is none, and the problems of its syntax in text order."""

    root: Node | None
    problems: tuple[Problem, ...]


@lru_cache(maxsize=2)
def read_tree(text: str) -> TextTree:
    """The tree of a text, with at most `DEFINITION_PROBLEMS` problems, each with a pointer and character offsets.

    Kinds: trailing-comma, json5-only, invalid-json, trailing-content, duplicate-key, too-deep, block-comment.
    A text of nothing but white space and comments has no root and no problem for that. Two trees are kept, because
    each step of a command reads a text again.
    """
    scanner = _Scanner(text)
    root = scanner.read()
    return TextTree(root, tuple(sorted(scanner.problems, key=lambda problem: problem.start)))


class Token(NamedTuple):
    """A token: what it is, its half-open character span, and its text.

    Kinds: `plain` is a string that needs no second look; `quoted` has escapes, control characters or single quotes;
    `unclosed` has no closing quote on its line; `word` is anything else: numbers, literals, junk; then `punctuation`,
    `end`, and what stands between tokens: block comments, `#` comments, and odd spaces.
    """

    kind: str
    start: int
    end: int
    text: str

    @property
    def is_string(self) -> bool:
        """Whether it is a whole string."""
        return self.kind in ("plain", "quoted")

    def describe(self) -> str:
        """The token as a message names it: strings in double quotes, everything else in single quotes."""
        return show(self.text[1:-1]) if self.is_string else show_raw(self.text)


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
      | (?P<open_block>/\*.*+)
      | (?P<hash>\#[^\r\n]*+)
      | (?P<odd_space>[{SPACES}]++)
      | (?P<word>(?:[^ \t\r\n{SPACES}{{}}\[\]:,"'/]|/(?![/*]))++)
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

    def read(self) -> Node | None:
        """The first value of the text; what comes before and after it are problems."""
        token = self._peek()
        if token.kind == "end":
            return None
        root = Node("missing", token.start, token.end)
        try:
            if self._is_junk(token):
                self._expected("'{'", token)
            self._value(root)
            token = self._peek()
            if token.text == ":":
                self._fail("expected '{' before the first property, found ':'", token)
        except _BrokenError:
            for node in self._open:
                node.end = self._last.end
            return None if root.kind == "missing" else root
        if token.kind != "end":
            detail = f"found {token.describe()} after the end of the value; a file holds one definition"
            self._note("trailing-content", detail, token.start, max(token.end, len(self.text.rstrip())))
        return root

    def _is_junk(self, token: Token) -> bool:
        """Whether a token cannot begin the value of a text."""
        if token.kind == "word":
            problem = word_problem(token.text)
            is_number = token.text.lstrip("+-.")[:1].isdigit()
            return problem is not None and problem[0] == "invalid-json" and not is_number
        return token.kind == "unclosed" or (token.kind == "punctuation" and token.text not in "{[")

    def _peek(self) -> Token:
        """The next token, which stays; comments and odd spaces before it are noted."""
        while self._token is None:
            match = _token_pattern().match(self.text, self._position)
            kind = match.lastgroup if match else None
            if match is None or kind is None:
                raise AssertionError("every character is in a token")
            start, self._position = match.span(kind)
            token = Token(kind, start, self._position, match[kind])
            if kind in _NOISE:
                self._note_noise(token)
            else:
                self._token = token
        return self._token

    def _take(self) -> Token:
        self._last = self._peek()
        self._token = None
        return self._last

    def _value(self, node: Node) -> None:
        """Read the value that begins with the next token into a node."""
        token = self._take()
        node.start, node.end = token.start, token.end
        if token.kind == "punctuation":
            node.kind = "object" if token.text == "{" else "array"
            self._container(node)
            return
        node.kind = "word" if token.kind == "word" else "string"
        if token.kind == "unclosed":
            self._fail_unclosed(token)
        elif token.kind == "quoted":
            self._note_string(read_string(self.text, token.start, token.end)[1])
        elif token.kind == "word" and (problem := word_problem(token.text)):
            self._note(*problem, token.start, token.end)

    def _container(self, node: Node) -> None:
        """Read the properties or elements of an object or array, and its closing bracket."""
        if len(self._open) >= DEFINITION_LEVELS:
            detail = f"more than {DEFINITION_LEVELS} objects and arrays inside one another"
            self._note("too-deep", detail, node.start, node.end)
            raise _BrokenError
        self._open.append(node)
        comma = -1
        while not self._closes(node, comma):
            if node.kind == "object":
                self._property(node)
            else:
                self._element(node, comma)
            comma = self._comma(node)
        if node.kind == "object" and len({child.key for child in node.children}) < len(node.children):
            self._note_duplicates(node)
        self._open.pop()

    def _property(self, node: Node) -> None:
        token = self._peek()
        if token.text == ",":
            self._expected("a property name", token, outside=True)
        if token.kind == "unclosed":
            self._fail_unclosed(token, outside=True)
        if not token.is_string and not is_identifier(token.text):
            self._expected("a property name in double quotes", token, outside=True)
        child = Node("missing", token.end, token.end)
        child.key, child.key_start, child.key_end = token.text, token.start, token.end
        node.children.append(child)
        self._take()
        if token.kind == "word":
            detail = f"the property name {show_raw(token.text)} is not in quotes; write it in double quotes"
            self._note("json5-only", detail, token.start, token.end)
        elif token.kind == "plain":
            child.key = token.text[1:-1]
        else:
            child.key, issues = read_string(self.text, token.start, token.end)
            self._note_string(issues)
        self._colon(show(child.key))
        self._value(child)

    def _colon(self, name: str) -> None:
        """Read the colon between the name of a property and its value, which has to follow."""
        token = self._peek()
        if token.text != ":":
            what = "':' and a value after" if self._ends_property(token) else "':' after"
            self._expected(f"{what} {name}", token)
        self._take()
        token = self._peek()
        if token.text == ":" or self._ends_property(token):
            self._expected(f"a value for {name}", token)

    def _ends_property(self, token: Token) -> bool:
        """Whether a token stands where a property has ended, or begins the next one."""
        return token.text in (",", "}", "]") or token.kind == "end" or self._is_key(token)

    def _is_key(self, token: Token) -> bool:
        return (token.is_string or token.kind == "word") and _COLON.match(self.text, token.end) is not None

    def _element(self, node: Node, comma: int) -> None:
        token = self._peek()
        if token.text in (",", ":"):
            self._expected("a value" if comma >= 0 else "a value or ']'", token, outside=True)
        child = Node("missing", token.start, token.end)
        node.children.append(child)
        self._value(child)

    def _comma(self, node: Node) -> int:
        """Read the comma after a property or element; its offset, -1 where a bracket has to follow."""
        token = self._peek()
        if token.text == ",":
            return self._take().start
        if token.kind == "unclosed":
            self._fail_unclosed(token)
        if token.kind != "end" and token.text not in ("}", "]") and not self._is_sibling(node, token):
            after = f"the value of {show(node.children[-1].key or '')}" if node.kind == "object" else "the element"
            detail = f"expected ',' or '{_CLOSERS[node.kind]}' after {after}, found {token.describe()}"
            # The comma belongs on the line of the value before it.
            is_on_line = self._lines.line_of(token.start) == self._lines.line_of(self._last.end)
            self._fail(detail, token if is_on_line else self._last)
        return -1

    def _closes(self, node: Node, comma: int) -> bool:
        """Whether the next token is the bracket that ends an object or array; another bracket is a mistake."""
        token = self._peek()
        if token.text == _CLOSERS[node.kind]:
            if comma >= 0:
                detail = f"a comma after the last {'property' if node.kind == 'object' else 'element'}; remove it"
                self._note("trailing-comma", detail, comma, comma + 1, outside=True)
            node.end = self._take().end
            return True
        if token.kind == "end" or token.text in ("}", "]") or self._is_sibling(node, token):
            self._expected(self._bracket_of(node), token, outside=True)
        return False

    def _is_sibling(self, node: Node, token: Token) -> bool:
        """Whether a token begins the next element of an array whose last element was never closed."""
        is_in_object = token.text == "{" and node.kind == "object" and bool(node.children)
        return is_in_object and len(self._open) > 1 and self._open[-2].kind == "array"

    def _bracket_of(self, node: Node) -> str:
        """The missing bracket, in words."""
        return f"'{_CLOSERS[node.kind]}' to close the {node.kind} opened on line {self._lines.line_of(node.start)}"

    def _expected(self, what: str, token: Token, *, outside: bool = False) -> NoReturn:
        """Stop at a token where `what` was to come; at the end of the text it is the bracket of what is open."""
        if token.kind == "end":
            detail = f"expected {self._bracket_of(self._open[-1])}, found the end of the file"
            self._fail(detail, self._last, outside=True)
        self._fail(f"expected {what}, found {token.describe()}", token, outside=outside)

    def _fail_unclosed(self, token: Token, *, outside: bool = False) -> NoReturn:
        detail = f"the string {show(token.text[1:41])} has no closing {token.text[0]} on its line"
        self._fail(detail, token, outside=outside)

    def _fail(self, detail: str, token: Token, *, outside: bool = False) -> NoReturn:
        """Note a mistake at a token, and stop."""
        self._note("invalid-json", detail, token.start, token.end, outside=outside)
        raise _BrokenError

    def _note(self, kind: str, detail: str, start: int, end: int, *, outside: bool = False) -> None:
        """Note a problem of the property or element that is read, or from `outside` of the object or array around."""
        if len(self.problems) < DEFINITION_PROBLEMS:
            where = _pointer(self._open[:-1] if outside else self._open)
            self.problems.append(Problem(kind, detail, where, start, end))

    def _note_string(self, issues: list[Problem]) -> None:
        for issue in issues:
            self._note(issue.kind, issue.detail, issue.start, issue.end)

    def _note_noise(self, token: Token) -> None:
        start, end = token.start, token.end
        if token.kind == "block":
            detail = "a block comment; other readers of these files know only // comments"
            self._note("block-comment", detail, start, end, outside=True)
        elif token.kind == "open_block":
            self._note("invalid-json", "the comment has no closing */", start, start + 2, outside=True)
        elif token.kind == "hash":
            detail = "'#' does not begin a comment; write //"
            self._note("invalid-json", detail, start, start + 1, outside=True)
        else:
            detail = f"the character U+{ord(token.text[0]):04X} is not white space in JSON; write a space"
            self._note("json5-only", detail, start, end, outside=True)

    def _note_duplicates(self, node: Node) -> None:
        """Note each property that is there already; it is harmless if all its values have the same text."""
        by_key: dict[str | None, list[Node]] = {}
        for child in node.children:
            by_key.setdefault(child.key, []).append(child)
        for first, *others in by_key.values():
            if not others or len(self.problems) >= DEFINITION_PROBLEMS:
                continue
            is_same = len({self.text[child.start : child.end] for child in (first, *others)}) == 1
            line = self._lines.line_of(first.key_start)
            detail = f"the property {show(first.key or '')} is here already, on line {line}"
            detail += ", with the same value" if is_same else ""
            where = _pointer([*self._open[:-1]]) + (_pointer_token(self._open[-1], first) or "")
            for child in others[: DEFINITION_PROBLEMS - len(self.problems)]:
                span = (child.key_start, child.key_end)
                self.problems.append(Problem("duplicate-key", detail, where, *span, harmless=is_same))


def _pointer(nodes: Sequence[Node]) -> str:
    """The JSON pointer of what is being read in the last of some nested nodes, or of the nearest that it can name."""
    parts: list[str] = []
    for node in nodes:
        token = _pointer_token(node, node.children[-1]) if node.children else None
        if token is None:
            break
        parts.append(token)
    return "".join(parts)


def _pointer_token(node: Node, child: Node) -> str | None:
    """The part of a pointer that leads to a child; None for a key that pointers do not spell out."""
    if node.kind == "array":
        return f"/{len(node.children) - 1}"
    if child.key is None or len(child.key) > MAX_POINTER_KEY:
        return None
    return "/" + child.key.replace("~", "~0").replace("/", "~1")
