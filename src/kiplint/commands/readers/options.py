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
    """The options of `kiplint readers`."""

    set: Annotated[str, Argument("The definitions: a directory, files, an archive, REV: or REV:path.", "[SET]")] = "."
    since: Annotated[str | None, Option("Only what is new since this revision.", "REV")] = None
    repo: RepositoryOption = None
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()
    statistics: StatisticsOption = False


def run(options: Options) -> int:
    """Report what other readers of the definitions do with them.

    Clients and proxies outside of Java read these files with parsers of their own. kiplint replays each reader that it
    has a profile of: where it fails, which versions it reads otherwise than Kafka, and what it ignores. The rules
    `readers/NAME` are infos unless the configuration changes that.
    """
    from kiplint.cli.output import report
    from kiplint.commands.readers.result import ReadersResult
    from kiplint.commands.readers.run import check_readers

    def work() -> ReadersResult:
        return check_readers(
            options.set,
            since=options.since,
            fail_on=options.fail_on,
            repository=options.repo,
            **chosen(options.choosing, options.configuring),
        )

    return report("readers", options.reporting, work, statistics=options.statistics)
