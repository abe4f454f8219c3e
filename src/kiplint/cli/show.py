"""`kiplint show`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

EPILOG = (
    "Examples:  kiplint show FetchRequest@17 clients/   |   kiplint show MetadataResponse 4.1.0: --output-format json"
)


def show(
    message: Annotated[str, typer.Argument(metavar="MESSAGE[@VERSION]", help="The message, and one of its versions.")],
    source: Annotated[str, typer.Argument(metavar="[SET]", help="Where to look for it.")] = ".",
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:, a directory or a bundle.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="How to write the layouts.")] = "text",
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
) -> None:
    """Draw what a message puts on the wire, for each range of versions on which that is the same.

    The last column counts bytes: a number is the width; 2+n, 4+n and varint+n are a length and that many bytes.
    """
    from kiplint.cli.process import run
    from kiplint.cli.showing import run_show

    run(lambda: run_show(message, source, repo, output_format, color))
