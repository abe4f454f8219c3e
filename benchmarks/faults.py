"""`python -m benchmarks.faults`: kill the pipeline's driver at random moments, resume, and compare the lakes."""

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path
from secrets import token_hex

from benchmarks.sample import arguments, make_history, sources_of
from benchmarks.workspace import REPOSITORY, empty_scratch
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import STAGES

sys.path.insert(0, str(REPOSITORY / "tests"))

from pipeline.cluster import MARK, marked, wait_for
from pipeline.support import KIPLINT, content, pipeline, settings, surroundings

MOMENTS = 20
DRAWS = 3
"""How many times as many moments are drawn at the most: a run can be done before its moment."""


def main() -> int:
    """Print a line for each moment; 0 when every lake is the same as one that nothing happened to."""
    options = _options()
    where = empty_scratch("faults")
    repository = where / "history"
    make_history(repository)
    words = ("run", "--resume", *arguments(sources_of(repository)), *settings())
    begun = time.monotonic()
    pipeline(*words, "--out", where / "undisturbed", cache=where)
    whole = time.monotonic() - begun
    rows = sum(map(len, content(where / "undisturbed").values()))
    print(f"seed {options.seed}: undisturbed {whole:.1f} s, {rows:,} rows", flush=True)
    moments = random.Random(options.seed)
    killed = same = 0
    for number in range(options.moments * DRAWS):
        if killed == options.moments:
            break
        lake, after = where / f"lake-{number}", moments.uniform(0, whole)
        if not _killed_run(*words, "--out", lake, cache=where, after=after):
            print(f"    done before {after:.1f} s: another moment instead", flush=True)
            continue
        killed += 1
        same += _resume(words, lake, where, f"{killed:2}  killed after {after:5.1f} s, before the end of")
    print(f"{same} of {killed} the same")
    return 0 if same == killed == options.moments else 1


def _resume(words: tuple[str, ...], lake: Path, where: Path, told: str) -> bool:
    stage = _stage_of(lake)
    begun = time.monotonic()
    pipeline(*words, "--out", lake, cache=where)
    same = content(lake) == content(where / "undisturbed")
    outcome = "same" if same else "NOT THE SAME"
    print(f"{told} {stage:8}  resumed in {time.monotonic() - begun:5.1f} s  {outcome}", flush=True)
    return same


def _killed_run(*words: str | Path, cache: Path, after: float) -> bool:
    """Kill a run's Python process after so many seconds, and wait for all it started to end by itself.

    Says whether it was killed, or had done by then; raises AssertionError when it fails, or leaves a process behind.
    """
    mark = token_hex(8)
    command = [*KIPLINT, "pipeline", *words]
    env = surroundings(cache, **{MARK: mark})
    pipe, closed = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, env=env, text=True, stdin=closed, stdout=pipe, stderr=subprocess.STDOUT) as driver:
        try:
            said, _ = driver.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            driver.kill()
            wait_for(lambda: not marked(mark), lambda: f"go on without their driver: {sorted(marked(mark))}")
            return True
    assert driver.returncode == 0, said
    return False


def _stage_of(path: Path) -> str:
    """The stage that a killed run was at."""
    stages = Lake(path).snapshot().stages
    return next((stage.name for stage in STAGES if stage.name not in stages), "the end")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--moments", type=int, default=MOMENTS, help="how often to kill (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="draw these again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
