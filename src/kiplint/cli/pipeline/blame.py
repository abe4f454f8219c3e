"""`kiplint pipeline blame`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.pipeline.options import ColorOption, FormatOption, LakeArgument

EPILOG = "Examples:  kiplint pipeline blame lake SaslHandshake   |   kiplint pipeline blame lake compat/layout-changed"


def blame(
    lake: LakeArgument,
    wanted: Annotated[str, typer.Argument(metavar="MESSAGE|RULE", help="A message, an RPC, a rule, or a pack.")],
    output_format: FormatOption = "text",
    color: ColorOption = "auto",
) -> None:
    """Show everything that happened to a message or because of a rule, in order.

    Findings as they came in and were fixed, and changes, each with its commit and the first release that has it.
    """
    from kiplint.cli.pipeline import answering
    from kiplint.cli.process import run

    run(lambda: answering.write_blame(lake, wanted, output_format, color))
