"""`kiplint pipeline run`."""

from typing import Annotated

from kiplint.cli.groups import Cluster
from kiplint.cli.options import Group, Option

EPILOG = (
    "Example:  kiplint pipeline run --source kafka=../kafka#trunk --source kafka=../kafka#tags "
    "--source fork=fork.bundle#main --out lake.  "
    "Exit codes: 0 done, also where a revision or a file could not be read (see `pipeline report`), 1 a source could "
    "not be read and stays as it was, 2 nothing could be done."
)


class Options(Group, frozen=True):
    """What it takes."""

    source: Annotated[
        tuple[str, ...],
        Option(
            "A git repository or bundle with a branch, `tags`, `tags=GLOB,!GLOB`; a directory, an archive. Repeatable.",
            "NAME=PATH[#REF]",
        ),
    ] = ()
    out: Annotated[
        str, Option("Where to write the tables: a directory, or file://, s3://, gs://, abfss://...", "LAKE")
    ] = "lake"
    add: Annotated[
        tuple[str, ...], Option("One more source beside those that LAKE has. Repeatable.", "NAME=PATH[#REF]")
    ] = ()
    remove: Annotated[tuple[str, ...], Option("A source that LAKE is to have no more. Repeatable.", "NAME")] = ()
    resume: Annotated[bool, Option("Go on with the sources that LAKE was last run with.")] = False
    stages: Annotated[
        tuple[str, ...],
        Option("Only these of ingest, lint, describe, compare, spans, matrix, drift.", "STAGE,...", usual="all"),
    ] = ()
    path: Annotated[
        tuple[str, ...], Option("Only definitions whose path from the top matches. Repeatable.", "GLOB")
    ] = ()
    upstream: Annotated[
        str | None, Option("The source that the others are held against.", "NAME", usual="the first")
    ] = None
    across: Annotated[
        bool, Option("Hold the releases of each source against those of the others too, in the matrix.")
    ] = False
    config: Annotated[str | None, Option("A kiplint.toml with the rules to run.", "FILE", usual="the defaults")] = None
    cluster: Cluster = Cluster()
    quiet: Annotated[bool, Option("Print nothing but errors.", short="-q")] = False


def run(options: Options) -> int:
    """Read histories into a lake of tables, or bring one up to date.

    Every distinct file is read, checked and described once, every distinct set checked once, and every distinct pair
    of neighbours compared once, however many commits, tags and forks have them. What is there already is not done
    again: a second run only works on what is new, and one that was interrupted goes on where it was.
    """
    from kiplint.cli.lake import is_elsewhere, is_spark_asked, need_spark, one_session

    need_spark()
    from kiplint.cli.console import Console
    from kiplint.cli.process import CLEAN, FINDINGS
    from kiplint.cli.surroundings import Ended
    from kiplint.pipeline.engine import Engine
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.request import make_request
    from kiplint.pipeline.run import Watcher, check_stages
    from kiplint.pipeline.run import run as run_stages
    from kiplint.runs.configuration import configure

    stages = check_stages(options.stages)
    lake = Lake(options.out)
    request = make_request(
        lake,
        options.source,
        options.path,
        options.upstream or "",
        config=options.config or "",
        resume=options.resume,
        add=options.add,
        remove=options.remove,
        across=options.across,
    )
    console = Console(options.quiet)
    try:
        with one_session(options.cluster, quiet=options.quiet) as session:
            rules = configure(config=request.config or {}).rules()
            watcher = Watcher(console.begun, console.done)
            here, far = not is_spark_asked(options.cluster), is_elsewhere(options.cluster)
            run_stages(lake, request, Engine.of(rules), session, watcher, stages, here=here, far=far)
    except (KeyboardInterrupt, Ended):
        console.interrupted(lake)
        raise
    finally:
        console.close()
    return FINDINGS if console.finish(lake) else CLEAN
