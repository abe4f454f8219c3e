"""The runs that are measured: `kiplint pipeline run` as anybody calls it, on two cores, stage by stage."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.pipeline.engine import Sample
from benchmarks.pipeline.lake import write_lake
from benchmarks.pipeline.stages import SparkStage, read_stages
from benchmarks.pipeline.variation import Template, variations
from benchmarks.pipeline.watch import Pauses, Watched, paused, watch
from benchmarks.timing import CommandError
from benchmarks.workspace import empty_scratch, scratch

CORES = 2
_STAGE = re.compile(r"(?P<stage>\w+) +(?P<seconds>[\d.]+) s  (?P<told>.*)")


@dataclass(frozen=True)
class Stage:
    """One stage of a run over so many definitions; seconds above session start, CPU seconds of all processes.

    `cpu` is by kind of process, `threads` by what the JVM's threads do, `peaks` are MiB over the whole run.
    """

    definitions: int
    output: str
    seconds: float
    start: float
    cpu: dict[str, float]
    threads: dict[str, float]
    peaks: dict[str, float]
    stages: Sequence[SparkStage]

    @property
    def rate(self) -> float:
        """Definitions a second on one core."""
        return self.definitions / self.seconds / CORES

    @property
    def cpu_rate(self) -> float:
        """Definitions for each second of CPU time."""
        return self.definitions / sum(self.cpu.values())


@dataclass(frozen=True)
class Step:
    """The lint stage at one size, and the engine's turns before, after and in its pauses."""

    lint: Stage
    engine: Sample

    @property
    def ratio(self) -> float:
        return self.lint.rate / self.engine.rate

    @property
    def cpu_ratio(self) -> float:
        return self.lint.cpu_rate / self.engine.cpu_rate


def lint(templates: Sequence[Template], definitions: int, corpus: Path, meanwhile: Callable[[], None]) -> Stage:
    """The lint stage over a generated lake; raises CommandError when the run fails.

    `meanwhile` is done before, after and in pauses of the run, which do not count.
    """
    lake = scratch("pipeline", "lake")
    count = write_lake(lake, templates, definitions)
    meanwhile()
    stage = _run("lint", count, lake, f"corpus={corpus}", meanwhile)
    meanwhile()
    return stage


def ingest(templates: Sequence[Template], definitions: int) -> Stage:
    """Reading the same definitions out of one commit of a git repository; raises CommandError when that fails."""
    repository = empty_scratch("pipeline", "repository")
    count = 0
    for variation in islice(variations(templates), max(1, definitions // len(templates))):
        for directory, files in variation.sets.items():
            place = repository / f"project-{variation.number:04}" / directory
            place.mkdir(parents=True)
            count += len(files)
            for name, data in files:
                (place / name).write_bytes(data)
    _git(repository, "init", "--quiet", "--initial-branch", "main")
    _git(repository, "add", "--all")
    _git(
        repository, "-c", "user.name=bench", "-c", "user.email=bench@invalid", "commit", "--quiet", "-m", "Definitions"
    )
    return _run("ingest", count, empty_scratch("pipeline", "lake"), f"corpus={repository}#main")


def _run(stage: str, definitions: int, lake: Path, source: str, meanwhile: Callable[[], None] | None = None) -> Stage:
    log = empty_scratch("pipeline", "events")
    conf = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false", "spark.eventLog.dir": log.as_uri()}
    settings = (argument for name, value in conf.items() for argument in ("--conf", f"{name}={value}"))
    kiplint = Path(sys.executable).with_name("kiplint")
    command: list[str | Path] = [kiplint, "pipeline", "run", "--source", source, "--out", lake, "--stages", stage]
    run = watch([*command, "--master", f"local[{CORES}]", *settings], meanwhile)
    end, seconds, output = _stage_of(run, stage)
    cpu, threads = run.between(end - seconds, end)
    net_seconds = seconds - paused(run.pauses, end - seconds, end)
    stages = read_stages(log, _by_the_calendar(run.pauses))
    result = Stage(definitions, output, net_seconds, run.wall - net_seconds, cpu, threads, dict(run.peaks), stages)
    for folder in (lake, log):
        shutil.rmtree(folder)
    return result


def _stage_of(run: Watched, stage: str) -> tuple[float, float, str]:
    """When the stage had ended, how long it took, and what it said."""
    for when, line in run.lines:
        match = _STAGE.match(line)
        if match and match["stage"] == stage:
            return when, float(match["seconds"]), match["told"]
    raise CommandError(f"`kiplint pipeline run` did not say how long {stage} took")


def _by_the_calendar(pauses: Pauses) -> Pauses:
    shift = time.time() - time.perf_counter()
    return [(start + shift, end + shift) for start, end in pauses]


def _git(repository: Path, *arguments: str) -> None:
    try:
        subprocess.run(("git", *arguments), cwd=repository, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CommandError(f"`git {arguments[0]}` failed") from error
