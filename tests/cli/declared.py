"""The commands as typer has them, so that a table of a test can be held to have them all."""

from __future__ import annotations

from typing import Any

from kiplint.cli.app import all_commands
from kiplint.render.formats import FORMATS

NAMES = {words: command for words, command in all_commands() if not hasattr(command, "commands")}
"""The commands by what is typed to call them."""


def parameters_of(command: str) -> dict[str, Any]:
    """The arguments and options of a command by their names."""
    return {parameter.name: parameter for parameter in NAMES[command].params}


def is_argument(parameter: Any) -> bool:
    """Whether a parameter is the word at a place, and not one after an option."""
    return bool(parameter.param_type_name == "argument")


def formats_of(command: str) -> tuple[str, ...]:
    """The formats that a command writes its result in, none where it has no choice."""
    option = parameters_of(command).get("output_format")
    return () if option is None else tuple(getattr(option.type, "choices", FORMATS))
