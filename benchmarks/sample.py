"""The sample history of fixtures/history as a git repository: always the same commits, whoever makes it.

Usage: python -m benchmarks.sample DIRECTORY
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import json5

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
MAIN = "main"
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "kiplint"), ("EMAIL", "sample@example.org"))
}


def make_history(repository: Path) -> list[str]:
    """Make the repository, with branches `main` and `fork` and a tag for each release; the ids of main's commits."""
    steps: list[Mapping[str, Any]] = json5.loads((FIXTURES / "history" / "steps.json").read_text("utf-8"))
    repository.mkdir(parents=True)
    _git(repository, "init", "--quiet", f"--initial-branch={MAIN}")
    shutil.copytree(FIXTURES / "sets" / "broker", repository, dirs_exist_ok=True)
    commits = []
    for step in steps:
        _apply(repository, step)
        if "fork" in step:
            _git(repository, "checkout", "--quiet", "-b", step["fork"])
        commit = _commit(repository, step)
        if "fork" in step:
            _git(repository, "checkout", "--quiet", MAIN)
        else:
            commits.append(commit)
    return commits


def sources_of(repository: Path) -> tuple[str, ...]:
    """What `kiplint pipeline run` takes to read all of such a repository."""
    return (f"sample={repository}#main", f"sample={repository}#tags", f"fork={repository}#fork")


def _apply(repository: Path, step: Mapping[str, Any]) -> None:
    for folder in step.get("leave", ()):
        shutil.rmtree(repository / folder)
    for folder in step.get("join", ()):
        shutil.copytree(FIXTURES / "sets" / "broker" / folder, repository / folder)
    for move in step.get("moves", ()):
        target = repository / move["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        (repository / move["from"]).rename(target)
    for edit in step.get("edits", ()):
        file = repository / edit["file"]
        text = file.read_text("utf-8")
        if text.count(edit["find"]) != 1:
            raise ValueError(f"{edit['file']} has {edit['find']!r} {text.count(edit['find'])} times, not once")
        file.write_text(text.replace(edit["find"], edit["put"]), "utf-8")


def _commit(repository: Path, step: Mapping[str, Any]) -> str:
    when = f"{step['day']}T12:00:00+00:00"
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message", step["say"], when=when, by=step.get("by", ""))
    if "tag" in step:
        _git(repository, "tag", step["tag"])
    return _git(repository, "rev-parse", "HEAD")


def _git(repository: Path, *words: str, when: str = "", by: str = "") -> str:
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    author = {"GIT_AUTHOR_NAME": by} if by else {}
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = {**environment, **WHO, **plain, **dates, **author}
    command = ["git", "-C", str(repository), *words]
    process = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return process.stdout.strip()


if __name__ == "__main__":
    make_history(Path(sys.argv[1]))
