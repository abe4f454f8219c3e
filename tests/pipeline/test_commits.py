"""Histories: what is read of commits, and the trees of consecutive commits."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from kiplint.pipeline.attribution import attribute
from kiplint.pipeline.commits import (
    Inner,
    Revision,
    inner_commit,
    read_folders,
    read_message,
    revisions,
)
from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError


@pytest.mark.parametrize(
    ("message", "subject", "request_number", "kips", "jiras"),
    [
        ("KAFKA-17: Add it (#1234)\n\nAs KIP-848 has it, and kip-0848 too.\n", "KAFKA-17: Add it (#1234)", 1234, ("KIP-848",), ("KAFKA-17",)),
        ("MINOR: UTF-8 and SHA-256 (#7)", "MINOR: UTF-8 and SHA-256 (#7)", 7, (), ()),
        ("KIP-1313: headers, see KAFKA-2 and KAFKA-1", "KIP-1313: headers, see KAFKA-2 and KAFKA-1", None, ("KIP-1313",), ("KAFKA-2", "KAFKA-1")),
        ("[fork] CONF-99: ours", "[fork] CONF-99: ours", None, (), ("CONF-99",)),
        ("Merge pull request #8 from a/b\n\nKIP-5, KIP-35", "Merge pull request #8 from a/b", 8, ("KIP-5", "KIP-35"), ()),
        ("See (#3) for more", "See (#3) for more", None, (), ()),
        ("\n\n", "", None, (), ()),
    ],
)  # fmt: skip
def test_numbers(
    message: str, subject: str, request_number: int | None, kips: tuple[str, ...], jiras: tuple[str, ...]
) -> None:
    expected = {"subject": subject, "pull_request": request_number, "kips": kips, "jiras": jiras}
    assert read_message(message) == expected


def test_of_a_repository(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=Jo Łuk", "-c", "user.email=jo@example.org")
        return subprocess.run(
            ["git", "-C", tmp_path, *who, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "main")
    first = [git("commit", "-q", "--allow-empty", "-m", "one\x1f (#1)\n\nKIP-4"), git("rev-parse", "HEAD")][1]
    git("tag", "1.0.0")
    second = [git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", ""), git("rev-parse", "HEAD")][1]
    objects = open_repository(str(tmp_path))
    history = revisions(objects, "main")
    one = Revision(first, history[0].git_tree, history[0].time, "Jo Łuk", (), "one\x1f (#1)", 1, ("KIP-4",))
    assert history == [one, Revision(second, one.git_tree, history[1].time, "Jo Łuk", (first,))]
    assert revisions(objects, "tags") == [one._replace(release="1.0.0")]


SEED = 1313
PATHS = ("top.json", "a/x.json", "a/y.json", "a/b/x.json", "a/note.txt", ".hidden/x.json", "c/d/e/x.json", "é ü/x.json")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of files that come, change and go, as `git fast-import` takes it."""
    place = tmp_path_factory.mktemp("followed") / "history"
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    chance = random.Random(SEED)
    lines = []
    for number in range(40):
        lines += ["commit refs/heads/main", f"committer T <t@example.com> {1_700_000_000 + number} +0000", "data 0"]
        for path in chance.sample(PATHS, chance.randrange(3)):
            mode = chance.choice(("100644", "100755", "120000"))
            text = str(chance.randrange(5))
            lines += [f'D "{path}"'] if chance.random() < 0.3 else [f'M {mode} inline "{path}"', "data 1", text]
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="\n".join([*lines, ""]).encode(), check=True)
    return place


@pytest.mark.hypothesis
def test_what_trees_share_is_read_once(repository: Path) -> None:
    objects = open_repository(str(repository))
    trees = [revision.git_tree for revision in revisions(objects, "main")]
    for tree, folders in zip(trees, read_folders(objects, trees), strict=True):
        names = objects.run("ls-tree", "-r", "-z", tree).split("\0")[:-1]
        paths = [name.partition("\t")[2] for name in names if name.startswith("100")]
        expected = {path for path in paths if path.endswith(".json") and not path.startswith(".")}
        assert {f"{path}/{name}".lstrip("/") for path, files in folders for name, _ in files} == expected, (
            f"seed {SEED}"
        )


def test_a_missing_tree(repository: Path) -> None:
    with pytest.raises(SourceError):
        list(read_folders(open_repository(str(repository)), ["1" * 40]))


# Behind a merge is the commit that touched the file


HISTORY = """commit refs/heads/main
mark :1
committer M <m@example.com> 1700000000 +0000
data 5
first
M 100644 inline a.json
data 1
1
commit refs/heads/side
mark :2
committer S <s@example.com> 1700000001 +0000
data 3
one
from :1
M 100644 inline a.json
data 1
2
commit refs/heads/side
mark :3
committer T <t@example.com> 1700000002 +0000
data 3
two
M 100644 inline b*.json
data 1
2
commit refs/heads/main
mark :4
committer M <m@example.com> 1700000003 +0000
data 5
merge
from :1
merge :3
M 100644 inline a.json
data 1
2
M 100644 inline b*.json
data 1
2
"""


def test_by_path(tmp_path: Path) -> None:
    place = tmp_path / "history"
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=HISTORY.encode(), check=True)
    objects = open_repository(str(place))
    side = objects.run("rev-list", "side").split()
    merge = objects.run("rev-parse", "main").strip()
    assert inner_commit(objects, merge, "a.json") == Inner(side[1], "S", "one")
    assert inner_commit(objects, merge, "b*.json") == Inner(side[0], "T", "two")
    assert inner_commit(objects, merge, "*.json") is None
    assert inner_commit(objects, side[1], "b*.json") is None
    assert inner_commit(objects, side[-1], "a.json") is None  # no parent to begin from


MAILMAP = """M 100644 inline .mailmap
data 41
Mary <m@example.com>
Tom <t@example.com>
"""


def test_authors_go_by_the_mailmap(tmp_path: Path) -> None:
    place = str(tmp_path / "history")
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    history = (HISTORY + MAILMAP).encode()
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=history, check=True)
    subprocess.run(["git", "-C", place, "reset", "-q", "--hard"], check=True)
    objects = open_repository(place)
    assert [revision.author for revision in revisions(objects, "main")] == ["Mary", "Mary"]
    inner = inner_commit(objects, objects.run("rev-parse", "main").strip(), "b*.json")
    assert (inner and inner.author) == "Tom"


def test_a_directory_has_no_parents() -> None:
    revision = {"lineage": "x", "position": 0, "commit": "", "parents": None, "location": None}
    revisions = pa.Table.from_pylist([{**revision, "release": None, "time": None}])
    lives = pa.Table.from_pylist([], pa.schema([("lineage", pa.string())]))
    assert attribute(lives.schema)(lives, revisions).num_rows == 0
