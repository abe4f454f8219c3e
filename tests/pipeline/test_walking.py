"""A task of many sources has one git at a time."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from kiplint.pipeline.fetching import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow
from kiplint.pipeline.lake.schema import batch
from pipeline.test_listing import revisions


@pytest.fixture
def git_processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started from here on."""
    processes: list[subprocess.Popen[bytes]] = []

    class Recorder(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **settings: Any) -> None:
            super().__init__(*words, **settings)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorder)
    return processes


def _running(processes: list[subprocess.Popen[bytes]]) -> int:
    return sum(process.poll() is None for process in processes)


def test_git_is_stopped_where_another_source_begins(
    history: Path, tmp_path: Path, git_processes: list[subprocess.Popen[bytes]]
) -> None:
    tasks, piles, running = [], [], []
    for name in "abc":
        place = tmp_path / name
        subprocess.run(["git", "clone", "--quiet", "--bare", history, place], check=True)
        steps = [{name: row[name] for name in ("position", "key", "tree")} for row in revisions(f"{name}={place}#main")]
        tasks.append((name, "git", str(place), steps[:-1]))
    for rows in walk_in_arrow(())([batch(TO_WALK, tasks)]):
        running.append(_running(git_processes))
        row = rows.to_pylist()[0]
        piles.append(("git", row["location"], [file["blob"] for file in row["folders"][0]["files"]]))
    assert max(running) <= 1
    running = [_running(git_processes) for _ in read_in_arrow([batch(TO_READ, piles)])]
    assert (len(running), max(running), _running(git_processes)) == (3, 1, 0)
