"""Run every hostile input at n, 2n and 4n and at the largest size that is read; write benchmarks/HOSTILE.md."""

from functools import reduce
from pathlib import Path
from typing import NamedTuple

from benchmarks.hostile.inputs import INPUTS, MAX_BYTES, PACK, Hostile
from benchmarks.lab import FINDINGS_OR_NONE
from benchmarks.results import aligned
from benchmarks.timing import Command, Run, run
from benchmarks.workspace import REPOSITORY, empty_scratch

PAGE = Path(__file__).resolve().parent.parent / "HOSTILE.md"
EXECUTABLE = REPOSITORY / ".venv" / "bin" / "kiplint"
TIMES = (1, 2, 4)
ROUNDS, MORE_ROUNDS = 2, 8
"""How often each size is run, and how often at most where a doubling looks too large."""
LEAST = 0.05
"""Seconds below which runs differ by chance."""
MOST_GROWTH, MOST_SECONDS = 2.3, 10.0
HEAD = (
    "input",
    "n",
    "time",
    "memory",
    "n to 2n: time",
    "memory",
    "2n to 4n: time",
    "memory",
    "largest",
    "time",
    "memory",
)

ABOUT = f"""\
# Hostile input

Written by `make bench-hostile`; do not edit.

Each input is one that grew with the square of its size once, or might. It is read at n, 2n and 4n; time is that of the
processor, the smallest of some runs, without the start of `kiplint --version`; each doubling may take at most
{MOST_GROWTH} times as much; 4n is as large as may be. `largest` is the size whose file has 1 MiB, the most that is
read; it has to be done, or refused, within {MOST_SECONDS:.0f} s."""


class Measured(NamedTuple):
    """What an input came to: processor seconds and peak MiB by size, and those of the largest size."""

    input: Hostile
    first: int
    runs: tuple[Run, ...]
    largest: int
    most: Run


def measure(one: Hostile, start: Run) -> Measured:
    """All runs of one input."""
    largest = _largest(one)
    first = one.size if one.is_bounded else max(one.size, largest // TIMES[-1])
    runs = tuple(_best(one, first * times) for times in TIMES)
    rounds = ROUNDS
    while rounds < MORE_ROUNDS and any(each > MOST_GROWTH for each in growth(runs, start)):
        rounds += ROUNDS
        runs = tuple(_least(run, _best(one, first * times)) for run, times in zip(runs, TIMES, strict=True))
    return Measured(one, first, runs, largest, runs[-1] if first * TIMES[-1] == largest else _best(one, largest, 1))


def _best(one: Hostile, size: int, rounds: int = ROUNDS) -> Run:
    directory = empty_scratch("hostile", str(size))
    words = one.write(directory, size)
    command = Command((EXECUTABLE, *words), directory, FINDINGS_OR_NONE | {2})
    return reduce(_least, [run(command) for _ in range(rounds)])


def _least(one: Run, two: Run) -> Run:
    return Run(min(one.wall, two.wall), min(one.cpu, two.cpu), min(one.peak, two.peak))


def _largest(one: Hostile) -> int:
    """The largest size whose files are small enough, to a hundredth."""
    low, high = one.size, one.size * 2
    while _bytes(one, high) <= MAX_BYTES and high < 10_000_000:
        low, high = high, high * 2
    while high - low > max(low // 100, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if _bytes(one, middle) <= MAX_BYTES else (low, middle)
    return low


def _bytes(one: Hostile, size: int) -> int:
    directory = empty_scratch("hostile", "size")
    one.write(directory, size)
    return max(file.stat().st_size for file in directory.rglob("*.json"))


def row(found: Measured, start: Run) -> tuple[str, ...]:
    """One line of the table."""
    return (
        found.input.name,
        f"{found.first:,}",
        f"{found.runs[0].cpu:.2f} s",
        f"{found.runs[0].peak:.0f} MiB",
        *(f"{one:.2f}{'' if one <= MOST_GROWTH else ' !'}" for one in growth(found.runs, start)),
        f"{found.largest:,}",
        f"{found.most.cpu:.1f} s{'' if found.most.cpu <= MOST_SECONDS else ' !'}",
        f"{found.most.peak:.0f} MiB",
    )


def growth(runs: tuple[Run, ...], start: Run) -> tuple[float, ...]:
    """For each doubling how many times the time and the memory it took."""
    seconds = [max(each.cpu - start.cpu, LEAST) for each in runs]
    return tuple(
        ratio
        for before, after in ((0, 1), (1, 2))
        for ratio in (seconds[after] / seconds[before], runs[after].peak / runs[before].peak)
    )


def main() -> None:
    """Measure, print and write."""
    start = min((run(Command((EXECUTABLE, "--version"))) for _ in range(5)), key=lambda each: each.cpu)
    rows = []
    for one in (*INPUTS, PACK):
        rows.append(row(measure(one, start), start))
        print("  ".join(rows[-1]), flush=True)
    lines = [f"| {line} |" for line in aligned([HEAD, ["---", *("---:" for _ in HEAD[1:])], *rows], between=" | ")]
    PAGE.write_text("\n".join([ABOUT, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
