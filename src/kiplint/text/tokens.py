"""Cutting a text into the tokens of JSON, of JSON5, and of what people write by mistake."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

from kiplint.text.lines import BOM
from kiplint.text.show import show, show_raw

# Kinds of tokens. PLAIN is a string that needs no second look; QUOTED has escapes, control characters or
# single quotes; UNCLOSED has no closing quote on its line; WORD is anything else: numbers, literals, junk.
PLAIN: Final = "plain"
QUOTED: Final = "quoted"
UNCLOSED: Final = "unclosed"
WORD: Final = "word"
PUNCTUATION: Final = "punctuation"
BLOCK: Final = "block"
OPEN_BLOCK: Final = "open_block"
HASH: Final = "hash"
ODD_SPACE: Final = "odd_space"

STRINGS: Final = frozenset({PLAIN, QUOTED})
NOISE: Final = frozenset({BLOCK, OPEN_BLOCK, HASH, ODD_SPACE})

_SPACES: Final = "\v\f\ufeff\u2028\u2029" + "".join(
    char for char in map(chr, range(0x80, min(0x3100, sys.maxunicode))) if unicodedata.category(char) == "Zs"
)
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*+(?:
    (?P<plain>"[^"\\\x00-\x1f]*+")
  | (?P<punctuation>[{{}}\[\]:,])
  | (?P<line>//[^\r\n]*+)
  | (?P<quoted>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+" | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+')
  | (?P<unclosed>"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+ | '(?:[^'\\\r\n]++|\\(?:\r\n|.))*+)
  | (?P<block>/\*.*?\*/)
  | (?P<open_block>/\*.*+)
  | (?P<hash>\#[^\r\n]*+)
  | (?P<odd_space>[{_SPACES}]++)
  | (?P<word>(?:[^ \t\r\n{_SPACES}{{}}\[\]:,"'/]|/(?![/*]))++)
  | \Z
    )""",
    re.VERBOSE | re.DOTALL,
)
_COLON_NEXT: Final = re.compile(r"[ \t\r\n]*+:")


class Token(NamedTuple):
    """A token: what it is, its half-open character span, and its text."""

    kind: str
    start: int
    end: int
    text: str

    def described(self) -> str:
        """The token as a message names it: strings in double quotes, everything else in single quotes."""
        if self.kind in STRINGS:
            return show(self.text[1:-1])
        return show_raw(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Every token but white space, line comments and a leading byte order mark; every character is in one."""
    for match in _TOKEN.finditer(text, 1 if text.startswith(BOM) else 0):
        kind = match.lastgroup
        if kind is not None and kind != "line":
            start, end = match.span(kind)
            yield Token(kind, start, end, match[kind])


def colon_follows(text: str, offset: int) -> bool:
    """Whether the next thing after `offset`, white space aside, is a colon: the token before it is a key."""
    return _COLON_NEXT.match(text, offset) is not None
