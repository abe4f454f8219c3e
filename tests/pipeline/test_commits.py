"""Histories: what is read of commits, and the trees of consecutive commits."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from kiplint.pipeline.commits import Revision, read_folders, revisions, tip
from kiplint.pipeline.history import Line, read_blobs, read_histories, with_states
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import SourceError

WHO = ("-c", "user.name=A", "-c", "user.email=a@x")


@pytest.mark.parametrize(
    ("message", "request_number", "kips"),
    [
        ("KAFKA-17: Add it (#1234)\n\nAs KIP-848 has it, and kip-0848 too.\n", 1234, ("KIP-848",)),
        ("KIP-1313: headers, see KAFKA-2 and KIP-1", None, ("KIP-1313", "KIP-1")),
        ("Merge pull request #8 from a/b\n\nKIP-5, KIP-35", 8, ("KIP-5", "KIP-35")),
        ("See (#3) for more", None, ()),
        ("\n\n", None, ()),
    ],
)
def test_numbers(message: str, request_number: int | None, kips: tuple[str, ...], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    text = f"commit refs/heads/main\ncommitter T <t@example.com> 1 +0000\ndata {len(message)}\n{message}\n"
    subprocess.run(["git", "-C", tmp_path, "fast-import", "--quiet"], input=text.encode(), check=True)
    (commit,) = revisions(open_repository(str(tmp_path)), "main")
    subject = message.partition("\n")[0]
    assert (commit.subject, commit.pull_request, commit.kips) == (subject, request_number, kips)


def test_of_a_repository(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=Jo Łuk", "-c", "user.email=jo@example.org")
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    first = [git("commit", "-q", "--allow-empty", "-m", "one\x1f (#1)\n\nKIP-4"), git("rev-parse", "HEAD")][1]
    git("tag", "1.0.0")
    (tmp_path / ".mailmap").write_text("Jo <jo@example.org>\n")
    git("add", ".mailmap")
    second = [git("commit", "-q", "--allow-empty-message", "-m", ""), git("rev-parse", "HEAD")][1]
    git("tag", "2.0.0-rc1")
    repository = open_repository(str(tmp_path))
    history = revisions(repository, "main")
    one = Revision(first, history[0].git_tree, history[0].time, "Jo", (), "one\x1f (#1)", 1, ("KIP-4",))
    two = Revision(second, history[1].git_tree, history[1].time, "Jo", (first,))
    assert history == [commit._replace(has_changes=False) for commit in (one, two)]
    assert revisions(repository, "tags") == [one._replace(release="1.0.0")]
    assert [revision.release for revision in revisions(repository, "tags=[12].*")] == ["1.0.0", "2.0.0-rc1"]
    git("tag", "vendor-8.3.0")
    assert [revision.release for revision in revisions(repository, "tags")] == ["1.0.0", "vendor-8.3.0"]
    git("tag", "main", first)
    assert revisions(repository, "main") == history  # the branch, not the tag of the same name
    assert revisions(repository, "tags=[0-9]*.[0-9]") == [one._replace(release="1.0.0")]
    with pytest.raises(SourceError, match=r"^no tag with a version like 3\*"):
        revisions(repository, "tags=3*")


def test_a_commit_whose_time_git_does_not_show(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path)]
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    tree = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    text = f"tree {tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> -5 +0000\n\nodd\n"
    write = [*git, "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    odd = subprocess.run(write, input=text, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([*git, "update-ref", "refs/heads/main", odd], check=True)
    subprocess.run([*git, "update-ref", "refs/tags/1.0.0", odd], check=True)
    for lineage in ("main", "tags"):
        with pytest.raises(SourceError, match=f"^the commit {odd} of {tmp_path} has no valid time"):
            revisions(open_repository(str(tmp_path)), lineage)
        line = Line("odd", lineage, str(tmp_path))
        assert with_states([line])[0].problem is None  # a run begins, and reads the other lines
        (row,) = read_histories([{**line._asdict(), "lake_roots": []}])
        assert row["problem"].startswith(f"the commit {odd}")


def test_a_branch_of_a_clone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    commit = [*WHO, "commit", "-q", "--allow-empty", "-m", "one"]
    subprocess.run(["git", "-C", tmp_path, *commit], check=True)
    subprocess.run(["git", "-C", tmp_path, "update-ref", "refs/remotes/origin/automq", "main"], check=True)
    with pytest.raises(SourceError, match=r"^no such branch in .*: automq; did you mean origin/automq\?$"):
        tip(open_repository(str(tmp_path)), "automq")


def test_contents_are_read_or_left_out(repository: Path, tmp_path: Path) -> None:
    """Of a partial clone git has no contents; another repository may have them."""
    partial = tmp_path / "partial"
    subprocess.run(["git", "-C", repository, "config", "uploadpack.allowFilter", "true"], check=True)
    clone = ["git", "clone", "-q", "--bare", "--filter=blob:none", f"file://{repository}", str(partial)]
    subprocess.run(clone, check=True)
    blob = open_repository(str(repository)).find("main:top.json").id
    (row,) = read_blobs([{"blob": blob, "locations": [str(partial), str(repository)]}])
    assert (row["blob"], row["kind"]) == (blob, "other")
    assert list(read_blobs([{"blob": blob, "locations": [str(partial), "/nowhere"]}])) == []


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
def test_each_tree_is_as_git_lists_it(repository: Path) -> None:
    objects = open_repository(str(repository))
    files: set[tuple[str, str]] = set()
    for revision in revisions(objects, "main"):
        names = objects.run("ls-tree", "-r", "-z", revision.git_tree).split("\0")[:-1]
        entries = [name.split("\t") for name in names if name.startswith("100")]
        before, files = files, {(path, mode.split()[2]) for mode, path in entries if path.endswith(".json")}
        folders = read_folders(objects, revision.git_tree).items()
        actual = {(f"{path}/{name}".lstrip("/"), blob) for path, ids in folders for name, blob in ids.items()}
        assert actual == {file for file in files if file[0][0] != "."}, f"seed {SEED}"
        assert revision.has_changes or files == before


def test_a_missing_tree(repository: Path) -> None:
    with pytest.raises(SourceError, match=f"{'1' * 40} is not in it"):
        read_folders(open_repository(str(repository)), "1" * 40)
