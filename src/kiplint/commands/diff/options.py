"""`kiplint diff`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import (
    Argument,
    Choosing,
    Configuring,
    Group,
    MessageOption,
    Option,
    ReleasedOption,
    Reporting,
    RepositoryOption,
    StatisticsOption,
    split,
)

EPILOG = (
    "Examples:  kiplint diff 4.0.0: 4.1.0:   |   kiplint diff HEAD~1: .   |   "
    "kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"
)
SECTION = "Compare and plan"
HINTS = {"breaks": "--fail-on-breaks: {message}", "message": "--message {message}", "released": "--released {message}"}


class Options(Group, frozen=True):
    """The options of `kiplint diff`."""

    old: Annotated[
        str,
        Argument(
            "The base: a directory, an archive, REV: or REV:path. It is released.", "OLD", complete=completion.sets
        ),
    ]
    new: Annotated[
        str, Argument("What is compared with it, in any of the same forms.", "NEW", complete=completion.sets)
    ]
    also: Annotated[
        tuple[str, ...], Option("An older set whose tag numbers must not come back. Repeatable.", "OLDER")
    ] = ()
    message: MessageOption = ()
    released: ReleasedOption = ()
    repo: RepositoryOption = None
    fail_on_breaks: Annotated[
        str, Option("What a change must break to make the exit code 1.", "WHAT", complete=completion.breaks)
    ] = "wire,storage"
    choosing: Choosing = Choosing()
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()
    statistics: StatisticsOption = False


def run(options: Options) -> int:
    """Report the changes between two releases, and what they break.

    A change breaks `wire` when a released version has other bytes, `storage` when records on disk do, `support` when
    something is no longer served, `semantics` when the same bytes have another meaning, `source` when only generated
    code changes, and `none` when it only adds. Layouts before and after are shown as proof.
    """
    from kiplint.cli.output import report_on
    from kiplint.commands.diff.run import diff

    return report_on(diff, options, fail_on_breaks=split([options.fail_on_breaks]))
