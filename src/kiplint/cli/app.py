"""The typer app. The module of a command is imported when the command line names it, as importing all is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kiplint import __version__
from kiplint.cli.process import run

COMMANDS: Final = "kiplint.commands"
"""The package of the commands."""


class CommandGroup(TyperGroup):
    """Commands by name, with their help only; the one that the command line names is imported."""

    package = COMMANDS

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command of the first word."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(self.package, name or ""), rest


def make_app() -> Any:
    """The group of all commands, to be called with the words of a command line."""
    settings = {"help_option_names": ["-h", "--help"]}
    return _group(COMMANDS, _kiplint, context_settings=settings, add_completion=True)


def all_commands(group: Any = None, words: str = "") -> Iterator[tuple[str, Any]]:
    """The words of each group and command, such as `migrate bump`, and the command; the first has none."""
    group = group or make_app()
    yield words, group
    for name in getattr(group, "commands", ()):
        yield from all_commands(load(group.package, name), f"{words} {name}".lstrip())


def load(package: str, name: str) -> Any:
    """A command of a package, or a group of more commands.

    It is the function `command` of the module of that name, or of `command` in the package of that name; what has
    `COMMANDS` is a group, of modules in a package or of functions in a module.
    """
    word, group = name.replace("-", "_"), import_module(package)
    if not hasattr(group, "__path__"):
        return _command(name, getattr(group, word), group.EPILOGS[name])
    module: Any = import_module(f"{package}.{word}")
    if hasattr(module, "COMMANDS"):
        return _group(module.__name__)
    if hasattr(module, "__path__"):
        module = import_module(f"{module.__name__}.command")
    return _command(name, module.command, module.EPILOG)


def _command(name: str, function: Callable[..., int], epilog: str) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, epilog=epilog)(_exit_with_code(function))
    return typer.main.get_command(app)


def _nothing() -> None:
    """Take no options before a command."""


def _group(name: str, callback: Callable[..., None] = _nothing, **settings: Any) -> Any:
    package: Any = import_module(name)
    app = typer.Typer(
        help=package.HELP,
        epilog=package.EPILOG,
        callback=callback,
        cls=CommandGroup,
        no_args_is_help=True,
        rich_markup_mode=None,  # rich doubles the time of --help
        **{"add_completion": False, **settings},
    )
    group: Any = typer.main.get_command(app)
    group.package = name
    group.commands = {
        command: TyperCommand(command, help=title, rich_markup_mode=None) for command, title in package.COMMANDS.items()
    }
    return group


def _exit_with_code(command: Callable[..., int]) -> Callable[..., None]:
    """A function with the same parameters that runs a command, and exits with its code."""

    @wraps(command)
    def run_command(**values: Any) -> None:
        run(partial(command, **values))

    return run_command


def _print_version(value: bool) -> None:
    if value:
        print(f"kiplint {__version__}")
        raise typer.Exit


def _kiplint(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
