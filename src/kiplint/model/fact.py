"""Facts: what rules may know of an element.

A fact is either computed on first use, by a method under `@fact`, or known from the start, as an attribute annotated
`Annotated[type, "what it means"]`. Names, types and meanings are the reference that the docs print, and what
expressions are checked against.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import msgspec

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
