"""Kafka's own history with fewer commits: a lake of all of them takes minutes, and is left to `make equality`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

WHOLE = "KIPLINT_EQUALITY_SAMPLE" in os.environ
"""Whether the tests are to work on every commit."""

KEY_COMMITS = (
    "844f6aeadb",
    "5a7c806951",
    "ebd7370f13",
    "3c9d627625",
    "694cae17ab",
    "8be79c8cc1",
    "0725dc287e",
    "d6ff15ed8c",
)
"""The commits that tests name, and at last the one that has what AutoMQ took over."""

EACH = 60
TAGS = "tags=*" if WHOLE else "tags=2.[2478].0,3.[048].0,3.9*,confluent*"
"""The releases: the pairs of all 48 take longer than all else."""
REVISIONS = 431 if WHOLE else 24
RELEASES = 48 if WHOLE else 12
BLOBS = 1804 if WHOLE else 1341
"""How many commits the trunk has, how many releases there are, and how many distinct files of trunk, these and forks."""


def thin_history(bundle: str, where: Path) -> str:
    """A repository whose trunk has one commit out of `EACH`, the `KEY_COMMITS`, what is before these, and the newest.

    The commits of trunk have their trees, dates and messages, and other ids; the tags are those of the bundle.
    """
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, where], check=True, capture_output=True)
    commits = _git(where, "rev-list", "--first-parent", "--reverse", "trunk").split()
    key_places = {at for at, commit in enumerate(commits) if commit.startswith(KEY_COMMITS)}
    positions = sorted({len(commits) - 1, *range(0, len(commits), EACH), *key_places, *(at - 1 for at in key_places)})
    parent: list[str] = []
    for commit in (commits[at] for at in positions):
        name, email, date, message = _git(where, "show", "-s", "--format=%cn%n%ce%n%cI%n%B", commit).split("\n", 3)
        person = {"NAME": name, "EMAIL": email, "DATE": date}
        environment = {
            f"GIT_{role}_{fact}": value for role in ("AUTHOR", "COMMITTER") for fact, value in person.items()
        }
        tree = f"{commit}^{{tree}}"
        copy = _git(where, "commit-tree", tree, *parent, "-m", message, environment=environment).strip()
        parent = ["-p", copy]
    _git(where, "update-ref", "refs/heads/trunk", copy)
    return str(where)


def _git(repository: Path, *words: str, environment: dict[str, str] | None = None) -> str:
    process = subprocess.run(
        ["git", "-C", repository, *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    return process.stdout
