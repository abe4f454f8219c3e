"""`kiplint review`."""

from functools import partial
from typing import Annotated

import typer

from kiplint.cli.options import (
    BreaksOption,
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    ReportFormatOption,
    SelectOption,
    SeverityOption,
    severities,
)
from kiplint.cli.output import report
from kiplint.commands.review.run import RolloutReport, review
from kiplint.compat.classify import GRAVE

EPILOG = """\b
Examples:
  kiplint review
  kiplint review --base origin/trunk clients/
  kiplint review --base 4.1.0 --output-format markdown=comment.md
  kiplint review --fix"""


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Directories and files of the checkout.", show_default="the checkout"),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="The revision to compare with, or none.",
            show_default="where the branch left the default branch; the commit before on the default branch itself",
        ),
    ] = None,
    released: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB|REV|SET",
            help="A release: a glob of tags, a revision, or a set; a version that one has is released. Repeatable.",
            show_default="the configuration's, else the tags of releases, else the base",
        ),
    ] = None,
    rollout: Annotated[
        RolloutReport,
        typer.Option(
            help="Report how far KIP-1313's header is: auto once a definition has headerVersions, always as findings."
        ),
    ] = "auto",
    trust_head: Annotated[
        bool,
        typer.Option(
            "--trust-head",
            help="Take the configuration, rule packs and baseline of the work tree, not those of the base.",
        ),
    ] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Apply the safe fixes of what the change brought, then report what is left."),
    ] = False,
    whole: Annotated[bool, typer.Option("--all", help="List infos too, and in Markdown everything.")] = False,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    fail_on_breaks: BreaksOption = None,
    output_format: ReportFormatOption = None,
    config: ConfigOption = None,
) -> int:
    """Review a change: what it brings, what it breaks, and for whom.

    One report of the work tree against a base: the findings that the base does not have, what breaks in versions that a
    release or the base has, and the state of KIP-1313's header. Each cause is reported once, at the place to correct,
    with the fix if there is one. What the change only adds is listed below, and fails nothing. Comments, moved files
    and untouched lines are not reported.
    """
    work = partial(
        review,
        *paths or (),
        base=base,
        released=released or (),
        rollout=rollout,
        trust_head=trust_head,
        fix=fix,
        whole=whole,
        select=select or (),
        ignore=ignore or (),
        severity=severities(severity),
        fail_on=fail_on,
        fail_on_breaks=fail_on_breaks or GRAVE,
        config=config,
    )
    return report("review", output_format, work)
