"""`make bench`: the CPU time of `check` and `diff` beside buf, of a single file beside an import, and how it grows.

Whole processes run in alternating pairs (A B A B) after two warm-ups, and a ratio compares the least CPU time of both,
so that a noisy machine disturbs both sides alike. buf gets the same structures as Protobuf, and its native binary is
run. The schemas are those of Kafka's trunk in KIPLINT_CORPUS.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import CORPUS, CommandError, empty_scratch, environment
from benchmarks.buf import install, write_protos

SCHEMAS: Final = CORPUS / "kafka-trunk-2026-08" / "clients"
KIPLINT: Final = Path(sys.executable).with_name("kiplint")
PAIRS, WARM_UPS = 21, 2
COPIES: Final = {1: 15, 10: 7, 100: 3}
"""How many copies of the schemas the run of growth checks, and how often it does."""
FIRST_INT: Final = re.compile(r'("type":\s*")int32"')


class Command(NamedTuple):
    """What to run, in which directory, and the exit codes of a command that did its work."""

    arguments: Sequence[str | Path]
    cwd: Path
    codes: frozenset[int] = frozenset({0, 1})

    def cpu(self) -> float:
        """Run the command, and return its user and system time in seconds. Raises CommandError."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(self.arguments, cwd=self.cwd, env=environment(), capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in self.codes:
            raise CommandError(f"{self.arguments[0]} exited with {done.returncode}: {done.stderr.decode()[-500:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Row(NamedTuple):
    """A comparison: the least CPU seconds of both, and the most that their ratio should be."""

    title: str
    ours: float
    theirs: float
    most: float

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        times = f"{self.ours * 1000:9,.0f} ms {self.theirs * 1000:9,.0f} ms"
        return f"{self.title:48} {times} {ratio:6.2f}  at most {self.most:g}: {'yes' if ratio <= self.most else 'no'}"


def check(pairs: int) -> Iterator[Row]:
    """All default rules over the schemas, beside `buf lint`."""
    lint = Command((install(), "lint"), write_protos(SCHEMAS, "lint"))
    yield _row("check / buf lint", Command((KIPLINT, "check", SCHEMAS), SCHEMAS), lint, pairs, 0.9)


def diff(pairs: int) -> Iterator[Row]:
    """Two versions of the schemas, beside `buf breaking`: in every twentieth file an int32 becomes an int64."""
    newer = empty_scratch("newer")
    for number, file in enumerate(sorted(SCHEMAS.glob("*.json"))):
        text = file.read_text("utf-8")
        newer.joinpath(file.name).write_text(FIRST_INT.sub(r'\1int64"', text, 1) if number % 20 == 0 else text, "utf-8")
    protos = write_protos(SCHEMAS, "before"), write_protos(newer, "after")
    breaking = Command((install(), "breaking", "--against", protos[0]), protos[1], frozenset({0, 100}))
    yield _row("diff / buf breaking", Command((KIPLINT, "diff", SCHEMAS, newer), newer), breaking, pairs, 0.6)


def single(pairs: int) -> Iterator[Row]:
    """One file with its siblings beside it, as pre-commit runs it, beside the import of typer."""
    ours = Command((KIPLINT, "check", "FindCoordinatorRequest.json"), SCHEMAS)
    yield _row(
        "check a file / import typer", ours, Command((sys.executable, "-c", "import typer"), SCHEMAS), pairs, 2.5
    )


def growth(pairs: int) -> Iterator[Row]:
    """The schemas once, ten and a hundred times, each copy a set of its own: the time above that of a single file."""
    times: dict[int, float] = {}
    alone = empty_scratch("alone")
    shutil.copy(SCHEMAS / "RequestHeader.json", alone)
    for copies, rounds in COPIES.items():
        root = empty_scratch("copies")
        for number in range(copies):
            shutil.copytree(SCHEMAS, root / f"set-{number:03}")
        commands = Command((KIPLINT, "check", root), root), Command((KIPLINT, "check", alone), alone)
        whole, start = _least_cpu(*commands, min(pairs, rounds))
        times[copies] = whole - start
        if fewer := times.get(copies // 10):
            yield Row(f"check {copies} sets / {copies // 10}, above start-up", times[copies], fewer, 10)


def _row(title: str, ours: Command, theirs: Command, pairs: int, most: float) -> Row:
    return Row(title, *_least_cpu(ours, theirs, pairs), most)


def _least_cpu(ours: Command, theirs: Command, pairs: int) -> tuple[float, float]:
    runs = [(ours.cpu(), theirs.cpu()) for _ in range(WARM_UPS + pairs)][WARM_UPS:]
    return min(run[0] for run in runs), min(run[1] for run in runs)


MEASURES: Final[dict[str, Callable[[int], Iterator[Row]]]] = {
    "check": check,
    "diff": diff,
    "single": single,
    "growth": growth,
}


def main() -> int:
    """Take the measures, all of them by default, and print a line for each; 0 unless a command failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], metavar="MEASURE", help=f"of {list(MEASURES)}")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="how often to run each pair of commands")
    options = parser.parse_args()
    if not SCHEMAS.is_dir():
        parser.error(f"Kafka's schemas are not at {SCHEMAS}: set KIPLINT_CORPUS")
    print(f"{len(os.sched_getaffinity(0))} cores; {len(list(SCHEMAS.glob('*.json')))} files; least CPU time")
    print(f"{'measure':48} {'kiplint':>12} {'beside':>12} {'ratio':>6}", flush=True)
    try:
        for name in options.measures or MEASURES:
            for row in MEASURES[name](options.pairs):
                print(row, flush=True)
    except CommandError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
