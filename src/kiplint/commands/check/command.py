"""`kiplint check`."""

from functools import partial
from typing import Annotated

import typer

from kiplint.cli.options import (
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    IsolatedOption,
    ReportFormatOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    severities,
)
from kiplint.cli.output import present_patch, report
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.commands.check.run import check
from kiplint.engine.errors import UsageError

EPILOG = """\b
Examples:
  kiplint check clients/src/main/resources/common/message
  kiplint check Fetch*.json
  kiplint check . --select kip-1313 --output-format json
  kiplint check . --fix

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration, unreadable input, or nothing to check."""

SetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SET",
        help="Directories (searched recursively), definition files (the rest of their set is read, but not "
        "reported), archives, REV:path as in git show, or - for standard input.",
        show_default="the working directory",
    ),
]
FixOption = Annotated[
    bool,
    typer.Option("--fix", help="Apply the safe fixes of the findings that are reported."),
]
UnsafeFixesOption = Annotated[
    bool,
    typer.Option(
        "--unsafe-fixes",
        help="With --fix or --diff: also apply fixes that are likely but not certain. Review the result.",
    ),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Hide the findings that are recorded in this file."),
]
UpdateBaselineOption = Annotated[
    bool,
    typer.Option(
        "--update-baseline",
        help="Remove findings that no longer occur from the baseline; if the file does not exist, record all findings.",
    ),
]
ChangedSinceOption = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        "--since",
        metavar="REV",
        help="Report only findings that the changes since this revision caused, or that are on changed lines.",
    ),
]
AllOption = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also list infos and, on a terminal, show every error with its line.",
    ),
]


def command(
    sets: SetsArgument = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    output_format: ReportFormatOption = None,
    fix: FixOption = False,
    unsafe_fixes: UnsafeFixesOption = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Print the changes of --fix as a patch, without writing them."),
    ] = False,
    baseline: BaselineOption = None,
    update_baseline: UpdateBaselineOption = False,
    changed_since: ChangedSinceOption = None,
    whole: AllOption = False,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
    repository: RepositoryOption = None,
) -> int:
    """Check message definitions.

    Every finding states what is wrong, in which version and field, why, and what to write instead. The definitions of
    one directory are one schema set, as in Kafka's generator. --fix keeps every comment; with --diff, the exit code is
    1 if there is something to fix.
    """
    if unsafe_fixes and not (fix or diff):
        raise UsageError("--unsafe-fixes requires --fix or --diff")
    if diff and output_format:
        raise UsageError("--diff prints a patch instead of a report; remove --output-format")
    work = partial(
        check,
        *sets or (),
        select=select or (),
        ignore=ignore or (),
        severity=severities(severity),
        fail_on=fail_on,
        fix=fix,
        unsafe_fixes=unsafe_fixes,
        diff=diff,
        baseline=baseline,
        update_baseline=update_baseline,
        changed_since=changed_since,
        whole=whole,
        config=config,
        isolated=isolated,
        repository=repository,
    )
    if not diff:
        return report("check", output_format, work)
    result = work()
    present_patch(result, result.patch or b"")
    return FINDINGS if result.patch else CLEAN  # the findings that remain do not count
