"""`kiplint readers`."""

from typing import Annotated

from kiplint.cli.options import Argument, Group, Judging, Option, RepositoryOption

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
    judging: Judging = Judging()


def run(options: Options) -> int:
    """Report what other readers of the definitions do with them.

    Clients and proxies outside of Java read these files with parsers of their own. kiplint replays each reader that it
    has a profile of: where it fails, which versions it reads differently than Kafka, and what it ignores. The rules
    `readers/NAME` are infos unless the configuration changes that.
    """
    from kiplint.cli.output import report_on
    from kiplint.commands.readers.run import check_readers

    return report_on(check_readers, options)
