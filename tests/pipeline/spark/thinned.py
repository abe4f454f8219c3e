"""Kafka's own history with fewer commits: a lake of all of them takes minutes, and is left to `make equality`."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path

WHOLE = "KIPLINT_EQUALITY_SAMPLE" in os.environ
"""Whether the tests are to work on every commit."""

KNOWN = (
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


def thinned(bundle: str, where: Path, known: tuple[str, ...] = KNOWN, each: int = EACH) -> Path:
    """A repository in which trunk has one commit out of so many, those known, what is before these, and the newest.

    Commits keep their ids and trees: it is git's replacements that give them other parents.
    """
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, where], check=True, capture_output=True)
    every = _git(where, "rev-list", "--first-parent", "--reverse", "trunk").split()
    named = {at for at, commit in enumerate(every) if commit.startswith(known)}
    chosen = sorted({len(every) - 1, *range(0, len(every), each), *named, *(at - 1 for at in named)})
    grafts = [f"{every[new]} {every[old]}\n" for old, new in pairwise(chosen)]
    (where / "info").mkdir(exist_ok=True)
    (where / "info" / "grafts").write_text("".join(grafts))
    _git(where, "replace", "--convert-graft-file")
    return where


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True, text=True)
    return done.stdout
