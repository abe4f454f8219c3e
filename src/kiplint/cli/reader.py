"""A reader of command lines without typer, whose import takes longer than checking 200 files.

It reads what typer would read, or nothing: typer takes every command line that needs an explanation, a guess or a
refusal, and what is seldom written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kiplint.cli.options import Argument, Command, Parameter, make, parameters
from kiplint.text.files import module_names

COMMANDS = "kiplint.commands"
LONGEST = 9
"""The most digits of a number."""

MISSING = "--"
"""Stands for a value that is not there."""

EXPANDED = "*?[~$%"
"""The characters that typer expands on Windows, whose shells do not."""


class _UnclearError(Exception):
    """Typer has to read this command line."""


def read(words: Sequence[str]) -> Command | None:
    """The command with the options that the words name, or None when typer has to read them."""
    try:
        command, rest = _command(words)
        return make(command, _values(rest, parameters(command)))
    except _UnclearError:
        return None


def _command(words: Sequence[str]) -> tuple[type[Command], Sequence[str]]:
    group: Any = import_module(COMMANDS)
    for at, word in enumerate(words):
        name = getattr(group, "ALIASES", {}).get(word, word)
        if name not in names(group):
            break
        group = room(group, name)
        if isinstance(group, type):
            return group, words[at + 1 :]
    raise _UnclearError


def names(group: Any) -> Sequence[str]:
    """The commands of a package: those that it lists, else all rooms in its folder."""
    commands: Sequence[str] | None = getattr(group, "COMMANDS", None)
    return commands or sorted(name.replace("_", "-") for name in module_names(group.__path__[0]))


def room(group: Any, name: str) -> Any:
    """What a name stands for: the class of a command, such as `CheckCommand`, or a package with more commands.

    The class is in the module of that name, or in the module `options` of the package of that name; those of a package
    of commands are in the modules that its `MODULES` name.
    """
    own = name.replace("-", "_")
    module: Any = import_module(f"{group.__name__}.{getattr(group, 'MODULES', {}).get(name, own)}")
    if hasattr(module, "COMMANDS"):
        return module
    if hasattr(module, "__path__"):
        module = import_module(f"{module.__name__}.options")
    return getattr(module, f"{own.title().replace('_', '')}Command")


def _values(words: Sequence[str], params: list[Parameter]) -> dict[str, Any]:
    flags = {flag: param for param in params for flag in param.flags}
    values: dict[str, Any] = {}
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if os.name == "nt" and not set(EXPANDED).isdisjoint(word):
            raise _UnclearError
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        param = flags.get(word)
        if param is None:
            raise _UnclearError
        value = True if param.kind is bool else _value(param, next(rest, MISSING))
        if param.many:
            values[param.name] = (*values.get(param.name, ()), value)
        else:
            values[param.name] = value
    return {**values, **_arguments(arguments, [param for param in params if isinstance(param.mark, Argument)])}


def _arguments(words: list[str], params: list[Parameter]) -> dict[str, Any]:
    """The values of the arguments; a repeatable one takes all remaining words."""
    values: dict[str, Any] = {}
    for param in params:
        if param.many and words:
            values[param.name] = tuple(_value(param, word) for word in words)
            words = []
        elif words:
            values[param.name] = _value(param, words[0])
            words = words[1:]
        elif param.is_required:
            raise _UnclearError
    if words:
        raise _UnclearError
    return values


def _value(param: Parameter, word: str) -> str | int:
    if (word.startswith("-") and word != "-") or not param.allows(word):
        raise _UnclearError
    if param.kind is not int:
        return word
    if not (word.isascii() and word.isdecimal() and len(word) <= LONGEST):
        raise _UnclearError
    least, most = param.mark.least, param.mark.most
    number = int(word)
    if (least is not None and number < least) or (most is not None and number > most):
        raise _UnclearError
    return number
