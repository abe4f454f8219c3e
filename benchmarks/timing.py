"""Whole processes, timed one at a time or in alternating pairs."""

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WARM_UPS = 2

_KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR")
_STOPWATCH = Path(__file__).with_name("stopwatch.py")
_PEAK_UNITS = 1024 * 1024 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in KiB elsewhere
_FIXED_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


class CommandError(Exception):
    """A command under test ended with a status that it should not end with."""


@dataclass(frozen=True)
class Command:
    """What to run: its arguments, where, and the exit statuses that mean it did its work."""

    arguments: Sequence[str | Path]
    cwd: Path | None = None
    expected: frozenset[int] = frozenset({0})

    def __str__(self) -> str:
        first, *rest = (str(argument) for argument in self.arguments)
        words = [Path(first).name, *rest[:3], *(["..."] if len(rest) > 3 else [])]
        return " ".join(words)


@dataclass(frozen=True)
class Run:
    """One finished process: wall clock and CPU in seconds, peak resident memory in MiB."""

    wall: float
    cpu: float
    peak: float


@dataclass
class Comparison:
    """Runs of two commands taken in turns; the i-th of one belongs to the i-th of the other."""

    ours: list[Run] = field(default_factory=list)
    theirs: list[Run] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Our least CPU time, divided by theirs: the clock would compare the load of the machine as well."""
        return least_cpu(self.ours) / least_cpu(self.theirs)


def environment() -> dict[str, str]:
    """The environment of every timed process: nothing of a CI's or a shell's own settings."""
    return {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ} | _FIXED_ENVIRONMENT


def run(command: Command) -> Run:
    """Run a command once, its output thrown away; raises CommandError on an unexpected exit status."""
    arguments = (sys.executable, "-I", "-S", _STOPWATCH, *command.arguments)
    process = subprocess.run(arguments, cwd=command.cwd, env=environment(), capture_output=True, check=False)
    if process.returncode != 0:
        raise CommandError(f"`{command}` cannot be started")
    wall, cpu, peak, status = process.stdout.split()
    if int(status) not in command.expected:
        raise CommandError(_failure(command, int(status), process.stderr))
    return Run(float(wall), float(cpu), int(peak) / _PEAK_UNITS)


def output(command: Command) -> str:
    """Run a command once, untimed, and return its standard output; raises CommandError as `run` does."""
    try:
        process = subprocess.run(
            command.arguments, cwd=command.cwd, env=environment(), capture_output=True, check=False
        )
    except OSError as error:
        raise CommandError(f"`{command}` cannot be started: {error.strerror}") from error
    if process.returncode not in command.expected:
        raise CommandError(_failure(command, process.returncode, process.stderr or process.stdout))
    return process.stdout.decode("utf-8", "replace")


def compare(ours: Command, theirs: Command, pairs: int) -> Comparison:
    """Run two commands in turns, A B A B, after warm-ups that do not count."""
    comparison = Comparison()
    for number in range(WARM_UPS + pairs):
        mine, other = run(ours), run(theirs)
        if number >= WARM_UPS:
            comparison.ours.append(mine)
            comparison.theirs.append(other)
    return comparison


def median_wall(runs: Sequence[Run]) -> float:
    """The median wall clock time in seconds."""
    return statistics.median(run.wall for run in runs)


def median_cpu(runs: Sequence[Run]) -> float:
    """The median of user and system time together, in seconds."""
    return statistics.median(run.cpu for run in runs)


def least_cpu(runs: Sequence[Run]) -> float:
    """The least user and system time together, in seconds."""
    return min(run.cpu for run in runs)


def median_peak(runs: Sequence[Run]) -> float:
    """The median peak memory in MiB."""
    return statistics.median(run.peak for run in runs)


def _failure(command: Command, code: int, errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return f"`{command}` exited with {code}" + (f": {lines[-1].strip()}" if lines else "")
