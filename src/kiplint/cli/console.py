"""What `kiplint pipeline run` shows while it works."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kiplint.cli.terminal import use_color, warn
from kiplint.report.kit.colors import BOLD, DIM, paint
from kiplint.text.words import plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.progress import Progress
    from kiplint.pipeline.run import Done


class Console:
    """A line for each stage, and one on standard error that moves while a stage runs, on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._color = use_color("auto", sys.stdout)
        self._progress: Progress | None = None
        self._begun = False
        self._live = sys.stderr.isatty() and not quiet

    def begun(self, stage: str, spark: SparkSession | None) -> None:
        """Show that a stage begins."""
        from kiplint.pipeline.progress import Progress

        self._begun = True
        if self._live:
            self._progress = Progress(spark, stage, sys.stderr)

    def done(self, done: Done) -> None:
        """Print what a stage came to."""
        self.close()
        if self._quiet:
            return
        rows = ", ".join(f"{count:,} {name}" for name, count in done.rows.items())
        took = "up to date" if done.seconds is None else f"{done.seconds:.1f} s"
        print(
            f"{paint(done.stage.ljust(9), BOLD, self._color)} {took:>10}  {paint(rows, DIM, self._color)}", flush=True
        )

    def close(self) -> None:
        """Take the moving line away."""
        if self._progress:
            self._progress.close()
            self._progress = None

    def interrupted(self, lake: Lake) -> None:
        """Say how to go on, once a stage has begun."""
        self.close()
        if self._begun:
            warn(f"interrupted: `kiplint pipeline run --resume --out {lake}` goes on")

    def finish(self, lake: Lake) -> bool:
        """Say how many problems there were, and which sources could not be read; whether there were some."""
        from kiplint.pipeline.reader import Reader, equals
        from kiplint.pipeline.tables.problems import Problems

        reader = Reader(lake)
        problems = reader.count(Problems)
        if problems and not self._quiet:
            told = f"{plural(problems, 'problem')}: `kiplint pipeline report {lake}` says which"
            warn(f"warning: {told}")
        lost = reader.rows(Problems, where=equals(stage="sources")) if problems else []
        for row in lost:
            warn(f"warning: {row['subject']} could not be read, and stays as it was: {row['problem']}")
        return bool(lost)
