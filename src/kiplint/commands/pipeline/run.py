"""`kiplint pipeline run`."""

import traceback
from typing import Annotated, Any

import typer

from kiplint.cli.process import CLEAN, FINDINGS, warn
from kiplint.commands.pipeline.text import need

EPILOG = """\b
Examples:
  kiplint pipeline run kafka=../kafka#trunk kafka=../kafka#tags fork=fork.bundle#main --out lake
  kiplint pipeline run --out lake

Exit codes: 0 done, 1 a source could not be read and is unchanged, 2 the run failed."""


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=PATH[#branch|tags]",
            help="A git repository or bundle, with a branch or with its releases (`tags` or `tags=GLOB`). Sources "
            "are added to those of the lake; without any, those are read again.",
        ),
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="LAKE", help="The directory of the tables, shared by all executors.")
    ] = "lake",
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Remove a source from the lake. Repeatable.")
    ] = None,
    upstream: Annotated[
        str, typer.Option(metavar="NAME", help="The source that the others are compared with; by default, the first.")
    ] = "",
    config: Annotated[
        str,
        typer.Option(
            metavar="FILE|none",
            help="A kiplint.toml with the rules to run, or the default rules; by default those of the lake.",
        ),
    ] = "",
    master: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The Spark master: spark://host:7077, yarn, k8s://... By default, this machine."
        ),
    ] = "",
    conf: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A Spark setting, such as spark.driver.memory=8g. Repeatable."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print the stack trace of a failure.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
) -> int:
    """Read histories into a lake of tables, or update a lake.

    Each distinct file and set is checked once, and each distinct pair of revisions is compared once. After an
    interruption, run the command again.
    """
    need("pyspark", "deltalake", "pyarrow", "pandas")
    from kiplint.pipeline.directory import lake_path
    from kiplint.pipeline.run import run

    stages: list[str] = []

    def session() -> Any:
        from kiplint.pipeline.session import open_session  # imports Spark, which not every run needs

        note(f"reading histories into {out}")
        return open_session(master, conf or ())

    def print_stage(stage: str, row_count: int, seconds: float) -> None:
        stages.append(stage)
        if not quiet:
            print(f"{stage:<10} {seconds:6.1f} s  {row_count:,} new rows", flush=True)

    def note(text: str) -> None:
        if not quiet:
            warn(text)

    try:
        problems = run(lake_path(out), session, print_stage, sources or (), drop or (), upstream, config, note)
    except Exception:
        if debug:
            traceback.print_exc()
        raise
    for (source, lineage), problem in problems.items():
        warn(f"warning: {source} {lineage} could not be read: {problem}")
    if not stages:
        note(f"nothing is new in {out}")
    return FINDINGS if problems else CLEAN
