"""`kiplint pipeline matrix`."""

from typing import Annotated

from kiplint.cli.groups import AnswerFormOption, ColorOption, LakeArgument
from kiplint.cli.options import Argument, Group

EPILOG = "Examples:  kiplint pipeline matrix lake   |   kiplint pipeline matrix lake 2.4.0 3.9.0"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    client: Annotated[str | None, Argument("The client's release.", "CLIENT")] = None
    broker: Annotated[str | None, Argument("The broker's release.", "BROKER")] = None
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show which releases interoperate as client and broker, or what one pair makes of each RPC.

    The same as `kiplint negotiate` says of two sets (KIP-35, KIP-511, KIP-1313), for every ordered pair of releases.
    """
    from kiplint.cli.lake import open_lake, write_answer
    from kiplint.engine.errors import UsageError

    client, broker = options.client, options.broker
    if client and not broker:
        raise UsageError(f"matrix takes no release, or two: the client {client} and a broker")
    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.matrix import matrix, pair_matrix

    found = pair_matrix(reader, client, broker) if client and broker else matrix(reader)
    return write_answer(found, options.output_format, options.color)
