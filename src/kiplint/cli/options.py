"""How a command says what it takes: one frozen Struct, each field with its type, its usual value, and a mark.

The mark is an `Argument` or an `Option`. A field without a mark is a group: a Struct of the same kind, which several
commands share. `reader` makes the Struct out of the words of a command line as far as it understands them, `app`
makes typer do the same for all of them, with help, completion and errors.

The types that a field may have: str, int, bool (a flag), a Literal of words, tuple[str, ...] (repeatable), each of
the first and the Literal also with None, and tuple[str, str] | None (two words after one option).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

Completer = Callable[..., Iterable[str | tuple[str, str]]]
Made = TypeVar("Made", bound="Group")


class Group(msgspec.Struct, frozen=True):
    """What a command takes, or a part of that which several commands share."""


class Argument(msgspec.Struct, frozen=True):
    """Marks a field that takes its value from the place among the words. `usual` says what holds without it."""

    help: str
    metavar: str | None = None
    usual: str | None = None
    complete: Completer | None = None


class Option(msgspec.Struct, frozen=True):
    """Marks a field that takes its value from the word after the option, which has the name of the field.

    `usual` says what holds without it, where the value that it then has does not. Numbers are from `least` to `most`.
    """

    help: str
    metavar: str | None = None
    short: str | None = None
    usual: str | None = None
    complete: Completer | None = None
    least: int | None = None
    most: int | None = None


class Parameter(msgspec.Struct, frozen=True):
    """A field as the readers see it.

    `kind` is str, int or bool; `words` are those it may be, if there are only a few; `times` is how many words follow
    the option, 0 for a flag; `many` is whether it may be repeated. `usual` is the value that it has when left out.
    """

    name: str
    mark: Argument | Option
    kind: type
    words: tuple[str, ...]
    times: int
    many: bool
    is_required: bool
    usual: Any

    @property
    def flags(self) -> tuple[str, ...]:
        """What the option is called on the command line, the long name first; empty for an argument."""
        if isinstance(self.mark, Argument):
            return ()
        long = f"--{self.name.replace('_', '-')}"
        return (long, self.mark.short) if self.mark.short else (long,)


def parameters(options: type[Group]) -> list[Parameter]:
    """The parameters of a command, those of its groups among them, in their order."""
    found = []
    for name, hint, usual in _fields(options):
        if isinstance(hint, type) and issubclass(hint, Group):
            found += parameters(hint)
        else:
            found.append(_parameter(name, hint, usual))
    return found


def make(options: type[Made], values: Mapping[str, Any]) -> Made:
    """The options with these values by name; a parameter that is not there has its usual value."""
    given: dict[str, Any] = {}
    for name, hint, _ in _fields(options):
        if isinstance(hint, type) and issubclass(hint, Group):
            given[name] = make(hint, values)
        elif name in values:
            given[name] = values[name]
    return options(**given)


@cache
def _fields(options: type[Group]) -> Iterable[tuple[str, Any, Any]]:
    """Name, type and usual value of each field; msgspec keeps the usual values of the last ones."""
    names, usual = options.__struct_fields__, options.__struct_defaults__
    hints = options.__annotations__
    if any(isinstance(hint, str) for hint in hints.values()):  # slow: modules of commands do without
        hints = get_type_hints(options, include_extras=True)
    values = (*(msgspec.NODEFAULT,) * (len(names) - len(usual)), *usual)
    return [(name, hints[name], value) for name, value in zip(names, values, strict=True)]


def _parameter(name: str, hint: Any, usual: Any) -> Parameter:
    mark, kind = hint.__metadata__[0], hint.__origin__
    if NoneType in get_args(kind):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    inner = get_args(kind)
    words = inner if get_origin(kind) is Literal else ()
    many = get_origin(kind) is tuple and inner[1] is ...
    times = len(inner) if get_origin(kind) is tuple and not many else int(kind is not bool)
    plain = kind if kind in (int, bool) else str
    return Parameter(name, mark, plain, words, times, many, usual is msgspec.NODEFAULT, usual)
