"""Run every hostile input at n, 2n and 4n and at the largest size that is read; write benchmarks/HOSTILE.md."""

import argparse
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
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
LEAST_ROUNDS, MOST_ROUNDS = 5, 10
"""How often each size is run. It is enough once the two fastest runs of every size agree."""
AGREED = 0.03
"""How far the two fastest runs of a size may differ; one that something disturbed never stands alone then."""
NOISE = 0.005
"""Seconds that runs differ by in any case."""
LEAST = 0.05
"""Seconds below which runs differ by chance."""
MOST_GROWTH, MOST_SECONDS = 2.3, 10.0
HEAD = (
    "input",
    "n",
    "time",
    "memory",
    "n to 2n: time",
    "above start",
    "memory",
    "2n to 4n: time",
    "above start",
    "memory",
    "largest",
    "time",
    "memory",
)

ABOUT = f"""\
# Hostile input

Written by `make bench-hostile`; do not edit.

Each input is one that grew with the square of its size once, or might. It is read at n, 2n and 4n; time is that of the
processor for the whole run; each doubling may take at most {MOST_GROWTH} times as much time and memory; 4n is as large
as may be. `above start` is the same without what `kiplint --version` takes: what is left of the shortest runs is
disturbed by as much as a tenth. The sizes are run in turns, and each time is the smallest of {LEAST_ROUNDS} to
{MOST_ROUNDS} runs: until the two fastest of every size differ by at most {AGREED:.0%}, whatever the ratios are by then.
`largest` is the size whose file has 1 MiB, the most that is read; it has to be done, or refused, within
{MOST_SECONDS:.0f} s.

`make bench-hostile HOSTILE_ARGS="--only chains"` measures some of them, and leaves this page as it is."""


class Measured(NamedTuple):
    """What an input came to: the start, seconds of the processor and peak MiB by size, and those of the largest."""

    input: Hostile
    start: Run
    first: int
    runs: tuple[Run, ...]
    largest: int
    most: Run
    rounds: int


def measure(hostile: Hostile) -> Measured:
    """All runs of one input, and of the start between them."""
    largest = _largest(hostile)
    first = hostile.size if hostile.is_bounded else max(hostile.size, largest // TIMES[-1])
    sizes = [first * times for times in TIMES]
    commands = [Command((EXECUTABLE, "--version")), *(_command(hostile, size) for size in sizes)]
    rounds = [_round(commands) for _ in range(LEAST_ROUNDS)]
    while len(rounds) < MOST_ROUNDS and not all(_agree(runs) for runs in zip(*rounds, strict=True)):
        rounds.append(_round(commands))
    start, *runs = (reduce(_least, some) for some in zip(*rounds, strict=True))
    most = runs[-1] if sizes[-1] == largest else run(_command(hostile, largest))
    return Measured(hostile, start, first, tuple(runs), largest, most, len(rounds))


def _command(hostile: Hostile, size: int) -> Command:
    directory = empty_scratch("hostile", str(size))
    return Command((EXECUTABLE, *hostile.write(directory, size)), directory, FINDINGS_OR_NONE | {2})


def _round(commands: list[Command]) -> list[Run]:
    return [run(command) for command in commands]


def _agree(runs: tuple[Run, ...]) -> bool:
    fastest, second, *_ = sorted(run.cpu for run in runs)
    return second - fastest <= max(AGREED * fastest, NOISE)


def _least(first: Run, second: Run) -> Run:
    return Run(min(first.wall, second.wall), min(first.cpu, second.cpu), min(first.peak, second.peak))


def _largest(hostile: Hostile) -> int:
    """The largest size whose files are small enough, to a hundredth."""
    low, high = hostile.size, hostile.size * 2
    while _bytes(hostile, high) <= MAX_BYTES and high < 10_000_000:
        low, high = high, high * 2
    while high - low > max(low // 100, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if _bytes(hostile, middle) <= MAX_BYTES else (low, middle)
    return low


def _bytes(hostile: Hostile, size: int) -> int:
    directory = empty_scratch("hostile", "size")
    hostile.write(directory, size)
    return max(file.stat().st_size for file in directory.rglob("*.json"))


def row(found: Measured) -> tuple[str, ...]:
    """One line of the table."""
    return (
        found.input.name,
        f"{found.first:,}",
        f"{found.runs[0].cpu:.2f} s",
        f"{found.runs[0].peak:.0f} MiB",
        *growth(found.runs, found.start),
        f"{found.largest:,}",
        f"{found.most.cpu:.1f} s{'' if found.most.cpu <= MOST_SECONDS else ' !'}",
        f"{found.most.peak:.0f} MiB",
    )


def growth(runs: tuple[Run, ...], start: Run) -> Iterator[str]:
    """For each doubling how many times the time it took, the same above the start, and the memory."""
    for before, after in pairwise(runs):
        yield _judged(after.cpu / before.cpu)
        yield f"{max(after.cpu - start.cpu, LEAST) / max(before.cpu - start.cpu, LEAST):.2f}"
        yield _judged(after.peak / before.peak)


def _judged(ratio: float) -> str:
    return f"{ratio:.2f}{'' if ratio <= MOST_GROWTH else ' !'}"


def main() -> None:
    """Measure, print, and write the page, unless only some were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="inputs with this in their name; repeatable")
    only = parser.parse_args().only
    chosen = [hostile for hostile in (*INPUTS, PACK) if not only or any(part in hostile.name for part in only)]
    if not chosen:
        parser.error("there are " + ", ".join(repr(hostile.name) for hostile in (*INPUTS, PACK)))
    rows = []
    for hostile in chosen:
        found = measure(hostile)
        rows.append(row(found))
        print("  ".join(rows[-1]), f" ({found.rounds} rounds)", flush=True)
    if only:
        return
    lines = [f"| {line} |" for line in aligned([HEAD, ["---", *("---:" for _ in HEAD[1:])], *rows], between=" | ")]
    PAGE.write_text("\n".join([ABOUT, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
