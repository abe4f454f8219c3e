"""Run a command and watch its processes: time, CPU time and peak memory of JVM, Python workers and driver.

Reads /proc, so on Linux only; short-lived processes and threads count as far as the samples see them.
"""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.timing import CommandError, environment

DRIVER, JVM, WORKERS = "driver", "JVM", "Python workers"
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
INTERVAL = 0.25


@dataclass
class Watched:
    """What a command printed and took; seconds, and MiB of resident memory.

    `peaks` are the highest sum of each kind of process at any moment and that of all together; pages that processes
    share are counted in each. `threads` is the CPU time of the JVM's threads by what they do.
    """

    output: str = ""
    wall: float = 0.0
    cpu: Mapping[str, float] = field(default_factory=dict)
    peaks: Mapping[str, float] = field(default_factory=dict)
    threads: Mapping[str, float] = field(default_factory=dict)


def watch(arguments: Sequence[str | Path], extra: Mapping[str, str]) -> Watched:
    """Run a command to its end; raises CommandError when it fails."""
    started = time.perf_counter()
    child = subprocess.Popen(
        arguments, env={**environment(), **extra}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    samples = _Samples(child.pid)
    while child.poll() is None:
        samples.take()
        time.sleep(INTERVAL)
    wall = time.perf_counter() - started
    output, errors = child.communicate()
    if child.returncode:
        said = errors.strip().splitlines()
        raise CommandError(f"`{Path(arguments[0]).name}` exited with {child.returncode}: {said[-1] if said else ''}")
    return Watched(output, wall, samples.cpu, dict(samples.peaks), samples.threads)


class _Samples:
    """What was seen of a tree of processes so far."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._kinds: dict[int, str] = {}
        self._cpu: dict[int, float] = {}
        self._threads: dict[tuple[int, int], tuple[str, float]] = {}
        self.peaks: Counter[str] = Counter()

    def take(self) -> None:
        """Look at all processes once."""
        now: Counter[str] = Counter()
        for pid in _tree(self._root):
            kind = self._kind(pid) or self._kinds.get(pid, DRIVER)
            stat = _stat(f"/proc/{pid}/stat")
            if stat is None:
                continue
            self._kinds[pid] = kind
            self._cpu[pid] = stat[1]
            now[kind] += _resident(pid)
            if kind == JVM:
                self._look_at_threads(pid)
        now["all"] = sum(now.values())
        for kind, size in now.items():
            self.peaks[kind] = max(self.peaks[kind], size)

    @property
    def cpu(self) -> dict[str, float]:
        """CPU seconds by kind of process."""
        found: Counter[str] = Counter()
        for pid, seconds in self._cpu.items():
            found[self._kinds[pid]] += seconds
        return dict(found)

    @property
    def threads(self) -> dict[str, float]:
        """CPU seconds of the JVM's threads by kind."""
        found: Counter[str] = Counter()
        for name, seconds in self._threads.values():
            found[_thread_kind(name)] += seconds
        return dict(found)

    @staticmethod
    def _kind(pid: int) -> str:
        """What a process is now: it may become something else; empty when it has ended."""
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return ""
        if line == [b""]:
            return ""
        if line[0].endswith(b"java"):
            return JVM
        return WORKERS if b"pyspark.daemon" in line else DRIVER

    def _look_at_threads(self, pid: int) -> None:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return
        for thread in threads:
            stat = _stat(f"/proc/{pid}/task/{thread}/stat")
            if stat:
                self._threads[pid, int(thread)] = stat


def _thread_kind(name: str) -> str:
    if name.startswith("Executor task"):
        return "tasks: reading, shuffling, joining, sorting, writing"
    if name.startswith("Writer for") or "writer for" in name:
        return "rows into Arrow, to the workers"
    if name.startswith(("C1 Comp", "C2 Comp")):
        return "compiling of the JVM's own code"
    if name.startswith(("VM Thread", "GC", "G1")):
        return "garbage collection"
    return "other threads"


def _tree(root: int) -> Iterator[int]:
    """A process and all below it."""
    yield root
    try:
        for thread in os.listdir(f"/proc/{root}/task"):
            for child in Path(f"/proc/{root}/task/{thread}/children").read_text().split():
                yield from _tree(int(child))
    except OSError:
        return


def _stat(file: str) -> tuple[str, float] | None:
    """The name of a process or thread, and its CPU seconds; None when it is gone."""
    try:
        text = Path(file).read_text()
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    """Resident memory in MiB."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError):
        return 0.0
