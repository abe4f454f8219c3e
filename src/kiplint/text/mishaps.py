"""What befell a text as a whole, and makes nonsense of it at many places: told once instead of place by place."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from kiplint.text.problem import Problem
from kiplint.text.scan import scan

_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$|^={7}$", re.MULTILINE)
_SPACES: Final = dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000\u200b"), " ")
_QUOTES: Final = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"')
_PASTED: Final = re.compile("[" + "".join(map(chr, (*_SPACES, *_QUOTES))) + "]")


def mishap(text: str, first: int) -> Problem | None:
    """The one problem behind all others of a text that is no JSON, or None: a merge left open, or a web page's text.

    `first` is where a reader stumbles first.
    """
    return _conflict(text) or _pasted(text, first)


def one_for_odd_spaces(problems: list[Problem], text: str) -> list[Problem]:
    """The problems, with a single one for all the spaces that are none in JSON."""
    odd = [one for one in problems if one.kind == "json5-only" and text[one.start : one.end].strip() == ""]
    if len(odd) < 2:
        return problems
    again = "once" if len(odd) == 2 else f"{len(odd) - 1} times"
    detail = f"{odd[0].detail}, here and {again} more, as in text from a web page"
    whole = replace(odd[0], detail=detail)
    return [whole if one is odd[0] else one for one in problems if one is odd[0] or one not in odd[1:]]


def _conflict(text: str) -> Problem | None:
    """Markers of git at the beginning of lines, from `<<<<<<<` to `>>>>>>>`."""
    marks = list(_CONFLICT.finditer(text))
    begun = [mark for mark in marks if mark[0].startswith("<")]
    if not begun or not any(mark[0].startswith(">") and mark.start() > begun[0].start() for mark in marks):
        return None
    more = f" (there are {len(begun)})" if len(begun) > 1 else ""
    detail = f"a merge conflict that was not resolved{more}; choose between the two sides and delete the markers"
    return Problem("invalid-json", detail, "", begun[0].start(), begun[0].end())


def _pasted(text: str, first: int) -> Problem | None:
    """Spaces and quotes of a word processor or web page, where those of a keyboard make a text that can be read."""
    found = list(_PASTED.finditer(text))
    odd = next((one for one in found if one.start() >= first), None)
    if odd is None or not any(_is_sound(text.translate(table)) for table in (_SPACES, _SPACES | _QUOTES)):
        return None
    counts = [
        (sum(ord(one[0]) in table for one in found), noun)
        for table, noun in ((_SPACES, "no-break or other odd space"), (_QUOTES, "curly quote"))
    ]
    told = " and ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number)
    detail = f'text that was pasted from a web page or a document, with {told}; write plain spaces and "'
    return Problem("invalid-json", detail, "", odd.start(), odd.end())


def _is_sound(text: str) -> bool:
    found = scan(text)
    return found.root is not None and not any(one.kind in ("invalid-json", "too-deep") for one in found.problems)
