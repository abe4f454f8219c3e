"""The tree of a definition's text: where every value stands, and what is wrong with the syntax.

The scan never fails and never gives up: after a mistake it guesses what was meant and reads on, so that one run
reports several mistakes. It is linear in time and memory whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from kiplint.limits import DEFINITION_LEVELS, DEFINITION_PROBLEMS
from kiplint.text.decode import MAX_POINTER_KEY, Problem
from kiplint.text.lines import BOM, Lines
from kiplint.text.literals import StringIssue, is_identifier, read_string, word_problem
from kiplint.text.show import show, show_raw

Kind = Literal["object", "array", "string", "word", "missing"]
"""`word` is a number, true, false, null or anything else outside quotes; `missing` is a key without a value."""

# JSON5's white space beside JSON's: Unicode's space separators, and these others. A test compares it with Unicode.
SPACES: Final = "\v\f\ufeff\u2028\u2029\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOISE: Final = frozenset({"block", "open_block", "hash", "odd_space"})
_COLON: Final = re.compile(r"[ \t\r\n]*+:")
_LINE_END: Final = re.compile(r"[\r\n]")
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
        """The value of a string; None for any other value."""
        if self.kind != "string":
            return None
        closed = self.end - self.start > 1 and text[self.end - 1] == text[self.start]
        return read_string(text, self.start, self.end, closed=closed)[0]


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


class _Frame:
    """An object or array that is still open, and the key of the property being read."""

    __slots__ = ("is_new", "key", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.key: str | None = None
        self.is_new = True

    @property
    def name(self) -> str:
        """The property being read, as messages name it."""
        return "the property" if self.key is None else show(self.key)

    def pointer_token(self) -> str | None:
        """The pointer token of the child being read; None when there is none that a pointer can name."""
        if self.node.kind == "array":
            return str(len(self.node.children) - 1) if self.node.children else None
        if self.key is None or len(self.key) > MAX_POINTER_KEY:
            return None
        return self.key.replace("~", "~0").replace("/", "~1")


class _Scanner:
    """Reads values by recursive descent, no deeper than `DEFINITION_LEVELS`.

    A mistake in the syntax makes what follows look wrong too. So after one the scanner is quiet about further syntax
    up to the end of its line, or until the next comma where one is expected.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._lines = Lines(text)
        self._frames: list[_Frame] = []
        self._position = 1 if text.startswith(BOM) else 0
        self._token: Token | None = None
        self._last = Token("punctuation", 0, 0, "")
        self._quiet_until = 0
        self._brackets_guessed = self._too_deep = self._ended = False

    def read(self) -> Node | None:
        """The first value of the text; what comes before and after it are problems."""
        while self._is_junk(token := self._peek()):
            if not self._brackets_guessed:
                self._brackets_guessed = True
                self._expected("'{'", token)
            self._take()
        if token.kind == "end":
            return None
        root = self._value(Node("missing", token.start, token.end))
        token = self._peek()
        if token.text == ":":
            self._syntax("expected '{' before the first property, found ':'", token.start, token.end)
        elif token.kind != "end" and not self._brackets_guessed:
            detail = f"found {token.describe()} after the end of the value; a file holds one definition"
            self._add("trailing-content", detail, "", token.start, max(token.end, len(self.text.rstrip())))
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

    def _value(self, node: Node) -> Node:
        """Read the value that begins with the next token into a node."""
        token = self._take()
        node.start, node.end = token.start, token.end
        if token.kind == "punctuation":
            node.kind = "object" if token.text == "{" else "array"
            if len(self._frames) < DEFINITION_LEVELS:
                self._container(node)
            else:
                self._skip(node)
            return node
        node.kind = "word" if token.kind == "word" else "string"
        if token.kind == "unclosed":
            self._note_unclosed(token)
        elif token.kind == "quoted":
            self._note_issues(read_string(self.text, token.start, token.end)[1], token)
        elif token.kind == "word" and (problem := word_problem(token.text)):
            self._note_word(problem, token)
        return node

    def _skip(self, node: Node) -> None:
        """Pass over an object or array beyond the depth limit."""
        if not self._too_deep:
            self._too_deep = True
            detail = f"more than {DEFINITION_LEVELS} objects and arrays inside one another"
            self._add("too-deep", detail, self._pointer(), node.start, node.end)
        depth = 1
        while depth and self._peek().kind != "end":
            token = self._take()
            if token.kind == "punctuation" and token.text in "{[}]":
                depth += 1 if token.text in "{[" else -1
            node.end = token.end

    def _container(self, node: Node) -> None:
        """Read the properties or elements of an object or array, and its closing bracket."""
        frame = _Frame(node)
        self._frames.append(frame)
        comma = -1
        while not self._closes(frame, comma) and not self._begins_sibling(frame):
            needs_comma = self._property(frame) if node.kind == "object" else self._element(frame, comma)
            frame.is_new = False
            comma = self._comma(frame) if needs_comma else -1
        self._frames.pop()
        if len({child.key for child in node.children}) < len(node.children) and node.kind == "object":
            self._note_duplicates(node, frame)

    def _property(self, frame: _Frame) -> bool:
        """Read a property; whether a comma has to follow."""
        frame.key = None
        token = self._peek()
        if token.text == ",":
            self._expected("a property name", self._take())
            return False
        if token.kind == "unclosed":
            self._note_unclosed(self._take())
            return True
        if token.kind == "punctuation":
            self._expected("a property name in double quotes", token)
            if token.text == ":":
                self._take()
            return self._value_after_colon(frame, Node("missing", token.end, token.end))
        is_key = token.is_string or is_identifier(token.text)
        if not is_key:
            self._expected("a property name in double quotes", token)
            if not _COLON.match(self.text, token.end):
                self._take()
                return False
        is_quiet = self._is_quiet(token.start)
        node = self._key(frame, self._take())
        if token.kind == "word" and is_key and not is_quiet:
            detail = f"the property name {show_raw(token.text)} is not in quotes; write it in double quotes"
            self._note("json5-only", detail, token)
        token = self._peek()
        if token.text == ":":
            self._take()
        elif token.text in (",", "}", "]") or token.kind == "end" or self._is_key(token):
            self._expected(f"':' and a value after {frame.name}", token)
            return not self._is_key(token)
        else:
            self._expected(f"':' after {frame.name}", token)
            if token.text in ("=", "=>"):
                self._take()
        return self._value_after_colon(frame, node)

    def _key(self, frame: _Frame, token: Token) -> Node:
        """Begin a property with a token as its key; its value is missing until it comes."""
        node = Node("missing", token.end, token.end)
        node.key_start, node.key_end = token.start, token.end
        issues: list[StringIssue] = []
        node.key = token.text[1:-1] if token.kind == "plain" else token.text
        if token.kind == "quoted":
            node.key, issues = read_string(self.text, token.start, token.end)
        frame.key = node.key
        frame.node.children.append(node)
        self._note_issues(issues, token)
        return node

    def _value_after_colon(self, frame: _Frame, node: Node) -> bool:
        """Read the value of a property, if there is one; whether a comma has to follow."""
        while (token := self._peek()).text == ":":
            self._expected(f"a value for {frame.name}", self._take())
        if token.text in (",", "}", "]") or token.kind == "end" or self._is_key(token):
            self._expected(f"a value for {frame.name}", token)
            return not self._is_key(token)
        self._value(node)
        return True

    def _element(self, frame: _Frame, comma: int) -> bool:
        """Read an element; whether a comma has to follow."""
        token = self._peek()
        if token.text in (",", ":"):
            what = "a value" if comma >= 0 else "a value or ']'"
            self._expected(what, self._take(), self._pointer(self._frames[:-1]))
            return False
        node = Node("missing", token.start, token.end)
        frame.node.children.append(node)
        self._value(node)
        return True

    def _comma(self, frame: _Frame) -> int:
        """Read up to the comma after a property or element; its offset, -1 where it is missing."""
        while (token := self._peek()).kind != "end" and token.text not in ("}", "]"):
            if token.text == ",":
                self._quiet_until = 0
                return self._take().start
            if token.kind == "unclosed":
                self._note_unclosed(self._take())
                continue
            if self._is_sibling(frame, token):
                break
            self._note_missing_comma(frame, token)
            if token.text == ":":
                self._take()
            elif frame.node.kind == "array" or self._is_key(token):
                break
            elif token.kind == "punctuation":
                frame.key = None
                self._value(Node("missing", token.start, token.end))
            else:
                self._take()
        return -1

    def _is_key(self, token: Token) -> bool:
        return (token.is_string or token.kind == "word") and _COLON.match(self.text, token.end) is not None

    def _closes(self, frame: _Frame, comma: int) -> bool:
        """Whether the next token ends an object or array: its bracket, that of another one, or the end of the text."""
        token = self._peek()
        where = self._frames[:-1]
        if token.kind == "end":
            if not self._ended and not self._too_deep:
                detail = f"expected {self._bracket_of(frame)}, found the end of the file"
                self._syntax(detail, self._last.start, self._last.end, len(self.text), self._pointer(where))
            self._ended = True
            frame.node.end = self._last.end
            return True
        if token.text not in ("}", "]"):
            return False
        if token.text == _CLOSERS[frame.node.kind]:
            if comma >= 0:
                content = "property" if frame.node.kind == "object" else "element"
                detail = f"a comma after the last {content}; remove it"
                self._add("trailing-comma", detail, self._pointer(where), comma, comma + 1)
            frame.node.end = self._take().end
            return True
        self._expected(self._bracket_of(frame), token, self._pointer(where))
        self._brackets_guessed = True
        is_outer = any(token.text == _CLOSERS[outer.node.kind] for outer in where)
        frame.node.end = self._last.end if is_outer else self._take().end
        return True

    def _is_sibling(self, frame: _Frame, token: Token) -> bool:
        """Whether a token begins the next element of an array whose last element was never closed."""
        if token.text != "{" or frame.node.kind != "object" or len(self._frames) < 2 or frame.is_new:
            return False
        return self._frames[-2].node.kind == "array"

    def _begins_sibling(self, frame: _Frame) -> bool:
        token = self._peek()
        if not self._is_sibling(frame, token):
            return False
        self._expected(self._bracket_of(frame), token, self._pointer(self._frames[:-1]))
        self._brackets_guessed = True
        frame.node.end = self._last.end
        return True

    def _bracket_of(self, frame: _Frame) -> str:
        """The missing bracket, in words."""
        node = frame.node
        return f"'{_CLOSERS[node.kind]}' to close the {node.kind} opened on line {self._lines.line_of(node.start)}"

    def _pointer(self, frames: Sequence[_Frame] | None = None) -> str:
        """The JSON pointer of what the last frame is reading, or of the nearest thing a pointer can name."""
        parts: list[str] = []
        for frame in self._frames if frames is None else frames:
            token = frame.pointer_token()
            if token is None:
                break
            parts.append("/" + token)
        return "".join(parts)

    def _is_full(self) -> bool:
        """Whether no more problems are kept, so that none needs a pointer."""
        return len(self.problems) >= DEFINITION_PROBLEMS

    def _is_quiet(self, offset: int) -> bool:
        """Whether a syntax problem at an offset is not kept, or taken for a consequence of an earlier one."""
        return self._is_full() or offset < self._quiet_until

    def _add(self, kind: str, detail: str, pointer: str, start: int, end: int) -> None:
        """Note a problem that stands by itself."""
        if not self._is_full():
            self.problems.append(Problem(kind, detail, pointer, start, end))

    def _note(self, kind: str, detail: str, token: Token) -> None:
        """Note a mistake in a token that does not change how the text around it is read."""
        if not self._is_quiet(token.start):
            self._add(kind, detail, self._pointer(), token.start, token.end)

    def _syntax(self, detail: str, start: int, end: int, at: int | None = None, where: str | None = None) -> None:
        """Note a mistake in the syntax, unless it is a consequence of one before; `at` is where it came to light."""
        offset = start if at is None else at
        if not self._is_quiet(offset):
            self._add("invalid-json", detail, self._pointer() if where is None else where, start, end)
        if offset >= self._quiet_until:
            line_end = _LINE_END.search(self.text, offset)
            self._quiet_until = line_end.end() if line_end else len(self.text) + 1

    def _expected(self, what: str, token: Token, where: str | None = None) -> None:
        """Note that `what` was to come where a token came; the end of the text is noted by whatever is still open."""
        if token.kind != "end" and not self._is_quiet(token.start):
            self._syntax(f"expected {what}, found {token.describe()}", token.start, token.end, where=where)

    def _note_missing_comma(self, frame: _Frame, token: Token) -> None:
        # A string without an end has most likely swallowed the comma.
        if self._last.kind == "unclosed" or self._is_quiet(token.start):
            return
        is_object = frame.node.kind == "object"
        after = f"the value of {frame.name}" if is_object else "the element"
        detail = f"expected ',' or '{_CLOSERS[frame.node.kind]}' after {after}, found {token.describe()}"
        # The comma belongs on the line of the value before it.
        is_on_line = self._lines.line_of(token.start) == self._lines.line_of(self._last.end)
        marked = token if is_on_line else self._last
        self._syntax(detail, marked.start, marked.end, token.start)

    def _note_unclosed(self, token: Token) -> None:
        quote = token.text[0]
        self._syntax(f"the string {show(token.text[1:41])} has no closing {quote} on its line", token.start, token.end)

    def _note_word(self, problem: tuple[str, str], token: Token) -> None:
        kind, detail = problem
        if kind == "invalid-json":
            self._syntax(detail, token.start, token.end)
        else:
            self._note(kind, detail, token)

    def _note_issues(self, issues: list[StringIssue], token: Token) -> None:
        for issue in () if self._is_full() else issues:
            # An apostrophe after a mistake is seldom meant as a quote.
            if issue.kind == "invalid-json" or not self._is_quiet(token.start):
                self._add(issue.kind, issue.detail, self._pointer(), issue.start, issue.end)

    def _note_noise(self, token: Token) -> None:
        if self._is_full():
            return
        where = self._pointer(self._frames[:-1])
        if token.kind == "block":
            detail = "a block comment; other readers of these files know only // comments"
            self._add("block-comment", detail, where, token.start, token.end)
        elif token.kind == "open_block":
            self._syntax("the comment has no closing */", token.start, token.start + 2, where=where)
        elif token.kind == "hash":
            self._syntax("'#' does not begin a comment; write //", token.start, token.start + 1, where=where)
        else:
            detail = f"the character U+{ord(token.text[0]):04X} is not white space in JSON; write a space"
            self._add("json5-only", detail, where, token.start, token.end)

    def _note_duplicates(self, node: Node, frame: _Frame) -> None:
        """Note each property that is there already; it is harmless if all its values have the same text."""
        by_key: dict[str | None, list[Node]] = {}
        for child in node.children:
            by_key.setdefault(child.key, []).append(child)
        for key, (first, *others) in by_key.items():
            if not others or self._is_full():
                continue
            is_same = len({self.text[child.start : child.end] for child in (first, *others)}) == 1
            line = self._lines.line_of(first.key_start)
            detail = f"the property {show(key or '')} is here already, on line {line}"
            frame.key = key
            where = self._pointer([*self._frames, frame])
            for child in others:
                if not self._is_full():
                    same = ", with the same value" if is_same else ""
                    span = (child.key_start, child.key_end)
                    self.problems.append(Problem("duplicate-key", detail + same, where, *span, harmless=is_same))
