"""Command lines without typer, whose import takes longer than checking 200 files.

What is read here is what typer would have read. It is not all: whatever needs an explanation, a guess or a refusal,
and what is seldom written, is left to typer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import msgspec

from kiplint.cli.options import Argument, Group, Parameter, make, parameters
from kiplint.text.files import module_names

COMMANDS = "kiplint.commands"
LONGEST = 9
"""How many digits a number has at most."""

MISSING = "--"
"""Stands where a value should, and is none."""

EXPANDED = "*?[~$%"
"""What typer replaces on Windows, where no shell has done so."""


class Command(Protocol):
    """The module of a command: what it takes, and what it does; the docstring of `run` is its help."""

    Options: type[Group]
    EPILOG: str

    def run(self, options: Any) -> int:
        """Run the command; the exit code."""


def hints(command: Command) -> Mapping[str, str]:
    """The texts of a command's `HINTS`, which add the names of its options to errors of the library, by their kind."""
    return getattr(command, "HINTS", {})


class Call(msgspec.Struct, frozen=True):
    """A command with its options."""

    command: Command
    options: Group


class _UnclearError(Exception):
    """Typer is to read this command line."""


def read(words: Sequence[str]) -> Call | None:
    """The command and its options that these words ask for, or None when typer is to say."""
    try:
        command, rest = _command(words)
        return Call(command, make(command.Options, _values(rest, parameters(command.Options))))
    except _UnclearError:
        return None


def _command(words: Sequence[str]) -> tuple[Any, Sequence[str]]:
    group = import_module(COMMANDS)
    for at, word in enumerate(words):
        if word not in names(group):
            break
        group = room(group, word)
        if hasattr(group, "Options"):
            return group, words[at + 1 :]
    raise _UnclearError


def names(group: Any) -> Sequence[str]:
    """The commands of a package: those that it lists, else all rooms in its folder."""
    listed: Sequence[str] | None = getattr(group, "COMMANDS", None)
    if listed is None:
        listed = sorted(name.replace("_", "-") for name in module_names(group.__path__[0]))
    return listed


def room(group: Any, name: str) -> Any:
    """The module that declares a command of a package, or the package of more commands."""
    module = import_module(f"{group.__name__}.{name.replace('-', '_')}")
    if hasattr(module, "Options") or hasattr(module, "COMMANDS"):
        return module
    return import_module(f"{module.__name__}.options")


def _values(words: Sequence[str], known: list[Parameter]) -> dict[str, Any]:
    flags = {flag: one for one in known for flag in one.flags}
    values: dict[str, Any] = {}
    places: list[str] = []
    left = iter(words)
    for word in left:
        if os.name == "nt" and not set(EXPANDED).isdisjoint(word):
            raise _UnclearError
        if not word.startswith("-") or word == "-":
            places.append(word)
            continue
        one = flags.get(word)
        if one is None:
            raise _UnclearError
        given = [_value(one, next(left, MISSING)) for _ in range(one.times)]
        if one.many:
            values[one.name] = (*values.get(one.name, ()), *given)
        else:
            values[one.name] = tuple(given) if one.times > 1 else given[0] if given else True
    return {**values, **_placed(places, [one for one in known if isinstance(one.mark, Argument)])}


def _placed(words: list[str], known: list[Parameter]) -> dict[str, Any]:
    """The arguments; one that takes any number of words takes all that are left."""
    values: dict[str, Any] = {}
    for one in known:
        if one.many and words:
            values[one.name] = tuple(_value(one, word) for word in words)
            words = []
        elif words:
            values[one.name] = _value(one, words[0])
            words = words[1:]
        elif one.is_required:
            raise _UnclearError
    if words:
        raise _UnclearError
    return values


def _value(one: Parameter, word: str) -> str | int:
    if (word.startswith("-") and word != "-") or (one.words and word not in one.words):
        raise _UnclearError
    if one.kind is not int:
        return word
    if not (word.isascii() and word.isdecimal() and len(word) <= LONGEST):
        raise _UnclearError
    least, most = (one.mark.least, one.mark.most) if not isinstance(one.mark, Argument) else (None, None)
    number = int(word)
    if (least is not None and number < least) or (most is not None and number > most):
        raise _UnclearError
    return number
