"""`python -m benchmarks.faults`: kill the pipeline's driver at random moments, resume, and compare the lakes.

Some are killed at a time, some as soon as a table has data that no commit names, and some as soon as it has a commit
that no state of the lake names. Each lake is then resumed, tidied up, and has to be the one that nothing happened to:
with no file that nobody names, and with what others have put into it and beside it as it was.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from benchmarks.sample import arguments, make_history, sources_of
from benchmarks.workspace import REPOSITORY, empty_scratch
from kiplint.pipeline.lake.delta import head_of, names, parts_of
from kiplint.pipeline.lake.lake import Lake, all_states
from kiplint.pipeline.lake.storage import LOG, RUNS
from kiplint.pipeline.stage import STAGES

sys.path.insert(0, str(REPOSITORY / "tests"))

from canary import plant, state
from pipeline.cluster import MARK, pids_of, wait_for
from pipeline.support import KIPLINT, Content, content, pipeline, settings, surroundings

MOMENTS = 20
DRAWS = 3
"""How many times as many moments are drawn at the most: a run can be done before its moment."""
EVERY = 0.005
INSIDE = ("mine", "blobs/mine", "staging/mine")


class Moment(NamedTuple):
    """When to kill: once `there` holds of the lake's directory, after so many seconds at the latest."""

    description: str
    there: Callable[[Path], bool]
    latest: float


class Undisturbed(NamedTuple):
    """The run that nothing happened to: its words, where it left its lake and the caches, and what that holds."""

    words: tuple[str, ...]
    where: Path
    rows: Content


def main() -> int:
    """Print a line for each moment; 0 when every lake is the same as one that nothing happened to."""
    options = _options()
    where = empty_scratch("faults")
    repository = where / "history"
    make_history(repository)
    words = ("run", "--resume", *arguments(sources_of(repository)), *settings())
    start = time.monotonic()
    pipeline(*words, "--out", where / "undisturbed", cache=where)
    whole = time.monotonic() - start
    reference = Undisturbed(words, where, content(where / "undisturbed"))
    print(
        f"seed {options.seed}: undisturbed {whole:.1f} s, {sum(map(len, reference.rows.values())):,} rows", flush=True
    )
    draw = random.Random(options.seed)
    kills = same = 0
    for number in range(options.moments * DRAWS):
        if kills == options.moments:
            break
        lake, moment = where / f"lake-{number}", _moment(draw, number, whole)
        beside = plant(where / f"beside-{number}")
        before = state(beside)
        if not _killed_run(*words, "--out", lake, cache=where, moment=moment, lake=lake):
            print(f"    done before {moment.description}: another moment instead", flush=True)
            continue
        kills += 1
        wrong = [
            *_resume(reference, lake, f"{kills:2}  killed {moment.description}"),
            *["beside"] * (state(beside) != before),
        ]
        print(f"{'NOT THE SAME: ' + ', '.join(wrong) if wrong else 'same'}", flush=True)
        same += not wrong
    print(f"{same} of {kills} the same, nothing orphaned, nothing else touched")
    return 0 if same == kills == options.moments else 1


def _moment(draw: random.Random, number: int, whole: float) -> Moment:
    """Two of four at a time, one between the data and the commit of a table, one between that and the lake's own."""
    if number % 4 < 2:
        after = draw.uniform(0, whole)
        return Moment(f"after {after:5.1f} s", lambda _: False, after)
    table = draw.choice([name for stage in STAGES for name in stage.writes])
    if number % 4 == 2:
        return Moment(f"with data of {table}", lambda lake: bool(_data_files(lake / table)), whole * 10)
    return Moment(f"with a commit of {table}", lambda lake: any((lake / table / LOG).glob("*.json")), whole * 10)


def _data_files(place: Path) -> list[Path]:
    return [file for file in place.rglob("*.parquet") if LOG not in file.parts]


def _resume(reference: Undisturbed, lake: Path, title: str) -> list[str]:
    """What is wrong with the lake after it was resumed and tidied up."""
    stage = _stage_of(lake)
    inside = {place: state(plant(place)) for place in (lake / name for name in INSIDE) if (lake / RUNS).exists()}
    loose = len(_find_orphans(lake))
    start = time.monotonic()
    pipeline(*reference.words, "--out", lake, cache=reference.where)
    took = time.monotonic() - start
    wrong = [] if content(lake) == reference.rows else ["content"]
    pipeline("optimize", lake, "--keep", "0", cache=reference.where)
    wrong += [] if content(lake) == reference.rows else ["content after optimize"]
    wrong += [f"orphans {sorted(orphans)[:3]}"] if (orphans := _find_orphans(lake)) else []
    wrong += [f"canary {place.name}" for place, before in inside.items() if state(place) != before]
    print(f"{title}, before the end of {stage}, {loose} loose files: resumed in {took:.1f} s, ", end="")
    return wrong


def _find_orphans(path: Path) -> set[str]:
    """The data files in a lake that no state of it names, but for those of others."""
    lake = Lake(path)
    if not lake.exists:
        return set()
    rows = all_states(lake.storage)
    kept_rows = [row for row in rows if row.number >= rows[-1].oldest]
    part_names = {
        part.name
        for name, version in {place for row in kept_rows for place in row.tables.items()}
        for part in parts_of(lake.storage, name, version)
    }
    head = head_of(lake.storage, RUNS)
    part_names |= set(names(parts_of(lake.storage, RUNS, head))) if head is not None else set()
    there = {file.relative_to(path).as_posix() for file in _data_files(path)}
    return {name for name in there - part_names if not name.startswith(INSIDE)}


def _killed_run(*words: str | Path, cache: Path, moment: Moment, lake: Path) -> bool:
    """Kill a run's Python process at a moment, and wait for all it started to end by itself.

    Says whether it was killed, or had done by then; raises AssertionError when it fails, or leaves a process behind.
    """
    mark = token_hex(8)
    command = [*KIPLINT, "pipeline", *words]
    env = surroundings(cache, **{MARK: mark})
    log, closed = cache / "killed.log", subprocess.DEVNULL
    end = time.monotonic() + moment.latest
    with (
        open(log, "wb") as out,
        subprocess.Popen(command, env=env, stdin=closed, stdout=out, stderr=subprocess.STDOUT) as driver,
    ):
        while driver.poll() is None:
            if moment.there(lake) or time.monotonic() > end:
                driver.kill()
                wait_for(lambda: not pids_of(mark), lambda: f"go on without their driver: {sorted(pids_of(mark))}")
                return True
            time.sleep(EVERY)
    assert driver.returncode == 0, log.read_text()
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
