"""The commands as typer sees them: it explains, completes and refuses, out of the options that each command says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Final, Literal

import typer

from kiplint import __version__
from kiplint.cli import completion
from kiplint.cli.options import Argument, Group, Parameter, make, parameters
from kiplint.cli.process import run
from kiplint.cli.reader import COMMANDS, Command, hints, names, room

AS_IT_IS: Final = "\b\n"
"""Begins a paragraph whose lines are not joined."""


def shown(epilog: str) -> str:
    """`Examples:  one   |   two.  The rest.` with each example on a line of its own; other text as it is."""
    label, _, rest = epilog.partition("  ")
    if label not in ("Example:", "Examples:"):
        return epilog
    examples, *more = re.split(r"\.\s{2,}(?=[A-Z])", rest, maxsplit=1)
    lines = [label, *(f"  {' '.join(one.split())}" for one in examples.split(" | "))]
    return "\n\n".join([AS_IT_IS + "\n".join(lines), *more])


Do = Callable[[Command, Group], object]
"""What is done with a command and its options, once typer has read them."""

VERSION = ("--version", "-V")


def execute(command: Command, options: Group) -> None:
    """Run the command, and exit with its code."""
    run(lambda: command.run(options), hints(command))


def make_app(do: Do = execute, words: Sequence[str] = ()) -> typer.Typer:
    """All commands; of a command line whose words are known, only those that it can be about: to make all is slow."""
    package: Any = import_module(COMMANDS)
    first = words[0] if words else ""
    app = _group(
        package,
        do,
        (first,) if first in names(package) else () if first in VERSION else names(package),
        name="kiplint",
        add_completion=False,  # typer's own options know only the shell that runs them
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(kiplint)
    return app


def _group(package: Any, do: Do, names: Sequence[str], **settings: Any) -> typer.Typer:
    """Commands of a package; without `rich_markup_mode` rich would double the time of --help."""
    app = typer.Typer(help=package.HELP, epilog=package.EPILOG, no_args_is_help=True, rich_markup_mode=None, **settings)
    for name in names:
        module = room(package, name)
        if hasattr(module, "COMMANDS"):
            app.add_typer(_group(module, do, module.COMMANDS), name=name)
        else:
            app.command(name, epilog=shown(module.EPILOG))(_function(module, do))
    return app


def _function(command: Command, do: Do) -> Callable[..., None]:
    """A function with the signature that typer makes the command of."""
    known = parameters(command.Options)

    def function(**values: Any) -> None:
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        named = {one.name: () if one.many and given[one.name] is None else given[one.name] for one in known}
        left_out = {one.name for one in known if not one.is_required and one.many and not named[one.name]}
        do(command, make(command.Options, {name: named[name] for name in named.keys() - left_out}))

    signed = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.is_required else None if one.many else one.usual,
            annotation=Annotated[_hint(one), _mark(one)],
        )
        for one in known
    ]
    function.__signature__ = inspect.Signature(signed)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in signed}
    function.__doc__ = command.run.__doc__
    return function


def _hint(one: Parameter) -> Any:
    hint: Any = Literal[one.words] if one.words else one.kind
    if one.many:
        hint = list[hint]
    elif one.times > 1:
        hint = tuple.__class_getitem__((hint,) * one.times)
    return hint if one.is_required or (one.usual is not None and not one.many) else hint | None


def _mark(one: Parameter) -> Any:
    mark = one.mark
    shared: dict[str, Any] = {
        "help": mark.help,
        "metavar": mark.metavar,
        "autocompletion": mark.complete,
        "show_default": True if mark.usual is None else mark.usual,
    }
    if isinstance(mark, Argument):
        return typer.Argument(**shared)
    return typer.Option(*one.flags, min=mark.least, max=mark.most, **shared)


def _version(asked: bool) -> None:
    if asked:
        print(f"kiplint {__version__}")
        raise typer.Exit


def _completion(shell: str | None) -> None:
    if shell:
        print(completion.script(shell))
        raise typer.Exit


def kiplint(
    version: Annotated[
        bool, typer.Option(*VERSION, callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    show_completion: Annotated[
        Literal["bash", "zsh", "fish", "powershell"] | None,
        typer.Option(
            "--show-completion",
            callback=_completion,
            is_eager=True,
            metavar="SHELL",
            help="Print what makes bash, zsh, fish or powershell complete commands, options, rules and formats.",
        ),
    ] = None,
) -> None:
    """Take the options that stand before a command."""
