"""A task of many sources has one git at a time."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from kiplint.pipeline.fetching import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow
from kiplint.pipeline.lake.delta import PROBLEMS
from kiplint.pipeline.lake.schema import batch
from kiplint.pipeline.listing import list_source, read_source


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started from here on."""
    processes: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **settings: Any) -> None:
            super().__init__(*words, **settings)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return processes


def _running(begun: list[subprocess.Popen[bytes]]) -> int:
    return sum(process.poll() is None for process in begun)


def test_git_is_stopped_where_another_source_begins(
    history: Path, tmp_path: Path, begun: list[subprocess.Popen[bytes]]
) -> None:
    tasks, piles = [], []
    for name in "abc":
        place = tmp_path / name
        subprocess.run(["git", "clone", "--quiet", "--bare", history, place], check=True)
        line = list_source(read_source(f"{name}={place}#main"), ())
        revisions = line.revisions.table.select(["key", "tree"]).to_pylist()
        tasks.append((name, line.kind, line.location, revisions))
    seen = []
    for table, rows in walk_in_arrow(())([batch(TO_WALK, tasks)]):
        seen.append(_running(begun))
        if table != PROBLEMS:
            _, location, folders, *_ = cast("tuple[Any, ...]", rows[0])
            piles.append(("git", location, [file["blob"] for file in folders[0]["files"]]))
    assert max(seen) <= 1
    seen = [_running(begun) for table, _ in read_in_arrow([batch(TO_READ, piles)]) if table != PROBLEMS]
    assert (len(seen), max(seen), _running(begun)) == (3, 1, 0)
