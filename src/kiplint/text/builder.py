"""Building the tree of a scan: opening, filling and closing objects and arrays, and noting problems on the way."""

from __future__ import annotations

from typing import Final

from kiplint.text.collector import Collector
from kiplint.text.frames import Expect, Frame, pointer
from kiplint.text.limits import MAX_DEPTH
from kiplint.text.lines import Lines
from kiplint.text.literals import word_problem
from kiplint.text.nodes import Kind, Node
from kiplint.text.show import show
from kiplint.text.strings import StringIssue, read_string
from kiplint.text.tokens import PLAIN, PUNCTUATION, QUOTED, UNCLOSED, WORD, Token

_KINDS: Final[dict[str, Kind]] = {"{": "object", "[": "array"}


class Builder:
    """The tree so far: `stack` are the open frames, `last` the last token taken."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.collector = Collector(text)
        self.root: Node | None = None
        self.stack: list[Frame] = []
        self.last = Token(PUNCTUATION, 0, 0, "")
        self.comma_excused = False
        """Whether the token before this one was an unclosed string, which has most likely swallowed the comma."""
        self.brackets_guessed = False
        self.too_deep: Node | None = None
        """The first value beyond the depth limit."""
        self._lines = Lines(text)
        self._skipping: tuple[Node, int] | None = None

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
        if not (self.collector.full or self.collector.quiet_at(offset)):
            self.collector.add("invalid-json", detail, self.where() if where is None else where, start, end)
        self.collector.hush(offset)

    def expected(self, what: str, token: Token, where: str | None = None) -> None:
        """Note that `what` was to come where `token` came."""
        if not (self.collector.full or self.collector.quiet_at(token.start)):
            self.syntax(f"expected {what}, found {token.described()}", token.start, token.end, where=where)

    def note(self, kind: str, detail: str, token: Token) -> None:
        """Note a mistake in a token that does not change how the text around it is read."""
        if not (self.collector.full or self.collector.quiet_at(token.start)):
            self.collector.add(kind, detail, self.where(), token.start, token.end)

    def begin_member(self, frame: Frame, token: Token) -> None:
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
        first = frame.seen.setdefault(node.key, token.start)
        if first != token.start and not self.collector.full:
            detail = f"the property {show(node.key)} is here already, on line {self.line_of(first)}"
            self.collector.add("duplicate-key", detail, self.where(), token.start, token.end)
        frame.children.append(node)

    def value(self, token: Token) -> None:
        """Take `token` as a value, or as the beginning of one, of whatever is open."""
        node = self._placed(_KINDS.get(token.text) or ("word" if token.kind == WORD else "string"), token)
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

    def close(self, frame: Frame, token: Token) -> bool:
        """Close `frame` with a closing bracket; True when the bracket belongs to a frame further out."""
        if token.text == frame.closer:
            if frame.expect is Expect.NEXT:
                detail = f"a comma after the last {frame.content}; remove it"
                self.collector.add("trailing-comma", detail, self.container(), frame.comma, frame.comma + 1)
            self.pop(token.end)
            return False
        self.expected(self.closing(frame), token, self.container())
        outer = any(token.text == other.closer for other in self.stack)
        self.brackets_guessed = True
        self.pop(self.last.end if outer else token.end)
        return outer

    def closing(self, frame: Frame) -> str:
        """The bracket that is missing, in words."""
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
            if issue.kind == "invalid-json" or not self.collector.quiet_at(token.start):
                self.collector.add(issue.kind, issue.detail, self.where(), issue.start, issue.end)

    def _placed(self, kind: Kind, token: Token) -> Node:
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
        if len(self.stack) < MAX_DEPTH:
            self.stack.append(Frame(node))
            return
        self._skipping = (node, 1)
        if self.too_deep is None:
            self.too_deep = node
            detail = f"more than {MAX_DEPTH} objects and arrays inside one another"
            self.collector.add("too-deep", detail, self.where(), node.start, node.end)

    def _check_word(self, token: Token) -> None:
        found = word_problem(token.text)
        if found is None:
            return
        kind, detail = found
        if kind == "invalid-json":
            self.syntax(detail, token.start, token.end)
        else:
            self.note(kind, detail, token)
