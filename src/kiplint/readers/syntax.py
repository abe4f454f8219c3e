"""From stripped text to a value, as strictly as a reader's parser takes it."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

_IS_JSON5: Final = frozenset(("json5-only", "trailing-comma", "block-comment", "duplicate-key", "byte-order-mark"))
"""What kiplint's reader notes about JSON5."""


class Failure(NamedTuple):
    """Why a reader fails, and where: at a JSON pointer, or at an offset of the text where that is not -1."""

    why: str
    pointer: str = ""
    offset: int = -1


def parse(text: str, syntax: str) -> Any:
    """The value, or a Failure; never raises."""
    return _json5(text) if syntax == "json5" else _strict(text)


def _strict(text: str) -> Any:
    if text.startswith("\ufeff"):
        return Failure("a byte order mark is no JSON to it", offset=0)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return Failure(_said(error.msg), offset=min(error.pos, len(text)))
    except RecursionError:
        return Failure("the definition is nested too deeply")
    except ValueError:
        return Failure("a number is too long")


def _said(message: str) -> str:
    """What Python's parser says, as a part of a sentence."""
    known = {
        "Extra data": "text follows the definition",
        "Invalid control character at": "a string goes on over the end of its line, or has a control character",
        "Unterminated string starting at": "a string has no end, once comments are stripped",
    }
    return known.get(message, f"it is no JSON, once comments are stripped: {message[:1].lower()}{message[1:]}")


def _json5(text: str) -> Any:
    """JSON5 as far as definitions go: kiplint's own reader knows it, and tells what is none."""
    from kiplint.text.diagnose import MISSING, diagnose

    found = diagnose(text.encode("utf-8", "replace"))
    wrong = next((one for one in found.problems if one.kind not in _IS_JSON5), None)
    if wrong:
        said = "text follows the definition" if wrong.kind == "trailing-content" else "it is no JSON5"
        return Failure(said, offset=max(wrong.start, 0))
    return {} if found.value is MISSING else found.value
