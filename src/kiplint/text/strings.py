"""What a quoted string says, and what is wrong with how it says it."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kiplint.text.show import show_raw

REPLACEMENT: Final = "\ufffd"
"""Stands for what a string cannot say: an unpaired surrogate, or an escape that means nothing."""

_SPECIAL: Final = r"""(?xs)
    \\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
  | \\u(?P<unit>[0-9a-fA-F]{4})
  | \\x(?P<byte>[0-9a-fA-F]{2})
  | \\(?P<continuation>\r\n|[\r\n\u2028\u2029])
  | \\0(?![0-9])(?P<zero>)
  | \\(?P<other>.)
  | (?P<control>[\x00-\x1f])
    """
_PAIR: Final = r"(?s)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\."
_JSON: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_JSON5: Final = {"'": "'", "v": "\v"}
_SHORT: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MOST: Final = 10


class StringIssue(msgspec.Struct, frozen=True):
    """A mistake inside a string: the kind of problem, its detail, and its half-open character span."""

    kind: str
    detail: str
    start: int
    end: int


def read_string(text: str, start: int, end: int, *, closed: bool = True) -> tuple[str, list[StringIssue]]:
    """The value of the string literal at `text[start:end]` (quotes included) and at most 10 issues in it.

    Unpaired surrogates and meaningless escapes are read as U+FFFD, so the value can always be encoded.
    """
    quote, stop = text[start], end - 1 if closed else end
    issues: list[StringIssue] = []
    if quote == "'":
        issues.append(StringIssue("json5-only", "a string in single quotes; write it in double quotes", start, end))
    parts: list[str] = []
    done = start + 1
    for match in re.compile(_SPECIAL).finditer(text, done, stop):
        meaning, kind, detail = _meaning(match, quote)
        parts += (text[done : match.start()], meaning)
        done = match.end()
        if kind and len(issues) < _MOST:
            issues.append(StringIssue(kind, detail, *match.span()))
    parts.append(text[done:stop])
    return "".join(parts), issues


def join_surrogates(text: str) -> str:
    """`text` with the character itself for every escaped surrogate pair."""
    return re.sub(_PAIR, lambda pair: _joined(pair[1], pair[2]) if pair[1] else pair[0], text)


def _joined(high: str, low: str) -> str:
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))


def _meaning(match: re.Match[str], quote: str) -> tuple[str, str, str]:
    """What an escape or control character means, and the kind and detail of what is wrong with it, if anything."""
    found = match.group()
    match match.lastgroup:
        case "low":
            return _joined(match["high"], match["low"]), "", ""
        case "unit":
            return _unit(found, int(match["unit"], 16))
        case "byte":
            code = int(match["byte"], 16)
            return chr(code), "json5-only", f"the escape {found} is not JSON; write \\u{code:04x}"
        case "continuation":
            return "", "json5-only", "a string continued over a line end; write it on one line"
        case "zero":
            return "\0", "json5-only", "the escape \\0 is not JSON; write \\u0000"
        case "control":
            return found, "invalid-json", _control(found)
        case _:
            return _escape(match["other"], quote)


def _unit(found: str, code: int) -> tuple[str, str, str]:
    if 0xD800 <= code <= 0xDFFF:
        detail = f"the escape {found} is half of a surrogate pair and stands alone; write both halves or the character"
        return REPLACEMENT, "invalid-json", detail
    return chr(code), "", ""


def _control(found: str) -> str:
    escape = _SHORT.get(found, f"\\u{ord(found):04x}")
    return f"the control character U+{ord(found):04X} in a string; write {escape}"


def _escape(char: str, quote: str) -> tuple[str, str, str]:
    if char in _JSON:
        return _JSON[char], "", ""
    if char in _JSON5:
        plain = "'" if char == "'" else "\\u000b"
        # In single quotes the quotes are what is wrong, and are noted already.
        kind = "" if char == quote else "json5-only"
        return _JSON5[char], kind, f"the escape \\{char} is not JSON; write {plain}"
    if char == "u":
        return REPLACEMENT, "invalid-json", "the escape \\u needs four hexadecimal digits"
    escape = show_raw("\\" + char)
    return REPLACEMENT, "invalid-json", f"unknown escape {escape}; write \\\\ for a backslash"
