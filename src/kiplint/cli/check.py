"""`kiplint check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kiplint.cli import ONLY_FAILING, completing
from kiplint.report.findings.formats import FORMATS

EPILOG = (
    "Examples:  kiplint check clients/src/main/resources/common/message   |   "
    "kiplint check Fetch*.json   |   kiplint check . --select kip-1313 --output-format json"
)


def check(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SET",
            help="Directories (walked), definition files (their siblings are read too, but not reported), archives, "
            "REV:path as git show takes it, or - for standard input.",
            show_default="the working directory",
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.rules,
            metavar="RULES",
            help="Run only these: a rule, a pack, a glob, default or all. Repeatable.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.rules, metavar="RULES", help="Do not run these, whatever is selected. Repeatable."
        ),
    ] = None,
    severity: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.rule_ids,
            metavar="RULE=LEVEL",
            help="Change a severity: error, warning, info or off. Repeatable.",
        ),
    ] = None,
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"] | None,
        typer.Option(help="The lowest severity that makes the exit code 1.", show_default="error"),
    ] = None,
    only_failing: Annotated[
        bool, typer.Option(ONLY_FAILING, help="Report only the findings that make the exit code 1.")
    ] = False,
    output_format: Annotated[
        list[str] | None,
        typer.Option(
            "--output-format",
            metavar="FORMAT[=FILE]",
            autocompletion=completing.formats,
            help=f"How to write the findings ({', '.join(FORMATS)}), and to which file. Repeatable.",
            show_default="text",
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Leave out the findings that are recorded in this file.")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Rewrite the baseline without what is no longer found.")
    ] = False,
    allow_new: Annotated[
        bool, typer.Option("--allow-new", help="With --update-baseline: also record what is new.")
    ] = False,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The configuration to use, instead of the one found upwards.")
    ] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no configuration.")] = False,
    stdin_filename: Annotated[
        str, typer.Option(metavar="FILE", help="For -: the path that the text belongs to.", show_default=False)
    ] = "",
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:path, a directory or a bundle.")
    ] = None,
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing to the terminal.")] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count the findings by rule instead of listing them.")
    ] = False,
) -> None:
    """Check message definitions.

    Every finding says what is wrong, in which version and field, why, and what to write instead. Directories are
    taken as Kafka's generator takes them: the definitions of one directory are one schema set.
    """
    from kiplint.cli.checking import CheckOptions, run_check
    from kiplint.cli.process import run

    options = CheckOptions(
        sets=sets or ["."],
        select=split(select),
        ignore=split(ignore),
        severity=split(severity),
        fail_on=fail_on,
        only_failing=only_failing,
        outputs=output_format or [],
        baseline=str(baseline) if baseline else None,
        update_baseline=update_baseline,
        allow_new=allow_new,
        config=str(config) if config else None,
        isolated=isolated,
        color=color,
        quiet=quiet,
        statistics=statistics,
        stdin_filename=stdin_filename,
        repository=repo,
    )
    run(lambda: run_check(options))


def split(values: list[str] | None) -> list[str]:
    """The words of a repeatable option whose values may have commas."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]
