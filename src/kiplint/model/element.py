"""What all elements are read with: optional properties, version ranges, and the tokens of JSON pointers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from kiplint.versions import NONE, InvalidRange, InvertedRange, VersionRange

T = TypeVar("T")


def value_or(value: T | UnsetType | None, default: T) -> T:
    """The value, or the default where the property is left out or null."""
    return default if value is UNSET or value is None else value


class ParsedRange(NamedTuple):
    """A version range as written: its value (a stand-in when it is invalid), and what is wrong with it or empty."""

    value: VersionRange
    problem: str


NO_RANGE = ParsedRange(NONE, "")
"""The range of a property that is left out."""


@lru_cache(maxsize=65536)
def required_range(text: str, stand_in: VersionRange = NONE) -> ParsedRange:
    """Parse a range that must be present; blank text is invalid. An inverted range has no versions, as in Kafka."""
    try:
        return ParsedRange(VersionRange.parse(text), "")
    except InvalidRange as error:
        return ParsedRange(NONE if isinstance(error, InvertedRange) else stand_in, str(error))


def optional_range(text: str | UnsetType | None, stand_in: VersionRange = NONE) -> ParsedRange:
    """Parse a range that may be left out, null or blank."""
    if not isinstance(text, str) or not text or text.isspace():
        return NO_RANGE if stand_in is NONE else ParsedRange(stand_in, "")
    return required_range(text, stand_in)


def to_blame(claimants: Sequence[T], age: Callable[[T], object]) -> dict[int, T]:
    """Of several elements that claim the same name, tag or key: by index of each that is wrong, the other to name. If a
    base shows their `age`, the oldest claim is valid; if all are equally old, each is wrong.
    """
    ages: list[Any] = [age(claimant) for claimant in claimants]
    first = ages.index(max(ages))
    if later := [index for index, years in enumerate(ages) if years < ages[first]]:
        return dict.fromkeys(later, claimants[first])
    return {index: claimants[0 if index else 1] for index in range(len(claimants))}


def escape(token: str) -> str:
    """One token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")
