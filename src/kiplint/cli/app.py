"""The `kiplint` command and its subcommands, one module each."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kiplint import __version__
from kiplint.cli import (
    changelog,
    check,
    completing,
    diff,
    explain,
    negotiate,
    pipeline,
    rollout,
    rules,
    schema,
    show,
    upgrade_path,
)

app = typer.Typer(
    name="kiplint",
    help="Find mistakes in Apache Kafka message schemas before review: where, why, and how to fix them.",
    no_args_is_help=True,
    add_completion=False,  # typer's own options know only the shell that runs them
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would double the time of --help
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`kiplint COMMAND --help` explains a command, `kiplint explain RULE` a rule. "
    "Exit codes: 0 clean, 1 findings, 2 something could not be read or understood.",
)
app.command("check", epilog=check.EPILOG)(check.check)
app.command("diff", epilog=diff.EPILOG)(diff.diff)
app.command("rollout", epilog=rollout.EPILOG)(rollout.rollout)
app.command("negotiate", epilog=negotiate.EPILOG)(negotiate.negotiate)
app.command("upgrade-path", epilog=upgrade_path.EPILOG)(upgrade_path.upgrade_path)
app.command("show", epilog=show.EPILOG)(show.show)
app.command("changelog", epilog=changelog.EPILOG)(changelog.changelog)
app.add_typer(pipeline.app, name="pipeline")
app.command("rules", epilog=rules.EPILOG)(rules.rules)
app.command("explain", epilog=explain.EPILOG)(explain.explain)
app.command("schema", epilog=schema.EPILOG)(schema.schema)


def _version(asked: bool) -> None:
    if asked:
        print(f"kiplint {__version__}")
        raise typer.Exit


def _completion(shell: str | None) -> None:
    if shell:
        print(completing.script(shell))
        raise typer.Exit


@app.callback()
def kiplint(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and exit.")
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
