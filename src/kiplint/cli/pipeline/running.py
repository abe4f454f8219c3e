"""What `kiplint pipeline run` does, apart from reading its arguments."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import msgspec

from kiplint.cli.process import CLEAN
from kiplint.cli.terminal import use_color
from kiplint.engine.config import Config, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.report.kit.colors import BOLD, DIM, SEVERITY, paint
from kiplint.report.kit.words import plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.progress import Progress
    from kiplint.pipeline.run import Done, Request


class RunOptions(msgspec.Struct, frozen=True):
    """The arguments of a run, as they were given."""

    sources: tuple[str, ...]
    out: str
    resume: bool = False
    stages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    upstream: str = ""
    config: str | None = None
    master: str | None = None
    remote: str | None = None
    conf: tuple[str, ...] = ()
    quiet: bool = False


def need_spark() -> None:
    """Raise UsageError, saying what to install, where Spark is not there."""
    if any(importlib.util.find_spec(name) is None for name in ("pyspark", "pyarrow")):
        raise UsageError("kiplint pipeline needs Spark: pip install 'kiplint[pipeline]'")


def settle_interrupts() -> None:
    """Let Ctrl-C end the command: Spark's own handler asks the JVM in the midst of another call, and logs that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())


def run_pipeline(options: RunOptions) -> int:
    """Bring the lake up to date, a line on standard output for each stage."""
    need_spark()
    from kiplint.pipeline.engine import Engine
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.run import Watcher, check_stages, run
    from kiplint.pipeline.session import make_session, read_conf

    stages, conf = check_stages(options.stages), read_conf(options.conf)
    lake = Lake(options.out)
    request = _request(options, lake)
    sessions: list[SparkSession] = []

    def session() -> SparkSession:
        if not sessions:
            sessions.append(make_session(options.master, options.remote, conf))
            settle_interrupts()
        return sessions[0]

    console = _Console(options.quiet)
    try:
        run(lake, request, Engine.of(_rules(options)), session, Watcher(console.begun, console.done), stages)
    finally:
        console.close()
        for one in sessions:
            one.stop()
    console.finish(lake)
    return CLEAN


def _request(options: RunOptions, lake: Lake) -> Request:
    from kiplint.pipeline.run import Request, requested

    if options.sources:
        sources = tuple(map(_absolute, options.sources))
        asked = Request(sources, options.paths, options.upstream)
        if options.resume and requested(lake.snapshot()) not in (None, asked):
            raise UsageError("--resume goes on with the sources of the run before; leave the others out")
        return asked
    if not options.resume:
        raise UsageError("nothing to read: name a --source NAME=PATH, or --resume the run that wrote the lake")
    if (before := requested(lake.snapshot())) is None:
        raise UsageError(f"there is no run to resume: {options.out} is no lake")
    return before


def _absolute(source: str) -> str:
    """The source with an absolute path, so that it can be resumed from any directory."""
    name, equals, path = source.partition("=")
    return f"{name}={os.path.abspath(path)}" if equals and path else source


def _rules(options: RunOptions) -> RuleSet:
    config = read_config(options.config) if options.config else Config()
    base = os.path.dirname(os.path.realpath(options.config)) if options.config else os.getcwd()
    return make_ruleset(config, load_rules(config, base))


class _Console:
    """A line for each stage, and one on standard error that moves while a stage runs, on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._color = use_color("auto", sys.stdout)
        self._progress: Progress | None = None
        self._live = sys.stderr.isatty() and not quiet

    def begun(self, stage: str, spark: SparkSession) -> None:
        from kiplint.pipeline.progress import Progress

        if self._live:
            self._progress = Progress(spark, stage, sys.stderr)

    def done(self, done: Done) -> None:
        self.close()
        if self._quiet:
            return
        rows = ", ".join(f"{count:,} {name}" for name, count in done.rows.items())
        took = "up to date" if done.seconds is None else f"{done.seconds:.1f} s"
        print(
            f"{paint(done.stage.ljust(9), BOLD, self._color)} {took:>10}  {paint(rows, DIM, self._color)}", flush=True
        )

    def close(self) -> None:
        if self._progress:
            self._progress.close()
            self._progress = None

    def finish(self, lake: Lake) -> None:
        problems = lake.count(lake.snapshot().parts("problems"))
        if problems and not self._quiet:
            told = f"{plural(problems, 'problem')}: `kiplint pipeline report {lake.path}` says which"
            print(f"{paint('warning', SEVERITY['warning'], use_color('auto', sys.stderr))}: {told}", file=sys.stderr)
