"""`python -m benchmarks.growth [PART...]`: what a run of the pipeline costs, and how that grows with its sources.

Parts: `demo` (with `--beside CHECKOUT` the same with the code of another checkout), `increment` (one new commit, and
nothing new), `forks` (20 forks of the corpus), `sources` (up to 2,000 small repositories). CPU seconds are those of all
processes; other work on the machine disturbs them less than those of the clock.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.growth import runs
from benchmarks.growth.table import Row, written
from benchmarks.timing import CommandError

PARTS: dict[str, Callable[[Path | None], list[Row]]] = {
    "demo": runs.demo,
    "increment": runs.increment,
    "forks": runs.forks,
    "sources": runs.many,
}


def main() -> int:
    """Print a table for each part; 0 unless a command failed, whatever the figures are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--beside", type=Path, help="a checkout whose `python -m benchmarks.demo` is timed as well")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    try:
        for name in options.parts or PARTS:
            print(f"\n## {name}\n", flush=True)
            print(written(PARTS[name](options.beside)), flush=True)
    except CommandError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
