"""Words outside quotes: numbers, true, false and null, and what is written in their place."""

from __future__ import annotations

import math
import re
from typing import Final

from kiplint.text.show import show_raw

_LITERALS: Final = frozenset({"true", "false", "null"})
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_HEXADECIMAL: Final = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]++)")
_DECIMAL: Final = re.compile(r"([+-]?)((?:0|[1-9][0-9]*+)?)((?:\.[0-9]*+)?)((?:[eE][+-]?[0-9]++)?+)")
_LEADING_ZERO: Final = re.compile(r"([+-]?)0++([0-9][0-9.eE+-]*+)")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:Infinity|NaN)")
_MEANT: Final = {
    "True": "true", "TRUE": "true", "yes": "true", "False": "false", "FALSE": "false", "no": "false",
    "None": "null", "NULL": "null", "Null": "null", "nil": "null", "undefined": "null",
}  # fmt: skip
_LONGEST_NUMBER: Final = 300
_LONGEST_HINT: Final = 20


def word_problem(word: str) -> tuple[str, str] | None:
    """The (kind, detail) of what is wrong with a word that stands for a value; None when it is JSON."""
    if word in _LITERALS:
        return None
    found = None if _NUMBER.fullmatch(word) else _json5_number(word) or _unknown(word)
    if (found is None or found[0] == "json5-only") and _is_out_of_range(word):
        return "invalid-json", f"the number {show_raw(word)} is out of range"
    return found


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
    if found := _HEXADECIMAL.fullmatch(word):
        sign = "-" if found[1] == "-" else ""
        fixed = f"{sign}{int(found[2][:_LONGEST_HINT], 16)}"
        return "json5-only", f"hexadecimal number {show_raw(word)}; write {_hint(fixed, word)}"
    found = _DECIMAL.fullmatch(word)
    if found is None or not (found[2] or len(found[3]) > 1):
        return None
    sign, whole, fraction, exponent = found.groups()
    parts = [
        *(["a leading '+'"] if sign == "+" else []),
        *([] if whole else ["a leading '.'"]),
        *(["a trailing '.'"] if fraction == "." else []),
    ]
    fixed = f"{sign.strip('+')}{whole or '0'}{'' if fraction == '.' else fraction}{exponent}"
    return "json5-only", f"number {show_raw(word)} with {' and '.join(parts)}; write {_hint(fixed, word)}"


def _unknown(word: str) -> tuple[str, str]:
    if meant := _MEANT.get(word):
        return "invalid-json", f"{show_raw(word)} is not a JSON value; write {meant}"
    if found := _LEADING_ZERO.fullmatch(word):
        fixed = f"{found[1].strip('+')}{found[2].lstrip('0') or '0'}"
        if _NUMBER.fullmatch(fixed):
            return "invalid-json", f"number {show_raw(word)} with a leading zero; write {_hint(fixed, word)}"
    detail = f"{show_raw(word)} is not a JSON value; write a string in double quotes, a number, true, false or null"
    return "invalid-json", detail


def _hint(fixed: str, word: str) -> str:
    return fixed if len(word) <= _LONGEST_HINT else "a plain decimal number"
