"""Make the corpus of real schemas that tests, benchmarks and measurements read, out of public repositories.

`python scripts/make_corpus.py DIRECTORY` fetches the 482 commits in `corpus.txt` from five repositories on GitHub, with
no other files than the definitions, and writes into DIRECTORY, for `KIPLINT_CORPUS`:

- `kafka-trunk-2026-08/SET/*.json`: the definitions of trunk's last commit, and those of the generator's own tests;
- `kafka-schema-history.bundle`: the branch trunk, with each commit that changed a definition, releases, and its tags;
- `kafka-forks.bundle`: a branch for each fork.

The repositories that are made are the same each time, down to the ids of their commits.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

SETS = {
    "clients": "clients/src/main/resources/common/message",
    "group-coordinator": "group-coordinator/src/main/resources/common/message",
    "metadata": "metadata/src/main/resources/common/metadata",
    "raft": "raft/src/main/resources/common/message",
    "share-coordinator": "share-coordinator/src/main/resources/common/message",
    "storage": "storage/src/main/resources/message",
    "streams": "streams/src/main/resources/common/message",
    "transaction-coordinator": "transaction-coordinator/src/main/resources/common/message",
}
"""By name: the directory of each set of Kafka's."""
PLACES = (*SETS.values(), "core/src/main/resources/common/message", "src/v/kafka/protocol/schemata")
"""The directories of definitions: Kafka's, one of earlier years, and Redpanda's."""
TESTS = "clients/src/test/resources/common/message"
BUNDLES = {
    "kafka-schema-history.bundle": ("HEAD", "trunk", "releases"),
    "kafka-forks.bundle": ("automq", "redpanda", "linkedin"),
}
COMMITS = Path(__file__).with_name("corpus.txt")
AUTHOR = "Kafka schema history <history@example.invalid>"


class CorpusError(Exception):
    """Why there is no corpus."""


class Commit(NamedTuple):
    """A line of `corpus.txt`: a commit of a public repository, and where it stands in the corpus.

    `seconds` is its time since 1970, `tree` the first digits of the id of the tree that its definitions make, `tag` the
    release that it is, or empty. The commits of a branch follow each other.
    """

    branch: str
    repository: str
    id: str
    seconds: str
    tree: str
    tag: str = ""

    @property
    def message(self) -> str:
        """The message of the commit that is made."""
        return f"release {self.tag} (upstream {self.id})" if self.tag else f"upstream {self.id}"


class Blob(NamedTuple):
    """A file of a commit, in the words of git."""

    mode: str
    id: str
    path: str


def main() -> int:
    """Write the corpus; 1 and a line when that cannot be done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path, help="what to write; it must not exist")
    parser.add_argument(
        "--upstream", default="https://github.com", help="where the repositories are: an address or path"
    )
    options = parser.parse_args()
    try:
        make(options.directory, options.upstream, read_commits(COMMITS))
    except CorpusError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def read_commits(file: Path) -> list[Commit]:
    """The commits that the corpus is made of."""
    lines = file.read_text("utf-8").splitlines()
    return [Commit(*line.split()) for line in lines if not line.startswith("#")]


def make(directory: Path, upstream: str, commits: list[Commit]) -> None:
    """Write the corpus. Raises CorpusError where it exists, or a definition is not what it was."""
    if directory.exists():
        raise CorpusError(f"{directory} exists; remove it, or name another directory")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "corpus")
        repository = Repository(Path(folder, "repository"))
        blobs = repository.fetch(upstream, commits)
        repository.commit(commits, blobs)
        head = [commit for commit in commits if commit.branch == "trunk"][-1]
        names = {place: name for name, place in (*SETS.items(), ("clients-test", TESTS))}
        for blob in blobs[head.id]:
            place, _, name = blob.path.rpartition("/")
            file = result / "kafka-trunk-2026-08" / names[place] / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(repository.git("cat-file", "blob", blob.id))
        for bundle, branches in BUNDLES.items():
            tags = [f"refs/tags/{commit.tag}" for commit in commits if commit.tag and commit.branch in branches]
            repository.git("bundle", "create", "--quiet", str(result / bundle), *branches, *tags)
        directory.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(result, directory)


class Repository:
    """A bare repository in an empty directory: it fetches the commits, and those of the corpus are made in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--bare", "--initial-branch=trunk")

    def git(self, *words: str, text: str = "") -> bytes:
        """What a command of git prints."""
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        process = subprocess.run(
            ["git", *words], cwd=self.path, env=environment, input=text.encode(), capture_output=True, check=False
        )
        if process.returncode:
            raise CorpusError(f"git {words[0]}: {process.stderr.decode(errors='replace').strip()}")
        return process.stdout

    def fetch(self, upstream: str, commits: Iterable[Commit]) -> dict[str, list[Blob]]:
        """Fetch the definitions of all commits; by id of a commit: its definitions, and those of tests."""
        blobs: dict[str, list[Blob]] = {}
        for name, group in groupby(
            sorted(commits, key=lambda commit: commit.repository), lambda commit: commit.repository
        ):
            ids = sorted({commit.id for commit in group})
            self.git("remote", "add", name, f"{upstream}/{name}")
            # Only commits and trees, of these commits alone; then the blobs of definitions, all at once.
            self.git("fetch", "--quiet", "--no-tags", "--depth=1", "--filter=blob:none", name, *ids)
            own = {commit: list(self._definitions(commit)) for commit in ids}
            blob_ids = sorted({blob.id for files in own.values() for blob in files})
            self.git("fetch", "--quiet", "--no-tags", "--filter=blob:none", "--stdin", name, text="\n".join(blob_ids))
            blobs |= own
        return blobs

    def _definitions(self, commit: str) -> Iterator[Blob]:
        listing = self.git("ls-tree", "-r", "-z", commit, "--", *PLACES, TESTS).decode()
        for line in listing.split("\0")[:-1]:
            entry, _, path = line.partition("\t")
            mode, _, blob = entry.split()
            if path.endswith(".json") and path.rpartition("/")[0] in (*PLACES, TESTS):
                yield Blob(mode, blob, path)

    def commit(self, commits: Iterable[Commit], blobs: dict[str, list[Blob]]) -> None:
        """Make the branches and tags of the corpus. Raises CorpusError for definitions that are not as recorded."""
        self.git("fast-import", "--quiet", text="".join(self._stream(commits, blobs)))
        for branch, group in groupby(commits, key=lambda commit: commit.branch):
            trees = self.git("rev-list", "--reverse", "--no-commit-header", "--format=%T", branch).decode().split()
            for commit, tree in zip(group, trees, strict=True):
                if not tree.startswith(commit.tree):
                    raise CorpusError(
                        f"{commit.repository} {commit.id}: its definitions are the tree {tree[:10]}, not {commit.tree}"
                    )

    @staticmethod
    def _stream(commits: Iterable[Commit], blobs: dict[str, list[Blob]]) -> Iterator[str]:
        """What `git fast-import` reads."""
        for commit in commits:
            who = f"{AUTHOR} {commit.seconds} +0000"
            yield f"commit refs/heads/{commit.branch}\nauthor {who}\ncommitter {who}\n"
            yield f"data {len(commit.message)}\n{commit.message}\ndeleteall\n"
            for blob in blobs[commit.id]:
                if not blob.path.startswith(TESTS):
                    yield f"M {blob.mode} {blob.id} {blob.path}\n"
            if commit.tag:
                yield f"reset refs/tags/{commit.tag}\nfrom refs/heads/{commit.branch}\n"


if __name__ == "__main__":
    sys.exit(main())
