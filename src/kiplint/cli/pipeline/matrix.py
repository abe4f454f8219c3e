"""`kiplint pipeline matrix`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.pipeline.options import ColorOption, FormatOption, LakeArgument

EPILOG = "Examples:  kiplint pipeline matrix lake   |   kiplint pipeline matrix lake 2.4.0 3.9.0"


def matrix(
    lake: LakeArgument,
    client: Annotated[str | None, typer.Argument(metavar="CLIENT", help="The client's release.")] = None,
    broker: Annotated[str | None, typer.Argument(metavar="BROKER", help="The broker's release.")] = None,
    output_format: FormatOption = "text",
    color: ColorOption = "auto",
) -> None:
    """Show which releases interoperate as client and broker, or what one pair makes of each RPC.

    The same as `kiplint negotiate` says of two sets (KIP-35, KIP-511, KIP-1313), for every ordered pair of releases.
    """
    from kiplint.cli.pipeline import answering
    from kiplint.cli.process import run

    run(lambda: answering.write_matrix(lake, client, broker, output_format, color))
