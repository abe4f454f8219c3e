"""What compiled rules use while they run, beside the facts of elements and the functions of the language."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.versions import VersionRange

LONGEST_SHOWN = 500


class Told(msgspec.Struct, frozen=True):
    """What a broken rule says: of which element, at which property, and what to write instead.

    `severity` is empty where the rule's own holds.
    """

    message: str
    element: Any
    at: str = ""
    instead: str = ""
    severity: str = ""


def shown(value: Any) -> str:
    """A value as messages show it: lists with commas, the rest as text, and nothing without end."""
    # A version range is a tuple too, but has a notation of its own; a parameter that lists words is a dict.
    text = ", ".join(map(str, value)) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def word(value: Any, one: str, many: str) -> str:
    """The word for one or for many, as `{value:one|many}` asks for it.

    A number is one when it is 1, a version range when it holds a single version (`3`, but not `3+`, `0-1` or `none`),
    a list, set or mapping when it has a single item. Nothing (None) is not one.
    """
    if isinstance(value, VersionRange):
        single = len(value) == 1 and value.lowest == value.highest
    else:
        single = value == 1 if isinstance(value, int) or value is None else len(value) == 1
    return one if single else many
