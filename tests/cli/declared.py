"""The commands as they are declared, so that a table of a test can be held to have them all."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from kiplint.cli.app import COMMANDS, names, room
from kiplint.cli.options import Parameter, parameters
from kiplint.render.formats import format_names


def commands(package: str = COMMANDS) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it."""
    group = import_module(package)
    for name in names(group):
        module = room(group, name)
        if hasattr(module, "COMMANDS"):
            yield from (((name, *words), inner) for words, inner in commands(module.__name__))
        else:
            yield (name,), module


ALL = dict(commands())
NAMES = {" ".join(words): module for words, module in ALL.items()}
"""The modules of the commands by what is typed to call them."""


def parameters_of(command: str) -> dict[str, Parameter]:
    """The arguments and options of a command by their names."""
    return {parameter.name: parameter for parameter in parameters(NAMES[command])}


def formats_of(command: str) -> tuple[str, ...]:
    """The formats that a command writes its result in, none where it has no choice."""
    option = parameters_of(command).get("output_format")
    return () if option is None else option.words or tuple(format_names())
