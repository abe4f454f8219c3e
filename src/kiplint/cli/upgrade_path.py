"""`kiplint upgrade-path`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

EPILOG = (
    "Examples:  kiplint upgrade-path 2.4.0 4.1.0 --tags --repo kafka   |   kiplint upgrade-path a/ c/ --over b/.  "
    "Exit codes: 0 there is a path, 1 there is none, 2 something could not be read or understood."
)


def upgrade_path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Where to start: a schema set, or a tag with --tags.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to go, in the same form.")],
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="SET", help="A release that the path may go over. Repeatable, oldest first."),
    ] = None,
    tags: Annotated[bool, typer.Option("--tags", help="The path may go over all tags, in version order.")] = False,
    mode: Annotated[
        Literal["zookeeper", "kraft"] | None,
        typer.Option(help="What the cluster runs in at first, where FROM can do both.", show_default="either"),
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of tags and REV:, a directory or a bundle.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(help="How to write the result.")] = "text",
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colours in the output.")] = "auto",
) -> None:
    """Find the shortest rolling upgrade from one release to another.

    On each step old and new brokers run in one cluster, so the two must interoperate: in a mode that both can run in
    (ZooKeeper or KRaft), the newer one still serves every RPC that the older one serves, in a version that both have;
    unstable versions do not count. What zkBroker serves is ZooKeeper mode, what broker and controller serve is KRaft
    mode; a set without listeners (before 2.8) is in ZooKeeper mode as a whole. A set with both modes can be migrated
    from ZooKeeper to KRaft where BrokerRegistration knows IsMigratingZkBroker (KIP-866).

    Only RPCs count: records on disk and a release's own advice are not considered.
    """
    from kiplint.cli.process import run
    from kiplint.cli.upgrading import UpgradeOptions, run_upgrade

    options = UpgradeOptions(
        source=source,
        target=target,
        over=over or [],
        tags=tags,
        mode=mode,
        repository=repo,
        output_format=output_format,
        color=color,
    )
    run(lambda: run_upgrade(options))
