"""The descriptor behind every fact: a property that is computed once, on first use.

All public facts of an element are what a rule may name in an expression; their docstrings and
return annotations are the reference that `kiplint rules` and the docs print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class fact(Generic[T]):  # noqa: N801
    """A documented, lazily computed, cached attribute (a non-data descriptor without a lock)."""

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


def facts_of(kind: type) -> dict[str, fact[Any]]:
    """The facts of one kind of element, by name, inherited ones included."""
    found: dict[str, fact[Any]] = {}
    for base in reversed(kind.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, fact)}
    return found
