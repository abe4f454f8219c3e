"""The hooks for pre-commit: their patterns on real paths, and commits through pre-commit, really run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from sources.support import git
from tools import environment

sys.path.insert(0, str(ROOT / "docs"))

from generator import hooks

MANIFEST: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
OTHERS = [".asf.yaml", "schemas/README.md", "schemas/FetchRequest.json.orig", "a.jsonl"]


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
    assert (review["entry"], review.get("args")) == ("kiplint review --base hook", None)
    assert (review["pass_filenames"], review["always_run"]) == (False, True)
    assert (check["entry"], check.get("args")) == ("kiplint check", None)
    assert (fix["entry"], fix["args"]) == ("kiplint check --fix", ["--base", "HEAD"])
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


# Commits


def definition_of(kind: str, versions: str = "0", **others: Any) -> str:
    whole = {
        "name": f"X{kind.capitalize()}", "type": kind, "apiKey": 1, "validVersions": versions, "flexibleVersions": "0+",
        **({"listeners": ["broker"]} if kind == "request" else {}), **others,
        "fields": [{"name": "A", "type": "string", "versions": "0+", "about": "One."}],
    }  # fmt: skip
    return json.dumps(whole, indent=2) + "\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with all hooks, run by the interpreter of the tests, and nothing committed."""
    git(tmp_path, "init", "-q", "-b", "main")
    hooks = []
    for hook in MANIFEST.values():
        words = hook["entry"].removeprefix("kiplint ")
        entry = f"{sys.executable} -m kiplint {words}"
        hooks.append({**hook, "language": "system", "entry": entry})
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def write(repository: Path, **files: str) -> None:
    folder = repository / "resources/message"
    folder.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text)


def commit_files(repository: Path, **files: str) -> None:
    write(repository, **files)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "before")


def run_hooks(repository: Path, *words: str) -> dict[str, tuple[bool, str]]:
    """By hook: whether it passes on the index, and its output."""
    git(repository, "add", "-A")
    env = {**environment(), "PRE_COMMIT_HOME": str(repository.parent / "pre-commit"), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "pre_commit", "run", "--color", "never", *words]
    process = subprocess.run(command, cwd=repository, env=env, capture_output=True, text=True, check=False)
    names = {hook["name"]: hook["id"] for hook in MANIFEST.values()}
    _, *parts = re.split(rf"(?m)^({'|'.join(map(re.escape, names))})\.+", process.stdout)
    outputs = {names[name]: text for name, text in zip(parts[::2], parts[1::2], strict=True)}
    assert outputs.keys() == set(names.values()), process.stdout + process.stderr
    return {hook: (not text.partition("\n")[0].endswith("Failed"), text) for hook, text in outputs.items()}


def test_a_first_commit_of_schemas_passes_unless_it_has_a_mistake(repository: Path) -> None:
    write(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    assert all(success for success, _ in run_hooks(repository).values())
    write(repository, XResponse=definition_of("response", "0-1"))
    success, output = run_hooks(repository)["kiplint-check"]
    assert not success
    assert "rpc/versions-differ" in output


def test_a_deleted_response_is_stopped_by_the_review(repository: Path) -> None:
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    (repository / "resources/message/XResponse.json").unlink()
    result = run_hooks(repository)
    assert not result["kiplint-review"][0]
    assert "rpc/response-missing" in result["kiplint-review"][1]
    assert "(no files to check)" in result["kiplint-check"][1]


def test_definitions_are_found_in_any_directory_and_other_json_is_skipped(repository: Path) -> None:
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    others = {
        "package.json": '{"name": "x", "type": "module"}',
        "tsconfig.json": '{"include": ["a"],}',
        "a.json": "[1, 2",
    }
    for name, text in others.items():
        (repository / name).write_text(text)
    assert all(success for success, _ in run_hooks(repository).values())
    (repository / "schemas").mkdir()
    (repository / "schemas/YData.json").write_text(
        definition_of("data", name="YData", apiKey=None).replace('"string"', '"strnig"')
    )
    result = run_hooks(repository)
    for hook in ("kiplint-check", "kiplint-fix"):
        assert not result[hook][0]
        assert "schemas/YData.json" in result[hook][1]
        assert "package.json" in result[hook][1]  # in the note


BROKEN = definition_of("response").replace('"string"', '"bytes"').replace('"A"', '"B"')


@pytest.mark.parametrize("words", [("--all-files",), ("--from-ref", "main", "--to-ref", "HEAD")])
def test_a_committed_break_fails_in_ci(repository: Path, words: tuple[str, ...]) -> None:
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    git(repository, "checkout", "-q", "-b", "topic")
    commit_files(repository, XResponse=BROKEN)
    git(repository, "checkout", "-q", "main")
    commit_files(repository, README="[]")  # the target goes on, and the branch is not to blame
    git(repository, "checkout", "-q", "topic")
    success, output = run_hooks(repository, *words)["kiplint-review"]
    assert not success
    assert "compat/layout-changed" in output
    assert "message-removed" not in output
    git(repository, "checkout", "-q", "-b", "clean", "main")
    assert run_hooks(repository, *words)["kiplint-review"][0]


def test_staged_changes_are_compared_with_head(repository: Path) -> None:
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    git(repository, "checkout", "-q", "-b", "topic")
    commit_files(repository, XResponse=BROKEN)
    (repository / "README.md").write_text("A commit without schemas.")
    assert run_hooks(repository)["kiplint-review"][0]
    write(repository, XResponse=definition_of("response"))
    assert not run_hooks(repository)["kiplint-review"][0]


def test_a_merge_is_not_blamed_for_what_it_merges(repository: Path) -> None:
    """The hook of a fork, while a person resolves the conflicts with upstream."""
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"), NOTES="[]")
    git(repository, "checkout", "-q", "-b", "upstream")
    commit_files(repository, XResponse=BROKEN, NOTES="[1]")
    git(repository, "checkout", "-q", "main")
    commit_files(repository, NOTES="[2]")
    git(repository, "merge", "upstream", fails=True)
    write(repository, NOTES="[1, 2]")
    assert run_hooks(repository)["kiplint-review"][0]
    write(repository, XResponse=BROKEN.replace('"bytes"', '"int8"'))
    success, output = run_hooks(repository)["kiplint-review"]
    assert not success
    assert "compat/layout-changed" in output


def test_the_check_reports_all_of_a_file_that_changes_and_the_others_what_is_new(repository: Path) -> None:
    bad_response = definition_of("response").replace('"string"', '"strnig"')
    commit_files(repository, XRequest=definition_of("request"), XResponse=bad_response)
    write(repository, XResponse=bad_response.replace("One.", "Two."))
    result = run_hooks(repository)
    assert {hook: success for hook, (success, _) in result.items()} == {
        "kiplint-review": True,
        "kiplint-check": False,
        "kiplint-fix": True,
    }
    assert "fields/unknown-type" in result["kiplint-check"][1]


def test_a_safe_fix_is_applied_and_stops_the_commit(repository: Path) -> None:
    commit_files(repository, XRequest=definition_of("request"), XResponse=definition_of("response"))
    write(repository, XRequest=definition_of("request").replace('"One."', '"One.",'))
    success, output = run_hooks(repository)["kiplint-fix"]
    assert not success
    assert "files were modified by this hook" in output
    assert (repository / "resources/message/XRequest.json").read_text() == definition_of("request")
