"""All releases of the history, each compared with the next."""

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, SkipError, ratio_row
from benchmarks.timing import Command, Run, median_wall, repeat, run
from benchmarks.workspace import scratch

TIMES_ONE_DIFF = 20.0
SCRIPT = Path(__file__).resolve().parent.parent / "docs" / "releases.py"


def releases(lab: Lab) -> Iterator[Outcome]:
    """`kiplint diff` over all consecutive release tags, against one diff of two sets."""
    lab.require_diff()
    if lab.corpus.history is None:
        raise SkipError("releases: the history bundle is not there")
    clone = _clone(lab.corpus.history)
    tags = _tags(clone)
    older, newer = lab.versions
    totals, singles, ratios = [], [], []
    for _ in range(lab.plan.releases):
        single = median_wall(repeat(lab.kiplint("diff", older, newer), lab.plan.pairs))
        total = diff_releases(clone).wall
        totals.append(total)
        singles.append(single)
        ratios.append(total / single)
    measure = f"diff of {len(tags) - 1} release pairs / one diff"
    ours, peer = f"{statistics.median(totals):.2f} s", f"{statistics.median(singles) * 1000:.0f} ms"
    yield ratio_row(measure, ours, peer, statistics.median(ratios), TIMES_ONE_DIFF)


def diff_releases(clone: Path) -> Run:
    """All pairs of neighbours, read out of git and compared in one process, as the docs' table of releases is made."""
    return run(Command((sys.executable, SCRIPT, clone)))


def _clone(bundle: Path) -> Path:
    clone = scratch("history")
    shutil.rmtree(clone, ignore_errors=True)
    _git("clone", "--quiet", "--no-checkout", bundle, clone)
    return clone


def _tags(clone: Path) -> list[str]:
    return _git("-C", clone, "tag", "--sort=version:refname").split()


def _git(*arguments: str | Path) -> str:
    try:
        return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SkipError(f"releases: `git {arguments[0]}` failed") from error
