"""The typer app: it reads, explains and completes command lines, from the options that each command declares."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any, Final, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from kiplint import __version__
from kiplint.cli import completion
from kiplint.cli.options import Argument, Command, Parameter, make, parameters
from kiplint.cli.process import run
from kiplint.text.files import module_names

COMMANDS: Final = "kiplint.commands"
"""The package of the commands."""

AS_IT_IS: Final = "\b\n"
"""Begins a paragraph whose lines are not joined."""

ARGUMENTS, OPTIONS = "Arguments", "Options"
"""The sections of arguments, and of options that name none."""

VERSION: Final = ("--version", "-V")
HELP: Final = ("--help", "-h")

Run = Callable[[Command], object]
"""Runs a command with the options that typer has read."""


def execute(command: Command) -> None:
    """Run the command, and exit with its code."""
    run(command.run, command.HINTS)


def make_app(do: Run = execute, words: Sequence[str] | None = None) -> typer.Typer:
    """The app with all commands; for a known command line only with what it can name, as making all is slow."""
    package: Any = import_module(COMMANDS)
    first = words[0] if words else HELP[0]
    app = _group(
        package,
        do,
        (first,) if first in names(package) else () if first in VERSION else names(package),
        names_only=words is not None and first in HELP,
        name="kiplint",
        add_completion=False,  # typer's own options know only the shell that runs them
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(kiplint)
    return app


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


class _HelpOfGroup(TyperGroup):
    """A command group whose help lists the commands in their order."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order in which their package lists them; typer would put groups last."""
        return sorted(self.commands, key=[*import_module(COMMANDS).COMMANDS, *self.commands].index)


class _HelpOfCommand(TyperCommand):
    """A command whose help lists the options by what they are about."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options below the titles of their panels."""
        params: list[Any] = self.get_params(ctx)
        records = ((param, param.get_help_record(ctx)) for param in params)
        rows = [
            (ARGUMENTS if param.param_type_name == "argument" else param.rich_help_panel or OPTIONS, record)
            for param, record in records
            if record
        ]
        titles = dict.fromkeys(title for title, _ in rows)
        _write_sections(formatter, rows, [ARGUMENTS, *(title for title in titles if title != OPTIONS), OPTIONS])


def _write_sections(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]], titles: Iterable[str]) -> None:
    """Write the rows of a help text below these titles, those of a title without any left out."""
    by_title: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
    for title, row in rows:
        by_title[title].append(row)
    for title, section in by_title.items():
        if section:
            with formatter.section(title):
                formatter.write_dl(section)


def _group(package: Any, do: Run, names: Sequence[str], names_only: bool = False, **settings: Any) -> typer.Typer:
    """The commands of a package, or only their names and help with `names_only`.

    Without `rich_markup_mode` rich would double the time of --help.
    """
    app = typer.Typer(
        help=package.HELP,
        epilog=package.EPILOG,
        cls=_HelpOfGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        **settings,
    )
    for name in names:
        command: Any = room(package, name)
        if not hasattr(command, "COMMANDS"):
            declare = app.command(name, cls=_HelpOfCommand, epilog=with_lines(command.EPILOG))
            declare(_function(command, do, names_only))
        else:
            app.add_typer(_group(command, do, () if names_only else command.COMMANDS), name=name)
    return app


def with_lines(epilog: str) -> str:
    """`Examples:  first   |   second.  The rest.` with each example on its own line; other text unchanged."""
    label, _, rest = epilog.partition("  ")
    if label not in ("Example:", "Examples:"):
        return epilog
    examples, *more = re.split(r"\.\s{2,}(?=[A-Z])", rest, maxsplit=1)
    lines = [label, *(f"  {' '.join(example.split())}" for example in examples.split(" | "))]
    return "\n\n".join([AS_IT_IS + "\n".join(lines), *more])


def _function(command: type[Command], do: Run, names_only: bool) -> Callable[..., None]:
    """A function with the signature from which typer makes the command, without parameters with `names_only`."""
    params = () if names_only else parameters(command)

    def function(**values: Any) -> None:
        options = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        for param in params:
            if param.many and not options[param.name]:
                if param.is_required:
                    options[param.name] = ()
                else:
                    del options[param.name]
        do(make(command, options))

    signature = [
        inspect.Parameter(
            param.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if param.is_required else None if param.many else param.default,
            annotation=Annotated[_hint(param), _mark(param)],
        )
        for param in params
    ]
    function.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    function.__annotations__ = {param.name: param.annotation for param in signature}
    function.__doc__ = command.run.__doc__
    return function


def _hint(param: Parameter) -> Any:
    hint: Any = Literal[param.words] if param.words else param.kind
    if param.many:
        hint = list[hint]
    return hint if param.is_required or (param.default is not None and not param.many) else hint | None


def _mark(param: Parameter) -> Any:
    mark = param.mark
    settings: dict[str, Any] = {
        "help": mark.help,
        "metavar": mark.metavar,
        "autocompletion": mark.complete,
        "show_default": True if mark.usual is None else mark.usual,
        "rich_help_panel": param.panel or None,
    }
    if isinstance(mark, Argument):
        return typer.Argument(**settings)
    return typer.Option(*param.flags, min=mark.least, max=mark.most, **settings)


def _print_version(value: bool) -> None:
    if value:
        print(f"kiplint {__version__}")
        raise typer.Exit


def _print_completion(shell: str | None) -> None:
    if shell:
        print(completion.script(shell))
        raise typer.Exit


def kiplint(
    version: Annotated[
        bool, typer.Option(*VERSION, callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    show_completion: Annotated[
        Literal["bash", "zsh", "fish", "powershell"] | None,
        typer.Option(
            "--show-completion",
            callback=_print_completion,
            is_eager=True,
            metavar="SHELL",
            help="Print a shell's completion script.",
        ),
    ] = None,
) -> None:
    """Take the options that stand before a command."""
