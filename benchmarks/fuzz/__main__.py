"""Fuzz every surface for a while: damaged inputs, then documents that hypothesis makes, then atheris where it is.

An alarm and a limit on memory bound each reading. What fails is kept below tests/fuzz/corpus; `make test` reads it.
"""

import argparse
import hashlib
import importlib.util
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz.damage import damage
from benchmarks.fuzz.surfaces import SURFACES, Surface
from benchmarks.results import aligned
from benchmarks.workspace import REPOSITORY

MEMORY = 4 << 30
"""Address space, in bytes: no surface takes as much."""
CORPUS = REPOSITORY / "tests" / "fuzz" / "corpus"
LONGEST, LATEST = 10, 120
"""The most seconds of a reading: of CPU time, and of the clock, which also counts other work on the machine."""

MADE_OF_JSON = ("decoder", "locator", "suppression", "rules", "packs", "diff", "formats")
HEAD = ("surface", "damaged", "hypothesis", "atheris", "seconds", "grown by", "failures")


class Fuzzed(NamedTuple):
    """How often a surface was read by each way of making inputs, and what failed: the last line and the input."""

    counts: tuple[int, int, int]
    failures: dict[str, bytes]


def fuzz(surface: Surface, seconds: float, rng: random.Random) -> Fuzzed:
    """Read inputs of all kinds for so many seconds."""
    failures: dict[str, bytes] = {}
    made_of_json = surface.name in MADE_OF_JSON
    has_atheris = importlib.util.find_spec("atheris") is not None
    shares = [3.0, 1.0 if made_of_json else 0.0, 2.0 if has_atheris else 0.0]
    parts = [seconds * share / sum(shares) for share in shares]
    counts = (
        _try_damaged_inputs(surface, parts[0], rng, failures),
        _documents(surface, parts[1], failures) if made_of_json else 0,
        _run_atheris(surface, parts[2], failures) if has_atheris else 0,
    )
    return Fuzzed(counts, failures)


def find_failure(surface: Surface, data: bytes) -> str | None:
    """What a reading fails with, None where it does not, or refuses as it may."""
    try:
        _set_alarms(LONGEST, LATEST)
        try:
            surface.read(data)
        finally:  # an alarm may also come here
            _set_alarms(0, 0)
    except surface.refusals:
        return None
    except Exception as error:
        *_, what = traceback.format_exception_only(error)
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{what.strip()[:150]} at {Path(place.filename).name}:{place.lineno}"
    return None


def _set_alarms(cpu: float, clock: float) -> None:
    """Raise after so many seconds of this process's CPU time, or of the clock; 0 ends both alarms."""
    signal.signal(signal.SIGPROF, _hung)
    signal.signal(signal.SIGALRM, _hung)
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, clock)


def _try_damaged_inputs(surface: Surface, seconds: float, rng: random.Random, failures: dict[str, bytes]) -> int:
    seeds, count = surface.seeds(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = damage(rng.choice(seeds), rng, rng.choice(seeds))
        _note(find_failure(surface, data), data, failures)
        count += 1
    return count


def _documents(surface: Surface, seconds: float, failures: dict[str, bytes]) -> int:
    """JSON of any shape whose keys and values are those of definitions and packs more often than not."""
    texts = (seed.decode("utf-8", "replace") for seed in surface.seeds()[:300])
    every = sorted({word for text in texts for word in re.findall(r'"([^"\\\n]{1,40})"', text)})
    words = every[:: max(1, len(every) // 200)]
    text = st.one_of(st.sampled_from(words), st.text(max_size=12))
    scalar = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text, text)
    tree = st.recursive(scalar, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=15)
    end, count = time.monotonic() + seconds, 0

    @settings(
        max_examples=25, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.dictionaries(st.sampled_from(words), tree, max_size=12))
    def some(document: Any) -> None:
        nonlocal count
        if time.monotonic() > end:
            return
        data = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
        count += 1
        _note(find_failure(surface, data), data, failures)

    while time.monotonic() < end:
        some()
    return count


def _run_atheris(surface: Surface, seconds: float, failures: dict[str, bytes]) -> int:
    with tempfile.TemporaryDirectory() as where:
        command = [sys.executable, "-m", "benchmarks.fuzz.guided", surface.name, str(max(1, round(seconds)))]
        command.append(f"-artifact_prefix={where}/")
        log = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        for artifact in Path(where).iterdir():
            data = artifact.read_bytes()
            failure = find_failure(surface, data) or f"a failure at {artifact.name.partition('-')[0]} of atheris"
            _note(failure, data, failures)
    match = re.search(r"number_of_executed_units: (\d+)", log) or re.search(r"Done (\d+) runs", log)
    return int(match[1]) if match else 0


def _note(failure: str | None, data: bytes, failures: dict[str, bytes]) -> None:
    """Add a failure, unless there is one of the same place."""
    if failure and failure.rpartition(" at ")[2] not in {other.rpartition(" at ")[2] for other in failures}:
        failures[failure] = data


def keep(surface: Surface, data: bytes) -> Path:
    """Put an input that failed where the tests find it."""
    file = CORPUS / surface.name / hashlib.sha256(data).hexdigest()[:16]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def main() -> int:
    """Fuzz, print a table, keep what failed; 1 where something did."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each surface (usual: 60)")
    parser.add_argument(
        "--surface", action="append", choices=[surface.name for surface in SURFACES], help="only this; repeatable"
    )
    parser.add_argument("--seed", type=int, default=None, help="of the damage (usual: another each time)")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    rows, has_failures = [], False
    for surface in SURFACES:
        if options.surface and surface.name not in options.surface:
            continue
        before, start = _memory(), time.monotonic()
        result = fuzz(surface, options.seconds, random.Random(options.seed))
        growth, took = _memory() - before, time.monotonic() - start
        numbers = [f"{count:,}" for count in result.counts]
        rows.append((surface.name, *numbers, f"{took:.0f}", f"{growth >> 20} MiB", str(len(result.failures))))
        for failure, data in result.failures.items():
            has_failures = True
            print(f"{surface.name}: {failure}\n  kept as {keep(surface, data)}", flush=True)
        print("  ".join(rows[-1]), flush=True)
    print(
        "\n".join(f"| {line} |" for line in aligned([HEAD, ["---", *("---:" for _ in HEAD[1:])], *rows], between=" | "))
    )
    return int(has_failures)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _hung(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"a reading took more than {LONGEST} seconds")


if __name__ == "__main__":
    sys.exit(main())
