"""The hooks for pre-commit: their patterns on real paths, and pre-commit's own installation of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from sources.support import git

sys.path.insert(0, str(ROOT / "docs"))

from generator import hooks

PAGE = (ROOT / "docs/guide/pre-commit.md").read_text("utf-8")
MANIFEST: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
OTHERS = [
    ".asf.yaml",
    "package.json",
    "message/data.json",
    "clients/src/main/resources/common/message/old/FetchRequest.json",
    "clients/src/main/resources/common/message/README.md",
    "message/FetchRequest.json.orig",
    "a.jsonl",
]


def is_taken(path: str) -> bool:
    """Whether pre-commit gives a file to kiplint-check."""
    return re.search(MANIFEST["kiplint-check"]["files"], path) is not None


def test_the_manifest_is_written_out_of_the_catalogue() -> None:
    assert (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8") == hooks.make()
    assert list(MANIFEST) == [hook.id for hook in hooks.HOOKS]


def test_pre_commit_takes_the_manifest() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, "")


def test_the_hooks_are_what_they_have_to_be() -> None:
    review, check, fix = MANIFEST["kiplint-review"], MANIFEST["kiplint-check"], MANIFEST["kiplint-fix"]
    assert (review["entry"], review["args"]) == ("kiplint review", ["--base", "HEAD"])
    assert (review["pass_filenames"], review["always_run"]) == (False, True)
    assert (check["entry"], fix["entry"]) == ("kiplint check", "kiplint check --fix")
    for hook in (check, fix):
        assert (hook["files"], hook["types"], hook["require_serial"]) == (hooks.PATTERN, ["file"], True)


@pytest.mark.parametrize("bundle", ["kafka-schema-history", "kafka-forks"])
def test_every_schema_of_every_history_is_taken(corpus: Path, tmp_path: Path, bundle: str) -> None:
    """All paths that Kafka, AutoMQ, LinkedIn and Redpanda have ever had."""
    git(tmp_path, "clone", "-q", "--bare", str(corpus / f"{bundle}.bundle"), "all")
    paths = set(git(tmp_path / "all", "log", "--all", "--name-only", "--format=").splitlines()) - {""}
    assert len(paths) > 300
    assert sorted(path for path in paths if not is_taken(path)) == []


@pytest.mark.parametrize("path", OTHERS)
def test_nothing_else_is_taken(path: str) -> None:
    assert not is_taken(path)


def test_the_guide_names_every_directory() -> None:
    for folder in hooks.FOLDERS:
        assert is_taken(f"{folder}/X.json")
        assert is_taken(f"some/where/{folder}/X.json")
        assert f"| `{folder}/` |" in PAGE
