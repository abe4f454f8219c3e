"""`kiplint show`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import Argument, ColorOption, Command, OpenOption, Option, RepositoryOption


class ShowCommand(Command, frozen=True):
    """The options of `kiplint show`."""

    EPILOG = (
        "Examples:  kiplint show FetchRequest@17 clients/   |   kiplint show Fetch 4.1.0:   |   "
        "kiplint show MetadataResponse 4.1.0: --output-format json   |   "
        "kiplint show --all --output-format json clients/ > layouts.json   |   "
        "kiplint show --all clients/ --open   |   kiplint show Fetch --history"
    )
    SECTION = "Bytes and brokers"

    message: Annotated[
        str | None,
        Argument(
            "The message, or the RPC for both of its halves, and one of its versions; left out with --all.",
            "[MESSAGE[@VERSION]]",
            complete=completion.messages,
        ),
    ] = None
    sets: Annotated[
        tuple[str, ...],
        Argument(
            "The set of the message; with --history the releases, oldest first.",
            "SET",
            usual="the working directory; with --history the release tags",
            complete=completion.sets,
        ),
    ] = ()
    history: Annotated[
        bool, Option("The release that brought each version, with its KIPs and the fields that it changed.")
    ] = False
    all: Annotated[bool, Option("All messages of the set.")] = False
    repository: RepositoryOption = None
    output_format: Annotated[
        Literal["text", "json", "markdown", "html"],
        Option("The format of the result; markdown goes with --history."),
    ] = "text"
    open: OpenOption = False
    color: ColorOption = "auto"

    def run(self) -> int:
        """Draw what a message puts on the wire, or list its history.

        Versions with the same layout are drawn once. The last column is the size in bytes: a number, or 2+n, 4+n and
        varint+n for a length and that many bytes. The JSON has each of these facts, and the defaults, as a value of its
        own: `kiplint schema show` describes it. Both halves of an RPC are written as with --all.
        """
        from kiplint.cli.output import present
        from kiplint.commands.show.history import history
        from kiplint.commands.show.run import show, show_all
        from kiplint.engine.errors import UsageError
        from kiplint.render.report import RunResult

        form, sets = self.output_format, self.sets
        if form == "markdown" and not self.history:
            raise UsageError("markdown goes with --history")
        result: RunResult
        if self.all:
            if sets or self.history:
                raise UsageError("show --all takes a set alone, without a message")
            result = show_all(self.message or ".", repository=self.repository)
        elif self.message is None:
            raise UsageError("show takes a message, or --all")
        elif self.history:
            result = history(self.message, *sets, repository=self.repository)
        elif len(sets) > 1:
            raise UsageError("show takes one set; several go with --history")
        else:
            result = show(self.message, *sets, repository=self.repository)
        return present(result, form, self.color, in_browser=self.open)
