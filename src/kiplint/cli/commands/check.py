"""`kiplint check`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.groups import Choosing, Configuring, Reporting, RepositoryOption, StatisticsOption, chosen
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint check clients/src/main/resources/common/message   |   "
    "kiplint check Fetch*.json   |   kiplint check . --select kip-1313 --output-format json"
)


class Options(Group, frozen=True):
    """What it takes."""

    sets: Annotated[
        tuple[str, ...],
        Argument(
            "Directories (walked), definition files (their siblings are read too, but not reported), archives, "
            "REV:path as git show takes it, or - for standard input.",
            "SET",
            usual="the working directory",
        ),
    ] = ()
    choosing: Choosing = Choosing()
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"] | None,
        Option("The lowest severity that makes the exit code 1.", usual="error"),
    ] = None
    only_failing: Annotated[bool, Option("Report only the findings that make the exit code 1.")] = False
    reporting: Reporting = Reporting()
    baseline: Annotated[str | None, Option("Leave out the findings that are recorded in this file.", "FILE")] = None
    update_baseline: Annotated[bool, Option("Rewrite the baseline without what is no longer found.")] = False
    allow_new: Annotated[bool, Option("With --update-baseline: also record what is new.")] = False
    changed_since: Annotated[
        str | None, Option("Report only what a change since this revision brought about, or touches.", "REV")
    ] = None
    as_hook: Annotated[
        bool,
        Option("For a commit: leave out what is no definition or was so in HEAD, and see what deletions break."),
    ] = False
    configuring: Configuring = Configuring()
    stdin_filename: Annotated[str | None, Option("For -: the path that the text belongs to.", "FILE")] = None
    repo: RepositoryOption = None
    statistics: StatisticsOption = False


def run(options: Options) -> int:
    """Check message definitions.

    Every finding says what is wrong, in which version and field, why, and what to write instead. Directories are
    taken as Kafka's generator takes them: the definitions of one directory are one schema set.
    """
    from kiplint.cli.output import report
    from kiplint.runs.check import check
    from kiplint.runs.result import CheckResult

    def work() -> CheckResult:
        return check(
            *options.sets,
            fail_on=options.fail_on,
            only_failing=options.only_failing,
            baseline=options.baseline,
            update_baseline=options.update_baseline,
            allow_new=options.allow_new,
            changed_since=options.changed_since,
            as_hook=options.as_hook,
            repository=options.repo,
            stdin_filename=options.stdin_filename or "",
            **chosen(options.choosing, options.configuring),
        )

    return report("check", options.reporting, work, statistics=options.statistics)
