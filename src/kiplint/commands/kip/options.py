"""`kiplint kip`."""

from typing import Annotated

from kiplint.cli.classes import (
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

    EPILOG = "Examples:  kiplint kip KIP-1242.md   |   kiplint kip kip.html --against 4.1.0:"

    files: Annotated[
        tuple[str, ...],
        Argument(
            "KIPs as text, Markdown, or the HTML of a wiki; - for standard input. Each is checked by itself.", "FILE"
        ),
    ]
    against: Annotated[
        str | None,
        Option("The set that the KIP is about: a directory, an archive, REV: or REV:path.", "SET"),
    ] = None
    repository: RepositoryOption = None
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()

    def run(self) -> int:
        """Check the schemas in the text of a KIP.

        The definitions are the blocks of JSON in the text, which may have altered blanks and quotes. They are checked
        as one set; the last definition of a name counts. With --against they stand in that set, in the place of its
        definitions of these names, and what they change in it is shown as `kiplint diff` shows it: name the release
        that the KIP changes, or the code, to see how the two differ. All places are in the KIP.
        """
        from kiplint.cli.output import report
        from kiplint.commands.kip.run import kip

        return report("kip", self.reporting.output_format, lambda: kip(self))
