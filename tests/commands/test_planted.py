"""A repository of strangers: no command of kiplint runs what its configuration names, nor passes over who owns it."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import subprocess
from pathlib import Path

import pytest

import kiplint.commands
from kiplint.pipeline.commits import read_folders, revisions
from kiplint.sources.cleanup import close
from kiplint.sources.repository import open_repository
from sources.support import git
from tools import definition, environment, field
from tools import kiplint as run_kiplint

HOOKS = (
    "applypatch-msg fsmonitor-watchman post-checkout post-index-change post-merge pre-auto-gc pre-commit proc-receive"
)
SETTINGS = Path(__file__).with_name("planted.gitconfig").read_text("utf-8")
"""Each setting of git's that names a command, which is EVIL here."""
REQUEST = definition(field("A", about="One."), name="XRequest", listeners=["broker"])
RESPONSE = definition(field("A", about="One."), name="XResponse", type="response")

COMMANDS: dict[str, list[list[str]]] = {
    "check": [
        ["s", "--base", "HEAD~1"],
        ["HEAD:s"],
        ["--fix", "s"],
        ["--diff", "s", "--base", "HEAD~1"],
        ["s", "--baseline", "known.json", "--update-baseline"],
        ["nosuch:s"],
        ["s", "--base", "lost"],
    ],
    "decode": [["XRequest@0", "s/XRequest.json", "--set", "HEAD:s"]],
    "diff": [["HEAD~1:", "HEAD:"], ["HEAD:", "."], ["HEAD:", "lost:"]],
    "explain": [["fields/unknown-type"]],
    "kip": [["page.html", "--base", "HEAD:"]],
    "lsp": [[]],
    "migrate": [["bump", "X", "--set", "s", "--dry-run"], ["kip-1313", "s", "--dry-run"]],
    "negotiate": [["HEAD~1:", "HEAD:"]],
    "review": [[], ["--base", "HEAD~1"], ["--base", "none", "s"]],
    "rollout": [["HEAD~1:", "HEAD:"]],
    "rules": [[]],
    "schema": [["check"]],
    "show": [["XRequest", "HEAD:s"]],
}


@pytest.fixture
def log_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The log of the planted command, which has done nothing yet; the repository is beside it."""
    log, evil, where, hooks = (tmp_path / name for name in ("log", "evil", "repository", "hooks"))
    evil.write_text(f'#!/bin/sh\necho "$0 $@" >> {log}\nexit 1\n')
    evil.chmod(0o755)
    (where / "s").mkdir(parents=True)
    git(where, "init", "-q")
    for number in (1, 2):
        (where / "s/XRequest.json").write_bytes(REQUEST + b"\n" * number)
        (where / "s/XResponse.json").write_bytes(RESPONSE)
        git(where, "add", "-A")
        git(where, "commit", "-q", "-m", "text")
        git(where, "tag", f"{number}.0.0")
    (where / "page.html").write_text("<p>text</p>")
    tree = git(where, "mktree", "--missing", stdin=b"100644 blob " + b"a" * 40 + b"\tA.json\n")
    git(where, "tag", "lost", git(where, "commit-tree", tree, "-m", "text"))
    for folder in (hooks, where / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS.split():
            (folder / name).symlink_to(evil)
    (where / ".git/config").write_text(SETTINGS.replace("EVIL", str(evil)).replace("HOOKS", str(hooks)))
    (where / ".git/info/attributes").write_text("* filter=f diff=f merge=f\n")
    (where / "s/XRequest.json").write_bytes(REQUEST)
    return log


def test_git_itself_would_run_it(log_file: Path) -> None:
    command = ["git", "-C", str(log_file.parent / "repository"), "diff", "HEAD"]
    subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert log_file.exists()


def test_every_command_is_tried() -> None:
    names = {module.name for module in pkgutil.iter_modules(kiplint.commands.__path__)}
    assert set(COMMANDS) == names - {"pipeline"}


def test_no_command_runs_it(log_file: Path) -> None:
    where = log_file.parent / "repository"
    for name, runs in COMMANDS.items():
        for words in runs:
            result = run_kiplint(name.replace("_", "-"), *words, cwd=where)
            assert "Usage:" not in result.err, (name, words)
            assert not log_file.exists(), (name, words, log_file.read_text())


def test_each_command_that_needs_git_says_who_owns_the_repository(log_file: Path) -> None:
    foreign = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    for name, runs in COMMANDS.items():
        for words in runs:
            result = run_kiplint(name.replace("_", "-"), *words, cwd=log_file.parent / "repository", env=foreign)
            marks = {"--base", *re.findall(r"\w+(?:~1)?:s?(?= |$)", " ".join(words))}
            reads_git = "none" not in words and (name == "review" or not marks.isdisjoint(words))
            says_it = "git config --global --add safe.directory" in result.err
            reads_files = name in ("check", "review")  # with a note where git does not list them
            assert says_it is (reads_git or reads_files), (name, words, result)
            assert (result.code == 2) is reads_git, (name, words, result)


@pytest.mark.parametrize("replacement", ["refs/replace", "info/grafts"])
def test_a_commit_is_compared_as_it_was_made(tmp_path: Path, replacement: str) -> None:
    """Whatever the repository puts in the place of it, or of its parents."""
    git(tmp_path, "init", "-q")
    for valid in ("0-1", "0-2", "0-3"):
        (tmp_path / "XRequest.json").write_bytes(definition(field("A"), validVersions=valid))
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", valid)
    first, second, head = (git(tmp_path, "rev-parse", name) for name in ("HEAD~2", "HEAD~1", "HEAD"))
    if replacement == "refs/replace":
        git(tmp_path, "replace", head, second)
    else:
        (tmp_path / ".git/info").mkdir(exist_ok=True)
        (tmp_path / ".git/info/grafts").write_text(f"{head} {first}\n")
    result = run_kiplint("diff", "HEAD~1:", "HEAD:", "--output-format", "json", cwd=tmp_path)
    changes = {(change["kind"], change["versions"]) for change in json.loads(result.out)["changes"]}
    assert changes == {("new-version", "3"), ("flexible-later", "3")}


def test_no_stage_of_the_pipeline_runs_it(log_file: Path) -> None:
    where = log_file.parent / "repository"
    objects = open_repository(str(where))
    trees = [revision.git_tree for revision in revisions(objects, "HEAD")]
    assert [revision.git_tree for revision in revisions(objects, "tags=?.*")] == trees
    assert [len(read_folders(objects, tree)) for tree in trees] == [1, 1]
    close()
    assert not log_file.exists()
