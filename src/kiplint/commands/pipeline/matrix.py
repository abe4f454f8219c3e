"""`kiplint pipeline matrix`."""

from typing import Annotated, Literal

from kiplint.cli.options import Argument, ColorOption, Group, LakeArgument, OpenOption, Option

EPILOG = (
    "Examples:  kiplint pipeline matrix lake   |   kiplint pipeline matrix lake 2.4.0 3.9.0   |   "
    "kiplint pipeline matrix lake --open"
)


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    client: Annotated[str | None, Argument("The client's release.", "CLIENT")] = None
    broker: Annotated[str | None, Argument("The broker's release.", "BROKER")] = None
    output_format: Annotated[
        Literal["text", "json", "markdown", "html"], Option("How to write the result; html is for all releases.")
    ] = "text"
    open: OpenOption = False
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show which releases interoperate as client and broker, or what one pair makes of each RPC.

    The same as `kiplint negotiate` says of two sets (KIP-35, KIP-511, KIP-1313), for every ordered pair of releases.
    """
    from kiplint.commands.pipeline.lake import open_lake, write_answer
    from kiplint.engine.errors import UsageError

    client, broker = options.client, options.broker
    if client and not broker:
        raise UsageError(f"matrix takes no release, or two: the client {client} and a broker")
    as_page = options.open or options.output_format == "html"
    if client and as_page:
        raise UsageError("the page is of all releases: name none; the address of a pair is behind its number")
    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.matrix import matrix, pair_matrix, release_matrix

    if as_page:
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.result import MatrixResult

        result = MatrixResult(release_matrix(reader, sides=True))
        return present(result, "html", options.color, opened=options.open)
    answer = pair_matrix(reader, client, broker) if client and broker else matrix(reader)
    return write_answer(answer, options.output_format, options.color)
