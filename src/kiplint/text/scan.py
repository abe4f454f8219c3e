"""A tolerant reading of a definition's text: the tree of its values with their places, and what is wrong with it.

The scan never fails and never gives up: after a mistake it guesses what was meant and reads on, so that one run
reports several mistakes. It is iterative and linear in time and memory whatever the text.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import Final

import msgspec

from kiplint.limits import DEFINITION_LEVELS, DEFINITION_PROBLEMS
from kiplint.text.decode import MAX_POINTER_KEY, Problem
from kiplint.text.lines import Lines
from kiplint.text.show import show, show_raw
from kiplint.text.tokens import (
    BLOCK,
    HASH,
    NOISE,
    ODD_SPACE,
    OPEN_BLOCK,
    PLAIN,
    PUNCTUATION,
    QUOTED,
    STRINGS,
    UNCLOSED,
    WORD,
    StringIssue,
    Token,
    colon_follows,
    is_identifier,
    read_string,
    tokens,
    word_problem,
)
from kiplint.text.tree import Kind, Node


class Expect(Enum):
    """What an open object or array can take next."""

    FIRST = auto()
    """A first key or element, or the closing bracket."""
    NEXT = auto()
    """A key or element, after a comma."""
    COLON = auto()
    VALUE = auto()
    COMMA = auto()
    """A comma or the closing bracket."""


CLOSERS: Final = {"object": "}", "array": "]"}
_WHAT: Final = {"object": "property", "array": "element"}


class OpenNode:
    """An object or array that is still open."""

    __slots__ = ("children", "comma", "expect", "first_keys", "member", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.children: list[Node] = []
        node.children = self.children
        self.expect = Expect.FIRST
        self.comma = -1
        self.member: Node | None = None
        """The property being read; None in arrays, and for a value without a key, which is dropped."""
        self.first_keys: dict[str, int] = {}

    @property
    def closer(self) -> str:
        """The bracket that closes it."""
        return CLOSERS[self.node.kind]

    @property
    def content(self) -> str:
        """What it is a list of, in words."""
        return _WHAT[self.node.kind]

    @property
    def is_object(self) -> bool:
        """Whether it is an object."""
        return self.node.kind == "object"

    def token(self) -> str | None:
        """The pointer token of its child being read; None when there is none that a pointer can name."""
        if not self.is_object:
            return str(len(self.children) - 1) if self.children else None
        if self.member is None or self.member.key is None or len(self.member.key) > MAX_POINTER_KEY:
            return None
        return escape(self.member.key)


def escape(token: str) -> str:
    """A key as a token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def pointer(frames: list[OpenNode]) -> str:
    """The JSON pointer of what the last of the frames is reading, or of the nearest thing a pointer can name."""
    parts: list[str] = []
    for frame in frames:
        token = frame.token()
        if token is None:
            break
        parts.append("/" + token)
    return "".join(parts)


_LINE_END: Final = re.compile(r"[\r\n]")


_KINDS: Final[dict[str, Kind]] = {"{": "object", "[": "array"}
_CLOSERS: Final = frozenset({"}", "]"})
_ENDS: Final = frozenset({",", "}", "]"})
_ASSIGNMENTS: Final = frozenset({"=", "=>"})


class Parser:
    """Takes tokens one by one, and builds the tree. The methods of states say whether to look at the token once more.

    At most `DEFINITION_PROBLEMS` problems are kept. A mistake in the syntax makes what follows look wrong too. So after
    one the parser is quiet about further syntax up to the end of its line, or until it has recovered.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self.stack: list[OpenNode] = []
        """The open objects and arrays."""
        self.last = Token(PUNCTUATION, 0, 0, "")
        """The last token taken."""
        self.comma_excused = False
        """Whether the token before this one was an unclosed string, which has most likely swallowed the comma."""
        self.brackets_guessed = False
        self.too_deep: Node | None = None
        """The first value beyond the depth limit."""
        self._lines = Lines(text)
        self._skipping: tuple[Node, int] | None = None
        self._quiet_until = 0

    @property
    def full(self) -> bool:
        """Whether no more problems are kept."""
        return len(self.problems) >= DEFINITION_PROBLEMS

    def add(self, kind: str, detail: str, pointer: str, start: int, end: int) -> None:
        """Note a problem that stands by itself."""
        if not self.full:
            self.problems.append(Problem(kind, detail, pointer, start, end))

    def quiet_at(self, offset: int) -> bool:
        """Whether a syntax problem at `offset` is not kept, or taken for an echo of an earlier one."""
        return self.full or offset < self._quiet_until

    def where(self) -> str:
        """The pointer of what is being read."""
        return pointer(self.stack)

    def container(self) -> str:
        """The pointer of the innermost open object or array."""
        return pointer(self.stack[:-1])

    def line_of(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return self._lines.line_of(offset)

    def syntax(self, detail: str, start: int, end: int, at: int | None = None, where: str | None = None) -> None:
        """Note a mistake in the syntax, unless it is an echo of one before it; `at` is where it came to light."""
        offset = start if at is None else at
        if not self.quiet_at(offset):
            self.add("invalid-json", detail, self.where() if where is None else where, start, end)
        if offset >= self._quiet_until:
            match = _LINE_END.search(self.text, offset)
            self._quiet_until = match.end() if match else len(self.text) + 1

    def expected(self, what: str, token: Token, where: str | None = None) -> None:
        """Note that `what` was to come where `token` came."""
        if not self.quiet_at(token.start):
            self.syntax(f"expected {what}, found {token.describe()}", token.start, token.end, where=where)

    def note(self, kind: str, detail: str, token: Token) -> None:
        """Note a mistake in a token that does not change how the text around it is read."""
        if not self.quiet_at(token.start):
            self.add(kind, detail, self.where(), token.start, token.end)

    def begin_member(self, frame: OpenNode, token: Token) -> None:
        """Begin a property with `token` as its key; its value is missing until it comes."""
        node = Node("missing", token.end, token.end)
        node.key_start, node.key_end = token.start, token.end
        issues: list[StringIssue] = []
        node.key = token.text[1:-1] if token.kind == PLAIN else token.text
        if token.kind == QUOTED:
            node.key, issues = read_string(self.text, token.start, token.end)
        frame.member = node
        frame.expect = Expect.COLON
        self._note_issues(issues, token)
        first = frame.first_keys.setdefault(node.key, token.start)
        if first != token.start and not self.full:
            detail = f"the property {show(node.key)} is here already, on line {self.line_of(first)}"
            self.add("duplicate-key", detail, self.where(), token.start, token.end)
        frame.children.append(node)

    def value(self, token: Token) -> None:
        """Take `token` as a value, or as the beginning of one, of whatever is open."""
        node = self._place(_KINDS.get(token.text) or ("word" if token.kind == WORD else "string"), token)
        if token.kind == PUNCTUATION:
            self._open(node)
        elif token.kind == WORD:
            self._check_word(token)
        elif token.kind == QUOTED:
            self._note_issues(read_string(self.text, token.start, token.end)[1], token)
        elif token.kind == UNCLOSED:
            self.unclosed(token)

    def unclosed(self, token: Token) -> None:
        """Note a string without an end."""
        quote = token.text[0]
        self.syntax(f"the string {show(token.text[1:41])} has no closing {quote} on its line", token.start, token.end)
        self.comma_excused = True

    def close(self, frame: OpenNode, token: Token) -> bool:
        """Close `frame` with a closing bracket; True when the bracket belongs to a frame further out."""
        if token.text == frame.closer:
            if frame.expect is Expect.NEXT:
                detail = f"a comma after the last {frame.content}; remove it"
                self.add("trailing-comma", detail, self.container(), frame.comma, frame.comma + 1)
            self.pop(token.end)
            return False
        self.expected(self.closing(frame), token, self.container())
        outer = any(token.text == other.closer for other in self.stack)
        self.brackets_guessed = True
        self.pop(self.last.end if outer else token.end)
        return outer

    def closing(self, frame: OpenNode) -> str:
        """The missing bracket, in words."""
        return f"'{frame.closer}' to close the {frame.node.kind} opened on line {self.line_of(frame.node.start)}"

    def pop(self, end: int) -> None:
        """The innermost frame ends at `end`."""
        self.stack.pop().node.end = end

    def skip(self, token: Token) -> bool:
        """Pass over `token` if it is inside a value beyond the depth limit."""
        if self._skipping is None:
            return False
        node, depth = self._skipping
        if token.kind == PUNCTUATION and token.text in "{[}]":
            depth += 1 if token.text in "{[" else -1
        node.end = token.end
        self._skipping = (node, depth) if depth else None
        return True

    def _note_issues(self, issues: list[StringIssue], token: Token) -> None:
        for issue in issues:
            # An apostrophe after a mistake is seldom meant as a quote.
            if issue.kind == "invalid-json" or not self.quiet_at(token.start):
                self.add(issue.kind, issue.detail, self.where(), issue.start, issue.end)

    def _place(self, kind: Kind, token: Token) -> Node:
        node = Node(kind, token.start, token.end)
        if not self.stack:
            self.root = node
            return node
        frame = self.stack[-1]
        frame.expect = Expect.COMMA
        if not frame.is_object:
            frame.children.append(node)
        elif frame.member is not None:
            node = frame.member
            node.kind, node.start, node.end = kind, token.start, token.end
        return node

    def _open(self, node: Node) -> None:
        if len(self.stack) < DEFINITION_LEVELS:
            self.stack.append(OpenNode(node))
            return
        self._skipping = (node, 1)
        if self.too_deep is None:
            self.too_deep = node
            detail = f"more than {DEFINITION_LEVELS} objects and arrays inside one another"
            self.add("too-deep", detail, self.where(), node.start, node.end)

    def _check_word(self, token: Token) -> None:
        problem = word_problem(token.text)
        if problem is None:
            return
        kind, detail = problem
        if kind == "invalid-json":
            self.syntax(detail, token.start, token.end)
        else:
            self.note(kind, detail, token)

    def take(self, token: Token) -> bool:
        """Take the next token; False when the rest of the text need not be read."""
        if not self.skip(token):
            if token.kind in NOISE:
                self._noise(token)
                return True
            if self.root is not None and not self.stack:
                self._trailing(token)
                return False
            is_excused = self.comma_excused
            while self._step(token):
                pass
            if is_excused and token.kind != UNCLOSED:
                self.comma_excused = False
        self.last = token
        return True

    def finish(self) -> None:
        """The text has ended: note what is still open."""
        if self.stack and self.too_deep is None:
            detail = f"expected {self.closing(self.stack[-1])}, found the end of the file"
            self.syntax(detail, self.last.start, self.last.end, len(self.text), self.container())
        while self.stack:
            self.pop(self.last.end)

    def _step(self, token: Token) -> bool:
        if not self.stack:
            return self._at_root(token)
        frame = self.stack[-1]
        match frame.expect:
            case Expect.COMMA:
                return self._at_comma(frame, token)
            case Expect.COLON:
                return self._at_colon(frame, token)
            case Expect.VALUE:
                return self._at_value(frame, token)
            case _ if frame.is_object:
                return self._at_key(frame, token)
            case _:
                return self._at_element(frame, token)

    def _at_root(self, token: Token) -> bool:
        junk = token.kind == UNCLOSED or (token.kind == PUNCTUATION and token.text not in "{[")
        if token.kind == WORD:
            problem = word_problem(token.text)
            number = token.text.lstrip("+-.")[:1].isdigit()
            junk = problem is not None and problem[0] == "invalid-json" and not number
        if not junk:
            self.value(token)
        elif not self.brackets_guessed:
            self.brackets_guessed = True
            self.expected("'{'", token)
        return False

    def _at_key(self, frame: OpenNode, token: Token) -> bool:
        if token.kind in STRINGS:
            self.begin_member(frame, token)
            return False
        if token.kind == WORD:
            return self._bare_key(frame, token)
        if token.kind == UNCLOSED:
            self.unclosed(token)
            frame.expect = Expect.COMMA
            return False
        if token.text in _CLOSERS:
            return self.close(frame, token)
        if token.text == ",":
            self.expected("a property name", token)
            frame.expect = Expect.FIRST
            return False
        if self._closer_missing(frame, token):
            return True
        self.expected("a property name in double quotes", token)
        frame.expect = Expect.VALUE
        return token.text != ":"

    def _bare_key(self, frame: OpenNode, token: Token) -> bool:
        if not is_identifier(token.text):
            self.expected("a property name in double quotes", token)
            if not colon_follows(self.text, token.end):
                return False
        quiet = self.quiet_at(token.start)
        self.begin_member(frame, token)
        if not quiet and is_identifier(token.text):
            detail = f"the property name {show_raw(token.text)} is not in quotes; write it in double quotes"
            self.note("json5-only", detail, token)
        return False

    def _at_colon(self, frame: OpenNode, token: Token) -> bool:
        if token.text == ":":
            frame.expect = Expect.VALUE
            return False
        if token.text in _ENDS:
            self.expected(f"':' and a value after {_name(frame)}", token)
            frame.expect = Expect.COMMA
            return True
        if self._is_key(token):
            self.expected(f"':' and a value after {_name(frame)}", token)
            return self._next(frame)
        self.expected(f"':' after {_name(frame)}", token)
        frame.expect = Expect.VALUE
        return token.text not in _ASSIGNMENTS

    def _at_value(self, frame: OpenNode, token: Token) -> bool:
        if token.text == ":":
            self.expected(f"a value for {_name(frame)}", token)
            return False
        if token.text in _ENDS:
            self.expected(f"a value for {_name(frame)}", token)
            frame.expect = Expect.COMMA
            return True
        if self._is_key(token):
            self.expected(f"a value for {_name(frame)}", token)
            return self._next(frame)
        self.value(token)
        return False

    def _at_element(self, frame: OpenNode, token: Token) -> bool:
        if token.text in _CLOSERS:
            return self.close(frame, token)
        if token.text in {",", ":"}:
            self.expected("a value" if frame.expect is Expect.NEXT else "a value or ']'", token, self.container())
            frame.expect = Expect.FIRST
            return False
        self.value(token)
        return False

    def _at_comma(self, frame: OpenNode, token: Token) -> bool:
        if token.text == ",":
            frame.comma = token.start
            self._quiet_until = 0
            self._next(frame)
            return False
        if token.text in _CLOSERS:
            return self.close(frame, token)
        if token.kind == UNCLOSED:
            self.unclosed(token)
            return False
        if self._closer_missing(frame, token):
            return True
        self._comma_missing(frame, token)
        if token.text == ":":
            return False
        if not frame.is_object or self._is_key(token):
            return self._next(frame)
        if token.kind == PUNCTUATION:
            frame.member = None
            frame.expect = Expect.VALUE
            return True
        return False

    def _next(self, frame: OpenNode) -> bool:
        frame.member = None
        frame.expect = Expect.NEXT
        return True

    def _is_key(self, token: Token) -> bool:
        return (token.kind in STRINGS or token.kind == WORD) and colon_follows(self.text, token.end)

    def _closer_missing(self, frame: OpenNode, token: Token) -> bool:
        """Whether `token` begins the next element of an array whose last element was never closed."""
        if not (token.text == "{" and frame.is_object and len(self.stack) > 1 and frame.expect is not Expect.FIRST):
            return False
        outer = self.stack[-2]
        if outer.is_object:
            return False
        self.expected(self.closing(frame), token, self.container())
        self.brackets_guessed = True
        self.pop(self.last.end)
        return self._next(outer)

    def _comma_missing(self, frame: OpenNode, token: Token) -> None:
        if self.comma_excused or self.quiet_at(token.start):
            return
        after = f"the value of {_name(frame)}" if frame.is_object else "the element"
        detail = f"expected ',' or '{frame.closer}' after {after}, found {token.describe()}"
        # The comma belongs on the line of the value before it.
        place = token if self.line_of(token.start) == self.line_of(self.last.end) else self.last
        self.syntax(detail, place.start, place.end, token.start)

    def _noise(self, token: Token) -> None:
        if token.kind == BLOCK:
            detail = "a block comment; other readers of these files know only // comments"
            self.add("block-comment", detail, self.container(), token.start, token.end)
        elif token.kind == OPEN_BLOCK:
            self.syntax("the comment has no closing */", token.start, token.start + 2, where=self.container())
        elif token.kind == HASH:
            self.syntax("'#' does not begin a comment; write //", token.start, token.start + 1, where=self.container())
        elif token.kind == ODD_SPACE:
            detail = f"the character U+{ord(token.text[0]):04X} is not white space in JSON; write a space"
            self.add("json5-only", detail, self.container(), token.start, token.end)

    def _trailing(self, token: Token) -> None:
        end = max(token.end, len(self.text.rstrip()))
        if token.text == ":":
            self.syntax("expected '{' before the first property, found ':'", token.start, token.end)
        elif not self.brackets_guessed:
            detail = f"found {token.describe()} after the end of the value; a file holds one definition"
            self.add("trailing-content", detail, "", token.start, end)


def _name(frame: OpenNode) -> str:
    if frame.member is None or frame.member.key is None:
        return "the property"
    return show(frame.member.key)


class Scan(msgspec.Struct, frozen=True):
    """What a scan found: the first complete value (None when there is none) and the problems in text order."""

    root: Node | None
    problems: tuple[Problem, ...]


@lru_cache(maxsize=1)
def scan(text: str) -> Scan:
    """Scan a text; at most `DEFINITION_PROBLEMS` problems, each with a pointer and character offsets.

    The last scan is kept, because each step of a command reads a broken text again.
    Kinds: trailing-comma, json5-only, invalid-json, trailing-content, duplicate-key, too-deep, block-comment.
    A text of nothing but white space and comments has no root and no problem for that.
    """
    parser = Parser(text)
    for token in tokens(text):
        if not parser.take(token):
            break
    parser.finish()
    return Scan(parser.root, tuple(sorted(parser.problems, key=lambda problem: problem.start)))
