"""`kiplint rollout`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kiplint.cli import completing
from kiplint.report.findings.formats import FORMATS

EPILOG = "Examples:  kiplint rollout 4.1.0: HEAD:   |   kiplint rollout clients/ --output-format markdown"


def rollout(
    sets: Annotated[
        list[str], typer.Argument(metavar="[BASE] HEAD", help="The release before, if any, and the set to look at.")
    ],
    header: Annotated[int, typer.Option(min=1, help="The request header version that every RPC should have.")] = 3,
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:, a directory or a bundle.")
    ] = None,
    output_format: Annotated[
        list[str] | None,
        typer.Option(
            "--output-format",
            metavar="FORMAT[=FILE]",
            autocompletion=completing.formats,
            help=f"How to write the report ({', '.join(FORMATS)}), and to which file. Repeatable.",
            show_default="text",
        ),
    ] = None,
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing to the terminal.")] = False,
) -> None:
    """Report for every RPC whether its latest version uses the new request header (KIP-1313).

    done: a new version uses it, and the response was bumped too. missing: it does not. wrong: a released version was
    moved to another header, or the response lags. new: not in BASE, with the header from its first version. exempt:
    frozen. dead: no version left. The exit code is 1 while any is missing or wrong.
    """
    from kiplint.cli.process import fail, run
    from kiplint.cli.rolling import RolloutOptions, run_rollout

    if len(sets) > 2:
        fail(f"rollout takes one set, or a base and a head, not {len(sets)} sets")
    base = sets[0] if len(sets) == 2 else None
    run(lambda: run_rollout(RolloutOptions(base, sets[-1], header, repo, output_format or [], color, quiet)))
