"""The script that makes the corpus: out of a copy of the repositories of others it makes the very files that are there.

No test reaches these repositories. Here their commits have other ids, other files beside the definitions, and one history.
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

TRUNK, TESTS = "kafka-trunk-2026-08", "clients-test"
COMMITS = make_corpus.read_commits(make_corpus.COMMITS)
OTHERS = (
    "README.md",
    "clients/src/main/resources/common/message/README.md",
    "core/src/main/resources/other/Thing.json",
)


BRANCHES = list(dict.fromkeys(commit.branch for commit in COMMITS))


def git(repository: Path, *words: str, text: str = "") -> str:
    done = subprocess.run(["git", *words], cwd=repository, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def unpack(corpus: Path, directory: Path) -> Path:
    """All that is in the bundles of a corpus, in one repository."""
    directory.mkdir()
    git(directory, "init", "-q", "--bare")
    for bundle in make_corpus.BUNDLES:
        git(directory, "fetch", "-q", str(corpus / bundle), "refs/*:refs/*")
    return directory


@pytest.fixture(scope="module")
def commits(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[make_corpus.Commit]]:
    """A directory of repositories to fetch from, and the commits of the corpus under the ids that they have there."""
    upstream = tmp_path_factory.mktemp("upstream")
    pool = unpack(corpus, upstream / "pool")
    git(pool, "config", "uploadpack.allowFilter", "true")
    tests = {
        file.name: git(pool, "hash-object", "-w", str(file)).strip() for file in (corpus / TRUNK / TESTS).iterdir()
    }
    ids = [line for branch in BRANCHES for line in git(pool, "rev-list", "--reverse", branch).split()]
    stream = ""
    for number, original in enumerate(ids, 1):
        stream += f"commit refs/upstream/all\nmark :{number}\ncommitter A <a@example.invalid> {number} +0000\ndata 0\n"
        stream += "deleteall\n"
        stream += re.sub(r"(\d+) blob (\w+)\t", r"M \1 \2 ", git(pool, "ls-tree", "-r", original))
        stream += "".join(f"M 100644 {blob} {make_corpus.TESTS}/{name}\n" for name, blob in tests.items())
        stream += "".join(f"M 100644 inline {path}\ndata 5\n{number:05}\n" for path in OTHERS)
    git(pool, "fast-import", "--quiet", f"--export-marks={upstream}/marks", text=stream)
    marks = dict(line.split() for line in (upstream / "marks").read_text("utf-8").splitlines())
    for name in {commit.repository for commit in COMMITS}:
        (upstream / name).parent.mkdir(exist_ok=True)
        (upstream / name).symlink_to(pool)
    return upstream, [commit._replace(id=marks[f":{number}"]) for number, commit in enumerate(COMMITS, 1)]


def test_it_is_the_corpus_file_by_file(
    corpus: Path, commits: tuple[Path, list[make_corpus.Commit]], tmp_path: Path
) -> None:
    upstream, moved = commits
    result = tmp_path / "corpus"
    make_corpus.make(result, upstream.as_uri(), moved)
    files = {path.relative_to(corpus): path.read_bytes() for path in (corpus / TRUNK).rglob("*.json")}
    assert len(files) == 292
    assert {path.relative_to(result): path.read_bytes() for path in result.rglob("*.json")} == files
    assert {path.name for path in result.iterdir()} == {TRUNK, *make_corpus.BUNDLES}
    assert history(result, tmp_path / "new", moved) == history(corpus, tmp_path / "old", COMMITS)


def history(corpus: Path, directory: Path, commits: list[make_corpus.Commit]) -> list[str]:
    """Each ref with its commits: date, author, tree and message, with a number in the place of the upstream commit."""
    repository = unpack(corpus, directory)
    numbers = {commit.id: str(number) for number, commit in enumerate(commits)}
    heads = [git(repository, "bundle", "list-heads", str(corpus / bundle)) for bundle in make_corpus.BUNDLES]
    refs = re.findall(r"^\w+ (.+)$", "".join(heads), re.MULTILINE)
    logs = [
        git(repository, "log", "--format=%an %ae %at %cn %ce %ct %T %B", ref) for ref in sorted(refs) if ref != "HEAD"
    ]
    return [
        *sorted(refs),
        *(re.sub(r"\b[0-9a-f]{40}(?=\)?$)", lambda match: numbers[match[0]], log, flags=re.M) for log in logs),
    ]


def test_a_definition_that_is_not_what_it_was_is_reported(
    commits: tuple[Path, list[make_corpus.Commit]], tmp_path: Path
) -> None:
    upstream, moved = commits
    linkedin = next(commit for commit in moved if commit.branch == "linkedin")
    with pytest.raises(make_corpus.CorpusError) as error:
        make_corpus.make(tmp_path / "corpus", upstream.as_uri(), [linkedin._replace(tree="0123456789")])
    assert not (tmp_path / "corpus").exists()
    assert str(error.value) == (
        f"linkedin/kafka {linkedin.id}: its definitions are the tree cc083f57bf, not 0123456789"
    )


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    with pytest.raises(make_corpus.CorpusError, match="exists; remove it, or name another directory"):
        make_corpus.make(tmp_path, "https://kafka.invalid", COMMITS)
    assert list(tmp_path.iterdir()) == []
