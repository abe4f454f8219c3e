"""`kiplint negotiate`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

EPILOG = (
    "Examples:  kiplint negotiate 2.8.0: 3.9.0: --repo kafka   |   kiplint negotiate client/ broker1/ broker2/ "
    "--feature features.json.  Exit codes: 0 all can be used, 1 an RPC of both sides has no common version or would be "
    "refused, 2 something could not be read or understood."
)


def negotiate(
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help="The client's schema set: a directory, an archive, REV: or REV:path."),
    ],
    brokers: Annotated[list[str], typer.Argument(metavar="BROKER...", help="The schema set of each broker.")],
    feature: Annotated[
        str,
        typer.Option(
            "--feature",
            metavar="FILE",
            help='JSON, JSON5 or TOML: feature -> RPC -> versions, as in {"name": {"Fetch": "4-11"}}. Says which '
            "features can be used.",
            show_default=False,
        ),
    ] = "",
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:, a directory or a bundle.")
    ] = None,
    unstable: Annotated[bool, typer.Option("--unstable", help="The brokers offer unstable versions too.")] = False,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="How to write the result.")] = "text",
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
) -> None:
    """Say which versions a client and its brokers agree on.

    First the ApiVersions exchange that begins a connection (KIP-35, KIP-511, KIP-1242), then for each RPC the versions
    that client and all brokers share, the version chosen, and the headers. Says which RPCs a KIP-1313 broker would
    refuse, and who makes the client instance id.

    A broker offers the RPCs whose listeners name broker; all of them where a set says no listeners, as before 2.8.
    """
    from kiplint.cli.negotiating import NegotiateOptions, run_negotiate
    from kiplint.cli.process import run

    options = NegotiateOptions(
        client=client,
        brokers=brokers,
        feature=feature,
        repository=repo,
        unstable=unstable,
        output_format=output_format,
        color=color,
    )
    run(lambda: run_negotiate(options))
