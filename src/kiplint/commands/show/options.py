"""`kiplint show`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, ColorOption, Group, OpenOption, Option, PageFormOption, RepositoryOption

EPILOG = (
    "Examples:  kiplint show FetchRequest@17 clients/   |   kiplint show Fetch 4.1.0:   |   "
    "kiplint show MetadataResponse 4.1.0: --output-format json   |   "
    "kiplint show --all --output-format json clients/ > layouts.json   |   kiplint show --all clients/ --open"
)
SECTION = "Bytes and brokers"


class Options(Group, frozen=True):
    """The options of `kiplint show`."""

    message: Annotated[
        str | None,
        Argument(
            "The message, or the RPC for both of its halves, and one of its versions; left out with --all.",
            "[MESSAGE[@VERSION]]",
            complete=completion.messages,
        ),
    ] = None
    source: Annotated[
        str | None,
        Argument("The set of the message.", "[SET]", usual="the working directory", complete=completion.sets),
    ] = None
    all: Annotated[bool, Option("All messages of the set.")] = False
    repo: RepositoryOption = None
    output_format: PageFormOption = "text"
    open: OpenOption = False
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Draw what a message puts on the wire, for each range of versions with the same layout.

    The last column is the size in bytes: a number, or 2+n, 4+n and varint+n for a length and that many bytes. The JSON
    has each of these facts, and the defaults, as a value of its own: `kiplint schema show` describes it. Both halves of
    an RPC are written as with --all.
    """
    from kiplint.cli.output import present
    from kiplint.commands.show.run import show, show_all
    from kiplint.engine.errors import UsageError

    if options.all:
        if options.source is not None:
            raise UsageError("show --all takes a set alone, without a message")
        layouts = show_all(options.message or ".", repository=options.repo)
        return present(layouts, options.output_format, options.color, opened=options.open)
    if options.message is None:
        raise UsageError("show takes a message, or --all")
    result = show(options.message, options.source or ".", repository=options.repo)
    return present(result, options.output_format, options.color, opened=options.open)
