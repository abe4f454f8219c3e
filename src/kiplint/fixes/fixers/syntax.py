"""Slips in the text: JSON5 where JSON is needed, and commas too many."""

from __future__ import annotations

import json
import math
import re
from typing import Final

from kiplint.engine.finding import Fix
from kiplint.fixes.mend import Case
from kiplint.text.literals import is_identifier
from kiplint.text.strings import read_string

_HEXADECIMAL: Final = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]{1,20})")
_NUMBER: Final = re.compile(r"([+-]?)([0-9]{0,20})(\.?)([0-9]{0,20})((?:[eE][+-]?[0-9]{1,3})?)")
_ESCAPES: Final = {"\\'": "'", "\\v": "\\u000b", "\\0": "\\u0000"}


def trailing_comma(case: Case) -> Fix | None:
    """Take the comma out."""
    noted = case.problem.noted
    return case.safe([case.document.edit(noted.start, noted.end, "")] if noted.kind == "trailing-comma" else [])


def json5(case: Case) -> Fix | None:
    """Write the same in JSON: double quotes, plain numbers, escapes and white space that JSON has."""
    noted = case.problem.noted
    if noted.kind != "json5-only":
        return None
    written = case.document.text[noted.start : noted.end]
    meant = _meant(case, written, noted.start, noted.end)
    return None if meant is None else case.safe([case.document.edit(noted.start, noted.end, meant)])


def _meant(case: Case, written: str, start: int, end: int) -> str | None:
    if written.startswith("'"):
        value, issues = read_string(case.document.text, start, end)
        broken = any(one.kind == "invalid-json" for one in issues)
        return None if broken else json.dumps(value, ensure_ascii=False)
    if written.startswith("\\"):
        return _escape(written)
    if written and not written.strip():
        return " "
    if (number := _number(written)) is not None:
        return number
    return f'"{written}"' if is_identifier(written) and written not in ("Infinity", "NaN") else None


def _escape(written: str) -> str | None:
    if written.startswith("\\x"):
        return f"\\u{int(written[2:], 16):04x}"
    return "" if written[1:2] in "\r\n\u2028\u2029" else _ESCAPES.get(written)


def _number(written: str) -> str | None:
    if found := _HEXADECIMAL.fullmatch(written):
        return f"{found[1].strip('+')}{int(found[2], 16)}"
    found = _NUMBER.fullmatch(written)
    if found is None or not (found[2] or found[4]):
        return None
    sign, whole, _, fraction, exponent = found.groups()
    number = f"{sign.strip('+')}{whole or '0'}{'.' if fraction else ''}{fraction}{exponent}"
    return number if math.isfinite(float(number)) else None
