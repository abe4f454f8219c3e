"""What is different from tree to tree comes to what a walk of each finds."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from examples import seed
from kiplint.sources.git import open_repository
from kiplint.sources.history import Walker, branch, followed
from kiplint.sources.schema_files import SourceError

SEED = seed()
PATHS = ("top.json", "a/x.json", "a/y.json", "a/b/x.json", "a/note.txt", ".hidden/x.json", "c/d/e/x.json", "é ü/x.json")
COMMITS = 40


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of files that come, change and go, as `git fast-import` takes it."""
    place = tmp_path_factory.mktemp("followed") / "history"
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    chance = random.Random(SEED)
    lines = []
    for number in range(COMMITS):
        lines += ["commit refs/heads/main", f"committer T <t@example.com> {1_700_000_000 + number} +0000", "data 0"]
        for path in chance.sample(PATHS, chance.randrange(3)):
            mode = chance.choice(("100644", "100755", "120000"))
            text = str(chance.randrange(5))
            lines += [f'D "{path}"'] if chance.random() < 0.3 else [f'M {mode} inline "{path}"', "data 1", text]
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="\n".join([*lines, ""]).encode(), check=True)
    return place


@pytest.mark.hypothesis
def test_each_tree_is_what_a_walk_finds(repository: Path) -> None:
    objects = open_repository(str(repository))
    trees = [revision.tree for revision in branch(objects, "main")]
    walker = Walker(objects)
    result = list(followed(objects, trees))
    walked = [sorted((folder.path, sorted(folder.files)) for folder in walker.folders(tree)) for tree in trees]
    assert [[(folder.path, list(folder.files)) for folder in folders] for folders in result] == walked, f"seed {SEED}"
    assert all(a is b for (a, b, x, y) in zip(result, result[1:], trees, trees[1:], strict=False) if x == y)


def test_no_tree_and_a_missing_one(repository: Path) -> None:
    objects = open_repository(str(repository))
    assert list(followed(objects, [])) == []
    with pytest.raises(SourceError):
        list(followed(objects, ["1" * 40]))
