"""The typer app. The module of a command is imported only if the command line names it, as importing all is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from importlib import import_module
from itertools import takewhile
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kiplint import __version__
from kiplint.cli.process import run
from kiplint.engine.errors import UsageError

RENAMED_OPTIONS: Final = {"--changed-since": "--base", "--since": "--base", "--against": "--base", "--schemas": "--set"}
"""The options of kiplint before 0.1.0 that have other names now."""


class Command(TyperCommand):
    """A command, whose usage shows which arguments are optional and which can be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line. Raises UsageError for an option that has another name now."""
        options = {name for parameter in self.params for name in parameter.opts}
        for word in takewhile(lambda word: word != "--", args):
            name, _, _ = word.partition("=")
            if name not in options and RENAMED_OPTIONS.get(name) in options:
                raise UsageError(f"{name} is now {RENAMED_OPTIONS[name]}")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words after the name of the command: `[OPTIONS]` and the arguments."""
        return ["[OPTIONS]", *(usage(item) for item in self.params if item.param_type_name == "argument")]


def usage(argument: Any) -> str:
    """An argument as a usage shows it: `RULE`, `FILE...`, `[SET...]`; what has brackets of its own stays as it is."""
    name = str(argument.metavar or argument.name.upper())
    if name.startswith("["):
        return name
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


class CommandGroup(TyperGroup):
    """Commands by name, with their help; only the command that the command line names is imported."""

    package: str
    """The package or module of the commands, such as `kiplint.commands`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The name of the command that the first word names, the command itself, and the other words."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None:  # only when a shell completes a word that names no command yet
            return None, command, rest
        return name, load(self.package, name), rest


def make_app() -> Any:
    """The group of all commands; call it with the words of a command line."""
    return _make_group("kiplint.commands", _kiplint, add_completion=True)


def all_commands(group: Any = None, words: str = "") -> Iterator[tuple[str, Any]]:
    """The words that call each group and command, such as `migrate bump`, and the group or command itself.

    The first is the group with which to begin, by default `kiplint` itself, whose `words` are empty.
    """
    group = group or make_app()
    yield words, group
    for name in getattr(group, "commands", ()):
        yield from all_commands(load(group.package, name), f"{words} {name}".lstrip())


def load(package: str, name: str) -> Any:
    """Import a command, such as `diff` of `kiplint.commands`, or a group of commands, such as `migrate`.

    A command is the function `command` in the module of its name. What has `COMMANDS` is a group: a package with a
    module for each command, or a module with a function for each, whose epilogs are in `EPILOGS`.
    """
    identifier = name.replace("-", "_")
    parent = import_module(package)
    if not hasattr(parent, "__path__"):  # a module with a function for each command
        return _make_command(name, getattr(parent, identifier), parent.EPILOGS[name])
    module: Any = import_module(f"{package}.{identifier}")
    if hasattr(module, "COMMANDS"):
        return _make_group(module.__name__)
    return _make_command(name, module.command, module.EPILOG)


def _make_command(name: str, function: Callable[..., int], epilog: str) -> Any:
    """The command that takes the parameters of a function, calls it, and exits with the code that it returns."""

    @wraps(function)
    def call_and_exit(**values: Any) -> None:
        run(partial(function, **values))

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, epilog=epilog, cls=Command)(call_and_exit)
    return typer.main.get_command(app)


def _make_group(name: str, callback: Callable[..., None] = lambda: None, add_completion: bool = False) -> Any:
    """The group of the commands in a package or module; `callback` handles the options before a command."""
    package: Any = import_module(name)
    app = typer.Typer(
        help=package.HELP,
        epilog=package.EPILOG,
        callback=callback,
        cls=CommandGroup,
        no_args_is_help=True,
        add_completion=add_completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # rich doubles the time of --help
    )
    group: Any = typer.main.get_command(app)
    group.package = name
    group.commands = {
        command: TyperCommand(command, help=title, rich_markup_mode=None) for command, title in package.COMMANDS.items()
    }
    return group


def _print_version(is_asked_for: bool) -> None:
    """Print the version and exit, if --version is on the command line."""
    if is_asked_for:
        print(f"kiplint {__version__}")
        raise typer.Exit


def _kiplint(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Handle the options before a command: only --version, whose callback does all the work."""
