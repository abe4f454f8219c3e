"""The options that several commands of the pipeline have."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

LakeArgument = Annotated[str, typer.Argument(metavar="LAKE", help="The directory that `pipeline run` wrote.")]
FormatOption = Annotated[
    Literal["text", "json", "markdown"], typer.Option("--output-format", help="How to write the result.")
]
ColorOption = Annotated[Literal["auto", "always", "never"], typer.Option("--color", help="Colours in the output.")]
MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Where Spark runs: local[4], spark://host:7077, yarn, k8s://...", show_default="local[*]"
    ),
]
RemoteOption = Annotated[
    str | None, typer.Option(metavar="URL", help="A Spark Connect server, such as sc://host:15002.")
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A setting of Spark's, such as spark.driver.memory=8g. Repeatable."),
]
