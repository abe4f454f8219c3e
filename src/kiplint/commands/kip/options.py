"""`kiplint kip`."""

from typing import Annotated

from kiplint.cli.options import (
    Argument,
    Choosing,
    Command,
    Configuring,
    FailOnOption,
    Option,
    Reporting,
    RepositoryOption,
)


class KipCommand(Command, frozen=True):
    """The options of `kiplint kip`."""

    EPILOG = (
        "Examples:  kiplint kip KIP-1242.md   |   kiplint kip kip.html --base 4.1.0:   |   "
        "kiplint kip kip.txt --base 4.1.0: --against trunk: --output-format json"
    )
    SECTION = "Pull requests"

    files: Annotated[
        tuple[str, ...],
        Argument(
            "KIPs as text, Markdown, or the HTML of a wiki; - for standard input. Each is checked by itself.", "FILE"
        ),
    ]
    base: Annotated[
        str | None, Option("The release that the KIP changes: a directory, an archive, REV: or REV:path.", "SET")
    ] = None
    against: Annotated[str | None, Option("The code that implements the KIP: report how the two differ.", "SET")] = None
    repository: RepositoryOption = None
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()

    def run(self) -> int:
        """Check the schemas in the text of a KIP.

        The definitions are extracted from the text, which may have altered blanks and quotes, and checked as one set;
        the last definition of a name counts. With --base they replace those of the release, and their changes are shown
        as `kiplint diff` shows them, with the layouts of the new versions. The base also completes definitions that
        leave something out, patches, and tables of fields. What cannot be read is listed. All places are in the KIP.
        """
        from kiplint.cli.output import report
        from kiplint.commands.kip.run import kip

        return report("kip", self.reporting, lambda: kip(self))
