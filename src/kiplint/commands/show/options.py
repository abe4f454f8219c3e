"""`kiplint show`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.classes import Argument, ColorOption, Command, FormOption, RepositoryOption


class ShowCommand(Command, frozen=True):
    """The options of `kiplint show`."""

    EPILOG = (
        "Examples:  kiplint show FetchRequest@17 clients/   |   kiplint show Fetch 4.1.0:   |   "
        "kiplint show MetadataResponse 4.1.0: --output-format json"
    )

    message: Annotated[
        str,
        Argument(
            "The message, or the RPC for both of its halves, and one of its versions.",
            "MESSAGE[@VERSION]",
            complete=completion.messages,
        ),
    ]
    schemas: Annotated[
        str, Argument("The set of the message.", "SET", usual="the working directory", complete=completion.sets)
    ] = "."
    repository: RepositoryOption = None
    output_format: FormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Draw what a message puts on the wire.

        Versions with the same layout are drawn once. The last column is the size in bytes: a number, or 2+n, 4+n and
        varint+n for a length and that many bytes. The JSON has each of these facts, and the defaults, as a value of its
        own: `kiplint schema show` describes it.
        """
        from kiplint.cli.output import present
        from kiplint.commands.show.run import show

        result = show(self.message, self.schemas, repository=self.repository)
        return present(result, self.output_format, self.color)
