"""`kiplint pipeline rollout`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.pipeline.options import ColorOption, FormatOption, LakeArgument

EPILOG = "Example:  kiplint pipeline rollout lake"


def rollout(
    lake: LakeArgument,
    header: Annotated[int, typer.Option(min=0, max=32767, help="The request header version that is rolled out.")] = 3,
    output_format: FormatOption = "text",
    color: ColorOption = "auto",
) -> None:
    """Show how far a request header version has come, over time and releases (KIP-1313)."""
    from kiplint.cli.pipeline import answering
    from kiplint.cli.process import run

    run(lambda: answering.write_rollout(lake, header, output_format, color))
