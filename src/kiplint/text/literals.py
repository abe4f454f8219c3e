"""The strings, numbers and words of JSON, of JSON5, and of what people write by mistake."""

from __future__ import annotations

import math
import re
from typing import Final

from kiplint.text.decode import Problem
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


def read_string(text: str, start: int, end: int) -> tuple[str, list[Problem]]:
    """The value of the string literal at `text[start:end]` (quotes included) and at most 10 issues in it.

    Unpaired surrogates and meaningless escapes are read as U+FFFD, so the value can always be encoded.
    """
    quote, stop = text[start], end - 1
    issues: list[Problem] = []
    if quote == "'":
        issues.append(Problem("json5-only", "a string in single quotes; write it in double quotes", "", start, end))
    parts: list[str] = []
    position = start + 1
    for match in re.compile(_SPECIAL).finditer(text, position, stop):
        meaning, kind, detail = _meaning(match, quote)
        parts += (text[position : match.start()], meaning)
        position = match.end()
        if kind and len(issues) < _MOST:
            issues.append(Problem(kind, detail, "", *match.span()))
    parts.append(text[position:stop])
    return "".join(parts), issues


def join_surrogates(text: str) -> str:
    """`text` with the character itself for every escaped surrogate pair."""
    return re.sub(_PAIR, lambda pair: _join_pair(pair[1], pair[2]) if pair[1] else pair[0], text)


def _join_pair(high: str, low: str) -> str:
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))


def _meaning(match: re.Match[str], quote: str) -> tuple[str, str, str]:
    """What an escape or control character means, and the kind and detail of what is wrong with it, if anything."""
    literal = match.group()
    match match.lastgroup:
        case "low":
            return _join_pair(match["high"], match["low"]), "", ""
        case "unit":
            code = int(match["unit"], 16)
            if not 0xD800 <= code <= 0xDFFF:
                return chr(code), "", ""
            detail = "is half of a surrogate pair and stands alone; write both halves or the character"
            return REPLACEMENT, "invalid-json", f"the escape {literal} {detail}"
        case "byte":
            code = int(match["byte"], 16)
            return chr(code), "json5-only", f"the escape {literal} is not JSON; write \\u{code:04x}"
        case "continuation":
            return "", "json5-only", "a string continued over a line end; write it on one line"
        case "zero":
            return "\0", "json5-only", "the escape \\0 is not JSON; write \\u0000"
        case "control":
            code = ord(literal)
            escape = _SHORT.get(literal, f"\\u{code:04x}")
            return literal, "invalid-json", f"the control character U+{code:04X} in a string; write {escape}"
        case _:
            return _escape(match["other"], quote)


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


_LITERALS: Final = frozenset({"true", "false", "null"})
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_HEXADECIMAL: Final = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]++)")
_DECIMAL: Final = re.compile(r"([+-]?)((?:0|[1-9][0-9]*+)?)((?:\.[0-9]*+)?)((?:[eE][+-]?[0-9]++)?+)")
_LEADING_ZERO: Final = re.compile(r"([+-]?)0++([0-9][0-9.eE+-]*+)")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:Infinity|NaN)")
_CORRECTIONS: Final = {
    "True": "true", "TRUE": "true", "yes": "true", "False": "false", "FALSE": "false", "no": "false",
    "None": "null", "NULL": "null", "Null": "null", "nil": "null", "undefined": "null",
}  # fmt: skip
_LONGEST_NUMBER: Final = 300
_LONGEST_HINT: Final = 20


def word_problem(word: str) -> tuple[str, str] | None:
    """The (kind, detail) of what is wrong with a word that stands for a value; None when it is JSON."""
    if word in _LITERALS:
        return None
    problem = None if _NUMBER.fullmatch(word) else _json5_number(word) or _unknown(word)
    if (problem is None or problem[0] == "json5-only") and _is_out_of_range(word):
        return "invalid-json", f"the number {show_raw(word)} is out of range"
    return problem


def is_identifier(word: str) -> bool:
    """Whether JSON5 takes the word as a property name without quotes."""
    return word.replace("$", "_").isidentifier()


def _is_out_of_range(word: str) -> bool:
    # Nothing in a definition comes near; Python and msgspec refuse to convert such numbers, or to print them.
    if len(word) > _LONGEST_NUMBER:
        return True
    return not (_HEXADECIMAL.fullmatch(word) or _NOT_FINITE.fullmatch(word)) and math.isinf(float(word))


def _json5_number(word: str) -> tuple[str, str] | None:
    if _NOT_FINITE.fullmatch(word):
        return "json5-only", f"{word} is not a JSON number; write a finite number"
    if match := _HEXADECIMAL.fullmatch(word):
        sign = "-" if match[1] == "-" else ""
        number = f"{sign}{int(match[2][:_LONGEST_HINT], 16)}"
        return "json5-only", f"hexadecimal number {show_raw(word)}; write {_hint(number, word)}"
    match = _DECIMAL.fullmatch(word)
    if match is None or not (match[2] or len(match[3]) > 1):
        return None
    sign, whole, fraction, exponent = match.groups()
    parts = [
        *(["a leading '+'"] if sign == "+" else []),
        *([] if whole else ["a leading '.'"]),
        *(["a trailing '.'"] if fraction == "." else []),
    ]
    number = f"{sign.strip('+')}{whole or '0'}{'' if fraction == '.' else fraction}{exponent}"
    return "json5-only", f"number {show_raw(word)} with {' and '.join(parts)}; write {_hint(number, word)}"


def _unknown(word: str) -> tuple[str, str]:
    if correction := _CORRECTIONS.get(word):
        return "invalid-json", f"{show_raw(word)} is not a JSON value; write {correction}"
    if match := _LEADING_ZERO.fullmatch(word):
        number = f"{match[1].strip('+')}{match[2].lstrip('0') or '0'}"
        if _NUMBER.fullmatch(number):
            return "invalid-json", f"number {show_raw(word)} with a leading zero; write {_hint(number, word)}"
    detail = f"{show_raw(word)} is not a JSON value; write a string in double quotes, a number, true, false or null"
    return "invalid-json", detail


def _hint(number: str, word: str) -> str:
    return number if len(word) <= _LONGEST_HINT else "a plain decimal number"
