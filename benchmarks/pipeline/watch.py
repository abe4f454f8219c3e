"""Run a command and watch its processes: time, CPU time and peak memory of JVM, Python workers and driver.

Reads /proc, so on Linux only; short-lived processes and threads count as far as the samples see them. Other machines
may share this one's cores and make them slower for minutes, so what is to be compared is measured in pauses of the
command, in which all its processes are stopped.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any, NamedTuple

from benchmarks.timing import CommandError, environment

DRIVER, JVM, WORKERS, ALL = "driver", "JVM", "Python workers", "all"
TASKS, OTHER_THREADS = "tasks", "planning, listening and the rest"
THREADS = {
    "Executor task": TASKS,
    "C1 ": "compiling of bytecode",
    "C2 ": "compiling of bytecode",
    "VM Thread": "garbage collection",
}
"""What a JVM's thread does, by how its name begins."""
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
INTERVAL, FIRST, SHARE = 1.0, 0.05, 0.02
"""Seconds from one look to the next: few at first, then this share of the time that has passed, up to the most."""
BETWEEN = 5.0
"""Seconds from one pause to the next."""
Pauses = Sequence[tuple[float, float]]


class Moment(NamedTuple):
    """CPU seconds so far by kind of process, and by what the JVM's threads do; `time` as of `perf_counter`."""

    time: float
    cpu: dict[str, float]
    threads: dict[str, float]


@dataclass
class Watched:
    """What a command printed, line by line with the time, and took; times in seconds, memory in MiB.

    `wall` is without the `pauses`, each with its begin and end as of `perf_counter`. `peaks` are the highest sums of
    resident memory by kind of process at any moment, and of all together; pages that processes share are counted in
    each.
    """

    wall: float
    lines: Sequence[tuple[float, str]]
    moments: Sequence[Moment]
    peaks: Mapping[str, float]
    pauses: Pauses = ()

    def between(self, start: float, end: float) -> tuple[dict[str, float], dict[str, float]]:
        """CPU seconds in that time: by kind of process, and by what the JVM's threads do."""
        first, last = self._at(start), self._at(end)
        return _less(last.cpu, first.cpu), _less(last.threads, first.threads)

    def _at(self, time: float) -> Moment:
        return min(self.moments, key=lambda moment: abs(moment.time - time))


def watch(arguments: Sequence[str | Path], meanwhile: Callable[[], object] | None = None) -> Watched:
    """Run a command to its end, and do something in its pauses; raises CommandError when it fails."""
    start_time = time.perf_counter()
    lines: list[tuple[float, str]] = []
    pauses: list[tuple[float, float]] = []
    with subprocess.Popen(
        arguments, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        readers = [Thread(target=_read, args=(stream, lines)) for stream in (child.stdout, child.stderr)]
        for reader in readers:
            reader.start()
        samples = _Samples(child.pid)
        due = start_time + BETWEEN
        while child.poll() is None:
            samples.take()
            with suppress(subprocess.TimeoutExpired):
                child.wait(min(INTERVAL, FIRST + SHARE * (time.perf_counter() - start_time)))
            if meanwhile and time.perf_counter() >= due:
                pauses.append(_pause(child.pid, meanwhile))
                due = pauses[-1][1] + BETWEEN
        wall = time.perf_counter() - start_time - sum(end - start for start, end in pauses)
        for reader in readers:
            reader.join()
    if child.returncode:
        raise CommandError(
            f"`{Path(arguments[0]).name}` exited with {child.returncode}: {lines[-1][1] if lines else ''}"
        )
    return Watched(wall, lines, samples.moments, samples.peaks, pauses)


def paused(pauses: Pauses, start: float, end: float) -> float:
    """How many seconds of a time were pauses."""
    return sum(max(0.0, min(end, last) - max(start, first)) for first, last in pauses)


def _pause(root: int, meanwhile: Callable[[], object]) -> tuple[float, float]:
    start = time.perf_counter()
    with _stop(root):
        meanwhile()
    return start, time.perf_counter()


@contextmanager
def _stop(root: int) -> Iterator[None]:
    """A process and all below it stand still; those that were begun while they were stopped, too."""
    still: list[int] = []
    try:
        while fresh := [pid for pid in _tree(root) if pid not in still]:
            _send(fresh, signal.SIGSTOP)
            still += fresh
        yield
    finally:
        _send(still, signal.SIGCONT)


def _send(pids: Iterable[int], what: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, what)


def _read(stream: IO[str] | None, lines: list[tuple[float, str]]) -> None:
    lines.extend((time.perf_counter(), line.rstrip()) for line in stream or ())


class _Samples:
    """What was seen of a tree of processes so far."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._cpu: dict[int, tuple[str, float]] = {}
        self._threads: dict[tuple[int, int], tuple[str, float]] = {}
        self.peaks: dict[str, float] = {}
        self.moments: list[Moment] = []

    def take(self) -> None:
        """Look at all processes once."""
        now: dict[str, float] = {}
        for pid in _tree(self._root):
            kind = self._kind(pid)
            stat = _stat(f"/proc/{pid}/stat")
            if stat is None or not kind:
                continue
            self._cpu[pid] = kind, stat[1]
            now[kind] = now.get(kind, 0.0) + _resident(pid)
            if kind == JVM:
                self._look_at_threads(pid)
        now[ALL] = sum(now.values())
        for kind, size in now.items():
            self.peaks[kind] = max(self.peaks.get(kind, 0.0), size)
        self.moments.append(Moment(time.perf_counter(), _sums(self._cpu), _sums(self._threads)))

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
                self._threads[pid, int(thread)] = _thread_kind(stat[0]), stat[1]


def _sums(samples: Mapping[Any, tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for kind, seconds in samples.values():
        sums[kind] = sums.get(kind, 0.0) + seconds
    return sums


def _less(now: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    return {kind: seconds - before.get(kind, 0.0) for kind, seconds in now.items()}


def _thread_kind(name: str) -> str:
    return next((kind for start, kind in THREADS.items() if name.startswith(start)), OTHER_THREADS)


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
