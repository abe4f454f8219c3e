"""The runs whose growth is measured: as users call them, each into a new lake unless it says otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.demo import FORKS
from benchmarks.growth.projection import held, projected
from benchmarks.growth.repositories import clone, fork, git, small
from benchmarks.growth.table import Row, cpu
from benchmarks.pipeline.watch import Watched, watch
from benchmarks.sample import arguments
from benchmarks.timing import CommandError
from benchmarks.workspace import REPOSITORY, corpus_root, empty_scratch

SIZES = (1, 10, 100, 1_000, 2_000)
FORKED = 20
OPEN_FILES = 256


def demo(beside: Path | None) -> list[Row]:
    """`make pipeline-demo`, of another checkout first if there is one."""
    theirs = _demo(beside) if beside else None
    ours = _demo(REPOSITORY)
    if not theirs:
        return [Row("make pipeline-demo DEMO_ARGS=--kafka", ours)]
    return [
        Row(f"the demo of {_commit(beside)}", theirs),
        Row("make pipeline-demo DEMO_ARGS=--kafka", ours, cpu(theirs), 0.6),
    ]


def increment(_: Path | None) -> list[Row]:
    """Kafka's own history and three forks without the last commit, then with it, then once more."""
    where = empty_scratch("growth", "increment")
    bundle, forks = _bundles()
    repository = clone(bundle, where / "kafka")
    last = git(repository, "rev-parse", "refs/heads/trunk")
    git(repository, "update-ref", "refs/heads/trunk", f"{last}~1")
    sources = (f"kafka={repository}#trunk", f"kafka={repository}#tags", *(f"{name}={forks}#{name}" for name in FORKS))
    by_spark = _run(where / "lake-of-spark", *arguments(sources), *logging(where / "events"))
    whole = _run(where / "lake", *arguments(sources))
    git(repository, "update-ref", "refs/heads/trunk", last)
    single = _run(where / "lake", "--resume")
    none = _run(where / "lake", "--resume")
    beside = cpu(whole)
    print(projected(by_spark, where / "events", 1), held(sources[0]), sep="\n\n", end="\n\n", flush=True)
    return [
        Row("everything, by Spark", by_spark),
        Row("everything", whole, cpu(by_spark)),
        Row("one new commit", single, beside, 0.2),
        Row("nothing new (under a second by the clock)", none, beside),
    ]


def forks(_: Path | None) -> list[Row]:
    """One fork, and twenty: each has upstream's releases, with a definition of its own in the last."""
    where = empty_scratch("growth", "forks")
    bundle, _ = _bundles()
    places = [fork(bundle, where / f"fork-{number}", number) for number in range(FORKED)]
    rows: list[Row] = []
    for count in (1, FORKED):
        sources = [f"kafka={bundle}#tags", *(f"fork-{number}={places[number]}#tags" for number in range(count))]
        done = _run(where / f"lake-{count}", *arguments(sources))
        rows.append(Row(f"{count} forks of 48 tags", done, cpu(rows[0].done) if rows else 0, 3 if rows else 0))
    return rows


def many(_: Path | None) -> list[Row]:
    """Small repositories, each with definitions of its own, by a process that may open 256 files."""
    where = empty_scratch("growth", "sources")
    places = [small(where / f"repository-{number}", number) for number in range(max(SIZES))]
    rows: list[Row] = []
    for count in SIZES:
        sources = arguments(f"source-{number}={place}#main" for number, place in enumerate(places[:count]))
        done = _run(where / f"lake-{count}", *sources, files=OPEN_FILES)
        rows.append(Row(f"{count:,} sources, ulimit -S -n {OPEN_FILES}", done, cpu(rows[0].done) if rows else 0))
    return rows


def logging(folder: Path) -> tuple[str, ...]:
    """What has Spark write down its tasks in a folder."""
    folder.mkdir()
    settings = {"enabled": "true", "compress": "false", "dir": folder.as_uri()}
    return tuple(word for name, value in settings.items() for word in ("--conf", f"spark.eventLog.{name}={value}"))


def _run(lake: Path, *words: str, files: int = 0) -> Watched:
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", "run", *words, "--out", str(lake)]
    limit = ["sh", "-c", f'ulimit -S -n {files} && exec "$@"', "sh"] if files else []
    return watch([*limit, *command])


def _demo(checkout: Path) -> Watched:
    place = checkout.resolve()
    paths = os.pathsep.join([str(place / "src"), str(place)])
    settings = [f"PYTHONPATH={paths}", f"KIPLINT_CORPUS={corpus_root().resolve()}"]
    words: Sequence[str] = ["env", "-C", str(place), *settings, sys.executable, "-m", "benchmarks.demo", "--kafka"]
    return watch(words)


def _commit(checkout: Path | None) -> str:
    return git(checkout or REPOSITORY, "rev-parse", "--short=10", "HEAD")


def _bundles() -> tuple[Path, Path]:
    root = corpus_root().resolve()
    bundles = root / "kafka-schema-history.bundle", root / "kafka-forks.bundle"
    if not all(bundle.is_file() for bundle in bundles):
        raise CommandError(f"Kafka's own history is not at {root}: set KIPLINT_CORPUS")
    return bundles
