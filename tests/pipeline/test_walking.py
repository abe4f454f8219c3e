"""A task of many sources has one git at a time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kiplint.pipeline.columns import batch
from kiplint.pipeline.listing import list_source, read_source
from kiplint.pipeline.walking import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow


def _gits(below: Path) -> int:
    """The git processes of this one that still run, for repositories below a directory."""
    return sum(str(below).encode() in _command(child) for child in _children())


def _children() -> list[str]:
    return [one for thread in Path("/proc/self/task").iterdir() for one in (thread / "children").read_text().split()]


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell of processes there")
def test_git_is_stopped_where_another_source_begins(history: Path, tmp_path: Path) -> None:
    tasks, piles = [], []
    for name in "abc":
        place = tmp_path / name
        subprocess.run(["git", "clone", "--quiet", "--bare", history, place], check=True)
        line = list_source(read_source(f"{name}={place}#main"), ())
        revisions = [{"key": one.key, "tree": one.tree} for one in line.revisions]
        tasks.append((name, line.kind, line.location, revisions))
    seen = []
    for found in walk_in_arrow(())([batch(TO_WALK, tasks)]):
        seen.append(_gits(tmp_path))
        folders = found.column(2).to_pylist()[0]
        piles.append(("git", found.column(1)[0].as_py(), [file["blob"] for file in folders[0]["files"]]))
    assert max(seen) <= 1
    seen = [_gits(tmp_path) for _ in read_in_arrow([batch(TO_READ, piles)])]
    assert (len(seen), max(seen), _gits(tmp_path)) == (3, 1, 0)
