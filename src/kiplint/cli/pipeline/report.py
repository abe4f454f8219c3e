"""`kiplint pipeline report`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kiplint.cli.pipeline.options import ColorOption, FormatOption, LakeArgument

EPILOG = "Example:  kiplint pipeline report lake --output-format markdown > report.md"


def report(
    lake: LakeArgument,
    severity: Annotated[
        Literal["error", "warning", "info"], typer.Option(help="Tell findings in time down to this severity.")
    ] = "error",
    output_format: FormatOption = "text",
    color: ColorOption = "auto",
) -> None:
    """Show what a lake holds: sources, findings in time, what broke, who interoperates, where forks collide.

    For each finding the revision that introduced it and the one that fixed it, the first release that shipped it, and
    the first one after without it. The JSON has them all, whatever --severity says.
    """
    from kiplint.cli.pipeline import answering
    from kiplint.cli.process import run

    run(lambda: answering.write_report(lake, severity, output_format, color))
