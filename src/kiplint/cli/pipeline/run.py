"""`kiplint pipeline run`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.pipeline.options import ConfOption, MasterOption, RemoteOption

EPILOG = (
    "Example:  kiplint pipeline run --source kafka=../kafka#trunk --source kafka=../kafka#tags "
    "--source fork=fork.bundle#main --out lake.  "
    "Exit codes: 0 done, also where something could not be read (see `pipeline report`), 2 nothing could be done."
)


def run(
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH[#REF]",
            help="A git repository or bundle with a branch, `tags` or `tags=GLOB`; a directory or archive. Repeatable.",
        ),
    ] = None,
    out: Annotated[str, typer.Option(metavar="LAKE", help="The directory to write the tables to.")] = "lake",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the sources that LAKE was last run with.")
    ] = False,
    stages: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAGE,...",
            help="Only these of ingest, lint, describe, compare, spans, matrix, drift.",
            show_default="all",
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only definitions whose path from the top matches. Repeatable."),
    ] = None,
    upstream: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The source that the others are held against.", show_default="the first"),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A kiplint.toml with the rules to run.", show_default="the defaults"),
    ] = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    conf: ConfOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Read histories into a lake of tables, or bring one up to date.

    Every distinct file is read, checked and described once, every distinct set checked once, and every distinct pair
    of neighbours compared once, however many commits, tags and forks have them. What is there already is not done
    again: a second run only works on what is new, and one that was interrupted goes on where it was.
    """
    from kiplint.cli.pipeline.running import RunOptions, run_pipeline
    from kiplint.cli.process import run as run_command

    options = RunOptions(
        sources=tuple(source or ()),
        out=out,
        resume=resume,
        stages=tuple(stages or ()),
        paths=tuple(path or ()),
        upstream=upstream or "",
        config=config,
        master=master,
        remote=remote,
        conf=tuple(conf or ()),
        quiet=quiet,
    )
    run_command(lambda: run_pipeline(options))
