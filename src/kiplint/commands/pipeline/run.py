"""`kiplint pipeline run`."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from kiplint.cli.options import Cluster, Command, Option
from kiplint.cli.process import use_color, warn
from kiplint.render.table import BOLD, DIM, paint
from kiplint.text.words import plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.lake.lake import Lake
    from kiplint.pipeline.run import Done


class RunCommand(Command, frozen=True):
    """The options of `kiplint pipeline run`."""

    EPILOG = (
        "Example:  kiplint pipeline run --source kafka=../kafka#trunk --source kafka=../kafka#tags "
        "--source fork=fork.bundle#main --out lake.  "
        "Exit codes: 0 done, also where a revision or a file could not be read (see `pipeline report`), "
        "1 a source could not be read and stays as it was, 2 nothing could be done."
    )

    source: Annotated[
        tuple[str, ...],
        Option(
            "A git repository or bundle with a branch, `tags` (releases), or `tags=GLOB,!GLOB` (`tags=*`: all tags); a "
            "directory, an archive. Repeatable.",
            "NAME=PATH[#REF]",
        ),
    ] = ()
    out: Annotated[
        str, Option("Where to write the tables: a directory, or file://, s3://, gs://, abfss://...", "LAKE")
    ] = "lake"
    add: Annotated[tuple[str, ...], Option("A source to add to those of LAKE. Repeatable.", "NAME=PATH[#REF]")] = ()
    remove: Annotated[tuple[str, ...], Option("A source to remove from LAKE. Repeatable.", "NAME")] = ()
    resume: Annotated[
        bool, Option("Resume with the sources of the previous run of LAKE; damaged tables are made again.")
    ] = False
    stages: Annotated[
        tuple[str, ...],
        Option("Only these of ingest, lint, describe, compare, spans, matrix, drift.", "STAGE,...", usual="all"),
    ] = ()
    path: Annotated[
        tuple[str, ...], Option("Only definitions whose path from the top matches. Repeatable.", "GLOB")
    ] = ()
    upstream: Annotated[
        str | None, Option("The source that the others are compared with.", "NAME", usual="the first")
    ] = None
    across: Annotated[
        bool, Option("Hold the releases of each source against those of the others too, in the matrix.")
    ] = False
    mail: Annotated[bool, Option("Store the mail addresses of authors too, in the table revisions.")] = False
    config: Annotated[str | None, Option("A kiplint.toml with the rules to run.", "FILE", usual="the defaults")] = None
    cluster: Cluster = Cluster()
    quiet: Annotated[bool, Option("Print nothing but errors.", alias="-q")] = False

    def run(self) -> int:
        """Read histories into a lake of tables, or bring one up to date.

        Every distinct file is read, checked and described once, every distinct set checked once, and every distinct
        pair of neighbours compared once, however many commits, tags and forks have them. A second run only processes
        what is new, and a run after an interruption continues.
        """
        from kiplint.commands.pipeline.lake import need_spark, one_session

        need_spark()
        from kiplint.cli.process import CLEAN, FINDINGS, EndSignal
        from kiplint.engine.config import configure
        from kiplint.pipeline.lake.lake import Lake
        from kiplint.pipeline.run import Request, Watcher, check_stages, make_request
        from kiplint.pipeline.run import run as run_stages
        from kiplint.pipeline.stage import Engine

        stages = check_stages(self.stages)
        lake = Lake(self.out)
        if self.resume:
            lake.repair_states()
        request = Request(self.source, self.path, self.upstream or "", self.config or "", self.across, self.mail)
        request = make_request(lake, request, resume=self.resume, add=self.add, remove=self.remove)
        console = Console(self.quiet)
        try:
            with one_session(self.cluster) as session:
                configuration = configure(config=request.config or {})
                watcher = Watcher(lambda: console.started(len(request.sources), self.out), console.begun, console.done)
                engine = Engine.of(configuration.rules(), configuration.config.released)
                run_stages(lake, request, engine, session, watcher, stages, repair=self.resume)
        except (KeyboardInterrupt, EndSignal):
            console.interrupted(lake)
            raise
        finally:
            console.close()
        return FINDINGS if console.finish(lake) else CLEAN


class Console:
    """Prints a line for each stage, and on standard error what is being done."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._color = use_color("auto", sys.stdout)
        self._progress: Progress | None = None
        self._has_begun = False

    def started(self, sources: int, lake: str) -> None:
        """Print what the run is about, at once: its first stage may take long."""
        if not self._quiet:
            print(f"reading {plural(sources, 'source')} into {lake}", file=sys.stderr, flush=True)

    def begun(self, stage: str, spark: SparkSession) -> None:
        """Show that a stage begins."""
        self._has_begun = True
        if not self._quiet:
            self._progress = Progress(spark, stage, sys.stderr)

    def done(self, result: Done) -> None:
        """Print the result of a stage."""
        self.close()
        if self._quiet:
            return
        for note in result.notes:
            warn(f"note: {note}")
        rows = ", ".join(f"{count:,} {name}" for name, count in result.rows.items())
        took = "up to date" if result.seconds is None else f"{result.seconds:.1f} s"
        print(
            f"{paint(result.stage.ljust(9), BOLD, self._color)} {took:>10}  {paint(rows, DIM, self._color)}", flush=True
        )

    def close(self) -> None:
        """Remove the progress line."""
        if self._progress:
            self._progress.close()
            self._progress = None

    def interrupted(self, lake: Lake) -> None:
        """Print how to continue, once a stage has begun."""
        self.close()
        if self._has_begun:
            warn(f"interrupted: `kiplint pipeline run --resume --out {lake}` continues")

    def finish(self, lake: Lake) -> bool:
        """Print the number of problems, and the sources that could not be read; returns whether there were any."""
        from kiplint.pipeline.tables import Problems

        parts = lake.parts(Problems.NAME, lake.snapshot().tables.get(Problems.NAME))
        problems = lake.rows(parts, Problems.COLUMNS)
        if problems and not self._quiet:
            warn(f"warning: {plural(len(problems), 'problem')}: `kiplint pipeline report {lake}` says which")
        failures = [row for row in problems if row["stage"] == "sources"]
        for row in failures:
            warn(f"warning: {row['subject']} could not be read, and stays as it was: {row['problem']}")
        return bool(failures)


EVERY = 0.3
"""Seconds between two looks; one takes a few milliseconds."""
EVERY_LINE = 10.0
"""Seconds between two lines, where each look cannot take the place of the one before."""


class Progress:
    """Watches the jobs of a session in a thread of its own until it is closed.

    A terminal has one line, a file a line every ten seconds.
    """

    def __init__(self, spark: SparkSession, stage: str, out: TextIO) -> None:
        self._stage = stage
        self._out = out
        self._live = out.isatty()
        self._start_time = time.monotonic()
        self._closing = threading.Event()
        self._tasks = (0, 0)
        self._tracker = _tracker(spark)
        self._session = spark if self._tracker is None else None
        if self._session:
            self._session.registerProgressHandler(self._hear)  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and remove the line of a terminal."""
        self._closing.set()
        self._thread.join()
        if self._session:
            self._session.removeProgressHandler(self._hear)  # type: ignore[arg-type]
        if self._live:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def _watch(self) -> None:
        while not self._closing.wait(EVERY if self._live else EVERY_LINE):
            if self._tracker is not None:
                self._tasks = _tasks(self._tracker)
            count, whole = self._tasks
            tasks = f", {count} of {whole} tasks" if whole else ""
            line = f"{self._stage}: {time.monotonic() - self._start_time:.0f} s{tasks}"
            self._out.write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
            self._out.flush()

    def _hear(self, stages: Any, *_: Any, **__: Any) -> None:
        """What a Connect server says, which has no tracker."""
        self._tasks = (sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages))


def _tracker(spark: SparkSession) -> Any:
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return None
    return spark.sparkContext.statusTracker()


def _tasks(tracker: Any) -> tuple[int, int]:
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    running = [stage for stage in stages if stage]
    return sum(stage.numCompletedTasks for stage in running), sum(stage.numTasks for stage in running)
