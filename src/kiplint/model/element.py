"""What all elements share: the tidying of optional JSON values and of version ranges in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

import msgspec
from msgspec import UNSET, UnsetType

from kiplint.versions import NONE, InvalidRange, VersionRange

T = TypeVar("T")


class Fact(msgspec.Struct, frozen=True):
    """The name of a fact, its type as written, and what it means."""

    name: str
    type: str
    about: str


class fact(Generic[T]):  # noqa: N801
    """A lazily computed, cached attribute (a non-data descriptor without a lock)."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> fact[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> fact[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class set_fact(fact[T]):  # noqa: N801
    """A fact that other messages of the schema set have a say in, so that a lone definition does not tell it."""


def facts_of(kind: type) -> dict[str, Fact]:
    """The facts of one kind of element, by name, inherited ones included."""
    import inspect  # slow to import, and only needed to check rules

    found: dict[str, Fact] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            known = re.fullmatch(r"Annotated\[(.+?), ['\"](.*)['\"]\]", str(annotation))
            if known:
                found[name] = Fact(name, known[1], known[2])
        for name, value in vars(base).items():
            if isinstance(value, fact) and not name.startswith("_"):
                found[name] = Fact(name, str(value.function.__annotations__["return"]), value.__doc__ or "")
    return found


ELEMENT_T = TypeVar("ELEMENT_T")


class Ranged(msgspec.Struct, frozen=True):
    """A version range as written: its value (a stand-in when it cannot be read) and what is wrong with it."""

    value: VersionRange
    problem: str


def given(value: ELEMENT_T | UnsetType | None, default: ELEMENT_T) -> ELEMENT_T:
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
