"""`kiplint diff`."""

from typing import Annotated, ClassVar

from kiplint.cli import completion
from kiplint.cli.classes import (
    Argument,
    BreaksOption,
    Choosing,
    Command,
    Configuring,
    MessageOption,
    Option,
    PageReporting,
    ReleasedOption,
    RepositoryOption,
    RoleOption,
)


class DiffCommand(Command, frozen=True):
    """The options of `kiplint diff`."""

    EPILOG = (
        "Examples:  kiplint diff 4.0.0: 4.1.0:   |   kiplint diff HEAD~1: .   |   "
        "kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"
    )
    HINTS: ClassVar = {
        "breaks": "--fail-on-breaks: {message}",
        "message": "--message {message}",
        "released": "--released {message}",
    }

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
    messages: MessageOption = ()
    role: RoleOption = None
    released: ReleasedOption = ()
    repository: RepositoryOption = None
    fail_on_breaks: BreaksOption = ("wire", "storage")
    choosing: Choosing = Choosing()
    reporting: PageReporting = PageReporting()
    configuring: Configuring = Configuring()

    def run(self) -> int:
        """Report the changes between two releases, and what they break.

        A change breaks `wire` when a released version has other bytes, `storage` when records on disk do, `support`
        when something is no longer served, `semantics` when the same bytes have another meaning, `source` when only
        generated code changes, and `none` when it only adds. Layouts before and after are shown as proof.
        """
        from kiplint.cli.output import report
        from kiplint.commands.diff.run import diff

        return report("diff", self.reporting.output_format, lambda: diff(self), self.reporting.FORMATS)
