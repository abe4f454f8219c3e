"""What 10,000 repositories of Kafka's size would take on 20 machines, from the tasks of a run over some of them.

Tasks are spread over all cores; what is not in tasks, the driver's own work, is done by it alone. Both are taken to
grow with the repositories, as if none shared a definition with another: forks do, so this is the most.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.pipeline.stages import events
from benchmarks.pipeline.watch import Watched
from kiplint.pipeline.listing import list_source, read_source

REPOSITORIES, MACHINES, CORES = 10_000, 20, 16
_STAGE = re.compile(r"(?P<stage>\w+) +(?P<seconds>[\d.]+) s  ")


class Stage(NamedTuple):
    """A stage of a run: its tasks, the seconds of all and of the longest, and those in which none ran."""

    name: str
    tasks: int
    seconds: float
    longest: float
    idle: float


def projected(done: Watched, log: Path, repositories: int) -> str:
    """The stages of a watched run with an event log, and the hours each would take, in Markdown."""
    titles = ("stage", "tasks", "task seconds", "longest task", "s without task", "hours of tasks", "hours without")
    lines = [titles, tuple("---:" if at else "---" for at in range(len(titles)))]
    share = REPOSITORIES / repositories / 3600
    for stage in _stages(done, log):
        hours = stage.seconds * share / MACHINES / CORES, stage.idle * share
        figures = (f"{number:,.1f}" for number in (stage.seconds, stage.longest, stage.idle, *hours))
        lines.append((stage.name, str(stage.tasks), *figures))
    text = f"{REPOSITORIES:,} repositories on {MACHINES} machines of {CORES} cores, from a run over {repositories}:\n\n"
    return text + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def held(source: str) -> str:
    """What the driver holds of each revision that it has listed, and of those of so many repositories."""
    revisions = list_source(read_source(source), ()).revisions
    size, count = revisions.table.nbytes, len(revisions)
    whole = size * REPOSITORIES / 2**30
    return f"The driver holds {size / count:,.0f} bytes for each of {count} revisions, {whole:.1f} GiB for all of them."


def _stages(done: Watched, log: Path) -> Iterator[Stage]:
    shift = time.time() - time.perf_counter()
    tasks = sorted(_tasks(log))
    for moment, line in done.lines:
        if match := _STAGE.match(line):
            end = moment + shift
            begin = end - float(match["seconds"])
            own = [(start, stop) for start, stop in tasks if begin <= start < end]
            longest = max((stop - start for start, stop in own), default=0.0)
            seconds = sum(stop - start for start, stop in own)
            yield Stage(match["stage"], len(own), seconds, longest, float(match["seconds"]) - _covered(own))


def _tasks(log: Path) -> Iterator[tuple[float, float]]:
    """When tasks began and ended, in seconds since 1970."""
    for event in events(log):
        if event["Event"] == "SparkListenerTaskEnd":
            yield event["Task Info"]["Launch Time"] / 1e3, event["Task Info"]["Finish Time"] / 1e3


def _covered(spans: list[tuple[float, float]]) -> float:
    """The seconds in which at least one of some sorted spans runs."""
    total, reached = 0.0, 0.0
    for start, stop in spans:
        total += max(0.0, stop - max(start, reached))
        reached = max(reached, stop)
    return total
