"""`kiplint diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kiplint.cli import completing
from kiplint.report.findings.formats import FORMATS

EPILOG = (
    "Examples:  kiplint diff 4.0.0: 4.1.0:   |   kiplint diff HEAD~1: .   |   "
    "kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"
)


def diff(
    old: Annotated[str, typer.Argument(help="The base: a directory, an archive, REV: or REV:path. It is released.")],
    new: Annotated[str, typer.Argument(help="What is compared with it, in any of the same forms.")],
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="OLDER", help="An older set whose tag numbers must not come back. Repeatable."),
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:, a directory or a bundle.")
    ] = None,
    fail_on_breaks: Annotated[
        str,
        typer.Option(
            autocompletion=completing.breaks, metavar="WHAT", help="What a change must break to make the exit code 1."
        ),
    ] = "wire,storage",
    select: Annotated[
        list[str] | None,
        typer.Option(autocompletion=completing.rules, metavar="RULES", help="Report only these. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(autocompletion=completing.rules, metavar="RULES", help="Do not report these. Repeatable."),
    ] = None,
    severity: Annotated[
        list[str] | None,
        typer.Option(autocompletion=completing.rule_ids, metavar="RULE=LEVEL", help="Change a severity. Repeatable."),
    ] = None,
    output_format: Annotated[
        list[str] | None,
        typer.Option(
            "--output-format",
            metavar="FORMAT[=FILE]",
            autocompletion=completing.formats,
            help=f"How to write the changes ({', '.join(FORMATS)}), and to which file. Repeatable.",
            show_default="text",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration to use.")] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no configuration.")] = False,
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing to the terminal.")] = False,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count the changes by rule.")] = False,
) -> None:
    """Say what changed between two releases, and what that breaks.

    A change breaks `wire` when a released version has other bytes, `storage` when records on disk have, `support`
    when something is no longer served, `semantics` when the same bytes are taken differently, `source` when only
    generated code changes, and `none` when it only adds. Layouts before and after are shown as proof.
    """
    from kiplint.cli.check import split
    from kiplint.cli.checking import CheckOptions
    from kiplint.cli.diffing import DiffOptions, run_diff
    from kiplint.cli.process import run

    common = CheckOptions(
        sets=[new],
        select=split(select),
        ignore=split(ignore),
        severity=split(severity),
        outputs=output_format or [],
        config=str(config) if config else None,
        isolated=isolated,
        color=color,
        quiet=quiet,
        statistics=statistics,
    )
    run(lambda: run_diff(DiffOptions(old, new, common, also or [], repo, fail_on_breaks)))
