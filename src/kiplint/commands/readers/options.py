"""`kiplint readers`."""

from typing import Annotated

from kiplint.cli.options import (
    Argument,
    Choosing,
    Configuring,
    FailOnOption,
    Group,
    Option,
    Reporting,
    RepositoryOption,
    StatisticsOption,
    chosen,
)

EPILOG = (
    "Examples:  kiplint readers clients/src/main/resources   |   kiplint readers . --since origin/trunk   "
    "|   kiplint readers 4.1.0: --select readers/kio"
)
SECTION = "Check and review"


class Options(Group, frozen=True):
    """What it takes."""

    set: Annotated[str, Argument("The definitions: a directory, files, an archive, REV: or REV:path.", "[SET]")] = "."
    since: Annotated[str | None, Option("Only what a change since this revision brought about.", "REV")] = None
    repo: RepositoryOption = None
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()
    statistics: StatisticsOption = False


def run(options: Options) -> int:
    """Say what definitions do to other readers of them.

    Clients and proxies outside of Java read these files with parsers of their own. For each that kiplint has a profile
    of, how it reads is replayed: where it fails, which versions it takes for something else, and what it ignores. The
    rules `readers/NAME` are infos unless the configuration says otherwise.
    """
    from kiplint.cli.output import report
    from kiplint.commands.readers.run import ReadersResult, readers

    def work() -> ReadersResult:
        return readers(
            options.set,
            since=options.since,
            fail_on=options.fail_on,
            repository=options.repo,
            **chosen(options.choosing, options.configuring),
        )

    return report("readers", options.reporting, work, statistics=options.statistics)
