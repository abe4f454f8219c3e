"""How far a stage is: one line that is written again and again while it runs."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


EVERY = 0.3
"""Seconds between two looks; one takes a few milliseconds."""


class Progress:
    """Watches the jobs of a session in a thread of its own until it is closed."""

    def __init__(self, spark: SparkSession | None, stage: str, out: TextIO) -> None:
        self._stage = stage
        self._out = out
        self._started = time.monotonic()
        self._closing = threading.Event()
        self._tasks = (0, 0)
        self._tracker = _tracker(spark) if spark else None
        self._connected = spark if spark and self._tracker is None else None
        if self._connected:
            self._connected.registerProgressHandler(self._hear)  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and leave no line behind."""
        self._closing.set()
        self._thread.join()
        if self._connected:
            self._connected.removeProgressHandler(self._hear)  # type: ignore[arg-type]
        self._out.write("\r\x1b[K")
        self._out.flush()

    def _watch(self) -> None:
        while not self._closing.wait(EVERY):
            if self._tracker is not None:
                self._tasks = _tasks(self._tracker)
            done, whole = self._tasks
            told = f", {done} of {whole} tasks" if whole else ""
            self._out.write(f"\r\x1b[K{self._stage}: {time.monotonic() - self._started:.0f} s{told}")
            self._out.flush()

    def _hear(self, stages: Any, *_: Any, **__: Any) -> None:
        """What a Connect server says, which has no tracker."""
        self._tasks = (sum(one.num_completed_tasks for one in stages), sum(one.num_tasks for one in stages))


def _tracker(spark: SparkSession) -> Any:
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return None
    return spark.sparkContext.statusTracker()


def _tasks(tracker: Any) -> tuple[int, int]:
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    known = [one for one in stages if one]
    return sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known)
