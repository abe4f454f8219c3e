"""Runs of the pipeline whose driver is killed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from secrets import token_hex

from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import STAGES
from pipeline.cluster import MARK, marked, wait_for
from pipeline.support import KIPLINT, surroundings


def killed_run(*words: str | Path, cache: Path, after: float) -> bool:
    """Kill a run's Python process after so many seconds, and wait for all it started to end by itself.

    Says whether it was killed, or had done by then; raises AssertionError when it fails, or leaves a process behind.
    """
    mark = token_hex(8)
    command = [*KIPLINT, "pipeline", *words]
    env = surroundings(cache, **{MARK: mark})
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=env, text=True, **pipes) as driver:
        try:
            said, _ = driver.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            driver.kill()
            wait_for(lambda: not marked(mark), lambda: f"go on without their driver: {sorted(marked(mark))}")
            return True
    assert driver.returncode == 0, said
    return False


def stage_of(path: Path) -> str:
    """The stage that a killed run was at."""
    stages = Lake(path).snapshot().stages
    return next((stage.name for stage in STAGES if stage.name not in stages), "the end")
