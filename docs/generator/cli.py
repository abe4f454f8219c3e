"""The command reference, generated from the commands."""

from __future__ import annotations

import re
from typing import Any

from generator.markdown import anchor, code, fence, page, prose, table
from kiplint.cli.app import all_commands, make_app, usage

INTRODUCTION = "Every command with its arguments and options. `kiplint COMMAND --help` prints the same."


def make() -> str:
    """The page `reference/cli.md`."""
    return page("Commands", INTRODUCTION, *(_command(words, command) for words, command in all_commands()))


def overview() -> str:
    """The commands as the README lists them."""
    rows = (
        [f"[{name}](docs/reference/cli.md#{anchor(f'kiplint {name}')})", prose(_first(command.help))]
        for name, command in make_app().commands.items()
    )
    return table(["command", "what it does"], rows)


def _first(text: str) -> str:
    return _reflow(text.partition("\n\n")[0])


def _command(name: str, command: Any) -> str:
    is_group = hasattr(command, "commands")
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    full = f"kiplint {name}".strip()
    words = ["[OPTIONS]" if options else "", *map(usage, arguments), "COMMAND ..." if is_group else ""]
    parts = [
        f"## {full}",
        fence(" ".join([full, *filter(None, words)])),
        _reflow(prose(command.help or "")),
        table(
            ["argument", "meaning"], ([code(_name(argument)), _meaning(argument, is_group)] for argument in arguments)
        ),
        table(["option", "meaning"], ([_option(option), _meaning(option, is_group)] for option in options)),
        _epilog(command.epilog or ""),
    ]
    return "\n\n".join(part for part in parts if part)


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _option(option: Any) -> str:
    value = f" {option.metavar}" if option.metavar else ""
    return ", ".join(code(word + value) for word in option.opts)


def _meaning(parameter: Any, is_group: bool) -> str:
    words = () if is_group else getattr(parameter.type, "choices", ())
    choices = f" One of {', '.join(map(code, words))}." if words else ""
    return prose(parameter.help or "") + choices + _usual(parameter)


def _usual(parameter: Any) -> str:
    """The default of an argument or option, if it is worth showing."""
    if isinstance(parameter.show_default, str):
        return f" Default: {prose(parameter.show_default)}."
    is_plain = isinstance(parameter.default, (str, int)) and parameter.default not in ("", False)
    return f" Default: {code(str(parameter.default))}." if is_plain else ""


def _epilog(text: str) -> str:
    """Examples as a block of code, anything else as it is."""
    if text.startswith("\b\n"):  # a paragraph whose lines are not joined
        block, *more = text.removeprefix("\b\n").split("\n\n")
        label, *lines = block.splitlines()
        return "\n\n".join([label, fence("\n".join(line.strip() for line in lines), "sh"), *map(prose, more)])
    return _reflow(re.sub(r"\[/?bold\]", "**", text))


def _reflow(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
