"""Run a command and watch its processes: time, CPU time of all and of Spark's tasks, and peak memory.

Reads /proc, so on Linux only. Short-lived processes and threads count as far as the samples see them.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks import CommandError, environment

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
INTERVAL = 0.2
"""Seconds from one sample to the next."""
TASK_THREAD = "Executor task"
"""How the name of a thread begins that executes tasks in Spark's JVM."""


class Watched(NamedTuple):
    """What a command took: seconds of the clock, CPU seconds of all processes and of tasks, peak memory in MiB.

    Tasks are threads of the JVM and the Python workers beside them. Pages that processes share are counted in each.
    """

    wall: float
    cpu: float
    tasks: float
    peak: float


def watch(arguments: Sequence[str | Path]) -> Watched:
    """Run a command to its end; raises CommandError when it fails."""
    cpu: dict[int, float] = {}
    tasks: dict[int, float] = {}
    peak = 0.0
    start = time.perf_counter()
    with subprocess.Popen(arguments, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        while child.poll() is None:
            processes = list(_tree(child.pid))
            for process in processes:
                cpu[process] = max(cpu.get(process, 0.0), _cpu(f"/proc/{process}/stat"))
                tasks |= {thread: _cpu(f"/proc/{process}/task/{thread}/stat") for thread in _tasks(process)}
            peak = max(peak, sum(map(_resident, processes)))
            with suppress(subprocess.TimeoutExpired):
                child.wait(INTERVAL)
        wall = time.perf_counter() - start
        errors = (child.stderr.read() if child.stderr else b"").decode(errors="replace").splitlines()
    if child.returncode:
        raise CommandError(f"`{arguments[0]}` exited with {child.returncode}: {errors[-1] if errors else ''}")
    return Watched(wall, sum(cpu.values()), sum(tasks.values()), peak)


def _tree(process: int) -> Iterator[int]:
    """A process and all below it."""
    yield process
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            for child in Path(f"/proc/{process}/task/{thread}/children").read_text().split():
                yield from _tree(int(child))


def _tasks(process: int) -> Iterator[int]:
    """The threads of a process that execute tasks of Spark: some of a JVM's, all of a Python worker's."""
    with suppress(OSError):
        is_worker = b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes()
        for thread in os.listdir(f"/proc/{process}/task"):
            name = Path(f"/proc/{process}/task/{thread}/comm").read_text()
            if is_worker or name.startswith(TASK_THREAD):
                yield int(thread)


def _cpu(file: str) -> float:
    """The CPU seconds of a process or thread; 0 when it is gone."""
    try:
        fields = Path(file).read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(process: int) -> float:
    """Resident memory in MiB; 0 when the process is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError):
        return 0.0
