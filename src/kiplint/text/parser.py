"""The state machine behind `scan`: what may come next, and what to make of it when something else comes."""

from __future__ import annotations

from typing import Final

from kiplint.text.builder import Builder
from kiplint.text.frames import Expect, Frame
from kiplint.text.literals import is_identifier, word_problem
from kiplint.text.show import show, show_raw
from kiplint.text.tokens import (
    BLOCK,
    HASH,
    NOISE,
    ODD_SPACE,
    OPEN_BLOCK,
    PUNCTUATION,
    STRINGS,
    UNCLOSED,
    WORD,
    Token,
    colon_follows,
)

_CLOSERS: Final = frozenset({"}", "]"})
_ENDS: Final = frozenset({",", "}", "]"})
_ASSIGNMENTS: Final = frozenset({"=", "=>"})


class Parser(Builder):
    """Takes tokens one by one. The methods of states say whether the token is to be looked at once more."""

    def take(self, token: Token) -> bool:
        """Take the next token; False when the rest of the text need not be read."""
        if not self.skip(token):
            if token.kind in NOISE:
                self._noise(token)
                return True
            if self.root is not None and not self.stack:
                self._trailing(token)
                return False
            excused = self.comma_excused
            while self._step(token):
                pass
            if excused and token.kind != UNCLOSED:
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
            found = word_problem(token.text)
            number = token.text.lstrip("+-.")[:1].isdigit()
            junk = found is not None and found[0] == "invalid-json" and not number
        if not junk:
            self.value(token)
        elif not self.brackets_guessed:
            self.brackets_guessed = True
            self.expected("'{'", token)
        return False

    def _at_key(self, frame: Frame, token: Token) -> bool:
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

    def _bare_key(self, frame: Frame, token: Token) -> bool:
        if not is_identifier(token.text):
            self.expected("a property name in double quotes", token)
            if not colon_follows(self.text, token.end):
                return False
        quiet = self.collector.quiet_at(token.start)
        self.begin_member(frame, token)
        if not quiet and is_identifier(token.text):
            detail = f"the property name {show_raw(token.text)} is not in quotes; write it in double quotes"
            self.note("json5-only", detail, token)
        return False

    def _at_colon(self, frame: Frame, token: Token) -> bool:
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

    def _at_value(self, frame: Frame, token: Token) -> bool:
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

    def _at_element(self, frame: Frame, token: Token) -> bool:
        if token.text in _CLOSERS:
            return self.close(frame, token)
        if token.text in {",", ":"}:
            self.expected("a value" if frame.expect is Expect.NEXT else "a value or ']'", token, self.container())
            frame.expect = Expect.FIRST
            return False
        self.value(token)
        return False

    def _at_comma(self, frame: Frame, token: Token) -> bool:
        if token.text == ",":
            frame.comma = token.start
            self.collector.recovered()
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

    def _next(self, frame: Frame) -> bool:
        frame.member = None
        frame.expect = Expect.NEXT
        return True

    def _is_key(self, token: Token) -> bool:
        return (token.kind in STRINGS or token.kind == WORD) and colon_follows(self.text, token.end)

    def _closer_missing(self, frame: Frame, token: Token) -> bool:
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

    def _comma_missing(self, frame: Frame, token: Token) -> None:
        if self.comma_excused or self.collector.full or self.collector.quiet_at(token.start):
            return
        after = f"the value of {_name(frame)}" if frame.is_object else "the element"
        detail = f"expected ',' or '{frame.closer}' after {after}, found {token.described()}"
        # The comma belongs on the line of the value before it.
        place = token if self.line_of(token.start) == self.line_of(self.last.end) else self.last
        self.syntax(detail, place.start, place.end, token.start)

    def _noise(self, token: Token) -> None:
        if token.kind == BLOCK:
            detail = "a block comment; other readers of these files know only // comments"
            self.collector.add("block-comment", detail, self.container(), token.start, token.end)
        elif token.kind == OPEN_BLOCK:
            self.syntax("the comment has no closing */", token.start, token.start + 2, where=self.container())
        elif token.kind == HASH:
            self.syntax("'#' does not begin a comment; write //", token.start, token.start + 1, where=self.container())
        elif token.kind == ODD_SPACE:
            detail = f"the character U+{ord(token.text[0]):04X} is not white space in JSON; write a space"
            self.collector.add("json5-only", detail, self.container(), token.start, token.end)

    def _trailing(self, token: Token) -> None:
        end = max(token.end, len(self.text.rstrip()))
        if token.text == ":":
            self.syntax("expected '{' before the first property, found ':'", token.start, token.end)
        elif not self.brackets_guessed:
            detail = f"found {token.described()} after the end of the value; a file holds one definition"
            self.collector.add("trailing-content", detail, "", token.start, end)


def _name(frame: Frame) -> str:
    if frame.member is None or frame.member.key is None:
        return "the property"
    return show(frame.member.key)
