"""All releases of the history, each compared with the next."""

import itertools
import shutil
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, SkipError, ratio_row
from benchmarks.timing import Run, median_wall, repeat, run
from benchmarks.workspace import scratch

TIMES_ONE_DIFF = 20.0


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
        one = median_wall(repeat(lab.kiplint("diff", older, newer), lab.plan.pairs))
        total = sum(taken.wall for taken in diff_releases(lab, clone, tags))
        totals.append(total)
        singles.append(one)
        ratios.append(total / one)
    measure = f"diff of {len(tags) - 1} release pairs / one diff"
    ours, peer = f"{statistics.median(totals):.2f} s", f"{statistics.median(singles) * 1000:.0f} ms"
    yield ratio_row(measure, ours, peer, statistics.median(ratios), TIMES_ONE_DIFF)


def diff_releases(lab: Lab, clone: Path, tags: Sequence[str]) -> list[Run]:
    """One whole process for each pair of neighbours, one after another, reading both sides out of git."""
    return [run(lab.kiplint("diff", f"{old}:", f"{new}:", cwd=clone)) for old, new in itertools.pairwise(tags)]


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
