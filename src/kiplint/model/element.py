"""What all elements share: the tidying of optional JSON values and of version ranges in them."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from kiplint.versions import NONE, InvalidRange, VersionRange

T = TypeVar("T")


class Ranged(msgspec.Struct, frozen=True):
    """A version range as written: its value (a stand-in when it cannot be read) and what is wrong with it."""

    value: VersionRange
    problem: str


def given(value: T | UnsetType | None, default: T) -> T:
    """The value, or the default where the property is left out or null."""
    return default if value is UNSET or value is None else value


@lru_cache(maxsize=65536)
def read_range(text: str) -> Ranged:
    """Read a range; no versions when it cannot be read."""
    try:
        return Ranged(VersionRange.parse(text), "")
    except InvalidRange as error:
        return Ranged(NONE, str(error))


def required_range(text: str, stand_in: VersionRange) -> Ranged:
    """Read a range that has to be there; blank text is a mistake."""
    ranged = read_range(text)
    return Ranged(stand_in, ranged.problem) if ranged.problem else ranged


def optional_range(text: str | UnsetType | None, stand_in: VersionRange = NONE) -> Ranged:
    """Read a range that may be left out, null or blank."""
    if text is UNSET or not text or not isinstance(text, str) or text.isspace():
        return Ranged(stand_in, "")
    return required_range(text, stand_in)


def escape(token: str) -> str:
    """One token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")
