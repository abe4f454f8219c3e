"""The script that makes the corpus: out of copies of the repositories of others it makes the files that are there.

No test reaches these repositories. Here their commits have other ids, files beside the definitions, and one history.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import make_corpus
from make_corpus import BUNDLES, Commit, CorpusError, make

TRUNK, TESTS = "kafka-trunk-2026-08", "clients-test"
COMMITS = make_corpus.read_commits(make_corpus.COMMITS)
BRANCHES = {name: [commit for commit in COMMITS if commit.branch == name] for name in {item.branch for item in COMMITS}}
LATEST = 8
"""So many commits of each branch are made here."""
OTHERS = ("README.md", "clients/src/main/resources/common/message/README.md", "core/src/main/resources/other/X.json")


def git(repository: Path, *words: str, text: str = "") -> str:
    process = subprocess.run(["git", *words], cwd=repository, input=text, capture_output=True, text=True, check=True)
    return process.stdout


def unpack(corpus: Path, directory: Path) -> Path:
    """A repository with all that is in the bundles of a corpus."""
    directory.mkdir()
    git(directory, "init", "-q", "--bare")
    for bundle in BUNDLES:
        git(directory, "fetch", "-q", str(corpus / bundle), "refs/*:refs/*")
    return directory


def log(repository: Path, branch: str, *options: str) -> list[str]:
    """The commits of a branch, oldest first: author and committer with time, tree, and message."""
    who = "%an <%ae> %at %cn <%ce> %ct"
    return git(repository, "log", "--reverse", f"--format={who} %T %B", *options, branch, "--").split("\n\n")


@pytest.fixture(scope="module")
def pool(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(corpus, tmp_path_factory.mktemp("upstream") / "pool")


@pytest.fixture(scope="module")
def copies(corpus: Path, pool: Path) -> dict[str, Commit]:
    """By id: the latest commits as they are in the copies, which lie beside the pool."""
    tests = {
        file.name: git(pool, "hash-object", "-w", str(file)).strip() for file in (corpus / TRUNK / TESTS).iterdir()
    }
    latest = [commit for commits in BRANCHES.values() for commit in commits[-LATEST:]]
    ids = [line for name in BRANCHES for line in git(pool, "rev-list", "--reverse", f"-{LATEST}", name).split()]
    stream = ""
    for number, original in enumerate(ids, 1):
        stream += f"commit refs/upstream/all\nmark :{number}\ncommitter A <a@example.invalid> {number} +0000\ndata 0\n"
        stream += "deleteall\n"
        stream += re.sub(r"(\d+) blob (\w+)\t", r"M \1 \2 ", git(pool, "ls-tree", "-r", original))
        stream += "".join(f"M 100644 {blob} {make_corpus.TESTS}/{name}\n" for name, blob in tests.items())
        stream += "".join(f"M 100644 inline {path}\ndata 5\n{number:05}\n" for path in OTHERS)
    git(pool, "fast-import", "--quiet", f"--export-marks={pool.parent}/marks", text=stream)
    marks = dict(line.split() for line in (pool.parent / "marks").read_text("utf-8").splitlines())
    git(pool, "config", "uploadpack.allowFilter", "true")
    for name in {commit.repository for commit in COMMITS}:
        (pool.parent / name).parent.mkdir(exist_ok=True)
        (pool.parent / name).symlink_to(pool)
    return {commit.id: commit._replace(id=marks[f":{number}"]) for number, commit in enumerate(latest, 1)}


def test_the_commits_are_those_of_the_corpus(pool: Path) -> None:
    for name, commits in BRANCHES.items():
        lines = git(pool, "log", "--reverse", "--format=%ct %T %s", name).splitlines()
        assert [re.sub(r"(?<= \w{10})\w{30} ", " ", line) for line in lines] == [
            f"{commit.seconds} {commit.tree} {commit.message}" for commit in commits
        ]


def test_what_it_makes_is_the_corpus(corpus: Path, pool: Path, copies: dict[str, Commit], tmp_path: Path) -> None:
    result = tmp_path / "new" / "corpus"
    make(result, pool.parent.as_uri(), list(copies.values()))
    files = {path.relative_to(corpus): path.read_bytes() for path in (corpus / TRUNK).rglob("*.json")}
    assert len(files) == 292
    assert {path.relative_to(result): path.read_bytes() for path in result.rglob("*.json")} == files
    assert {path.name for path in result.iterdir()} == {TRUNK, *BUNDLES}
    repository = unpack(result, tmp_path / "repository")
    for name in BRANCHES:
        expected = "\n".join(log(pool, name, f"-{LATEST}"))
        for original, copy in copies.items():
            expected = expected.replace(original, copy.id)
        assert "\n".join(log(repository, name)) == expected
    tags = [copy.tag for copy in copies.values() if copy.tag]
    assert git(repository, "tag").split() == sorted(tags)
    assert git(repository, "log", "--format=%s", "--no-walk=unsorted", *tags).splitlines() == [
        copy.message for copy in copies.values() if copy.tag
    ]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(result / "kafka-schema-history.bundle"), str(clone))
    assert git(clone, "branch", "--show-current") == "trunk\n"


def test_a_definition_that_is_not_what_it_was_is_reported(
    pool: Path, copies: dict[str, Commit], tmp_path: Path
) -> None:
    copy = copies[BRANCHES["linkedin"][0].id]
    with pytest.raises(CorpusError) as error:
        make(tmp_path / "corpus", pool.parent.as_uri(), [copy._replace(tree="0123456789")])
    assert str(error.value) == f"linkedin/kafka {copy.id}: its definitions are the tree cc083f57bf, not 0123456789"
    assert not (tmp_path / "corpus").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="exists; remove it, or name another directory"):
        make(tmp_path, "https://kafka.invalid", COMMITS)
    assert list(tmp_path.iterdir()) == []
