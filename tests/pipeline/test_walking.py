"""A task of many sources has one git at a time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from kiplint.pipeline.columns import batch
from kiplint.pipeline.listing import list_source, read_source
from kiplint.pipeline.walking import TO_READ, TO_WALK, read_in_arrow, walk_in_arrow


def _gits() -> int:
    """The git processes that this one has started and that still run."""
    found = 0
    for thread in Path("/proc/self/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += os.path.basename(os.readlink(f"/proc/{child}/exe")) == "git"
    return found


def test_git_is_stopped_where_another_source_begins(history: Path, tmp_path: Path) -> None:
    before = _gits()
    tasks, piles = [], []
    for name in "abc":
        place = tmp_path / name
        subprocess.run(["git", "clone", "--quiet", "--bare", history, place], check=True)
        line = list_source(read_source(f"{name}={place}#main"), ())
        revisions = [{"key": one.key, "tree": one.tree} for one in line.revisions]
        tasks.append((name, line.kind, line.location, revisions))
    seen = []
    for found in walk_in_arrow(())([batch(TO_WALK, tasks)]):
        seen.append(_gits() - before)
        folders = found.column(2).to_pylist()[0]
        piles.append(("git", found.column(1)[0].as_py(), [file["blob"] for file in folders[0]["files"]]))
    assert max(seen) <= 1
    seen = [_gits() - before for _ in read_in_arrow([batch(TO_READ, piles)])]
    assert (len(seen), max(seen), _gits() - before) == (3, 1, 0)
