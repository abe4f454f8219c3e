"""The workflows: valid, pinned, allowed no more than they need, and about the versions that the project names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner

from conftest import ROOT

FOLDER = ROOT / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.iterdir())
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def workflow(name: str) -> dict[Any, Any]:
    result: dict[Any, Any] = yaml.safe_load((FOLDER / name).read_text("utf-8"))
    return result


def steps(name: str) -> Iterator[dict[str, Any]]:
    for job in workflow(name)["jobs"].values():
        yield from job.get("steps", ())


def assert_valid(schema: str, *files: Path) -> None:
    """Hold files to a schema that comes with check-jsonschema."""
    result = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, *map(str, files)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.github-workflows", "workflows/*.yml"),
        ("custom.github-workflows-require-timeout", "workflows/*.yml"),
        ("vendor.github-actions", "../action.yml"),
        ("vendor.github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("vendor.github-issue-config", "ISSUE_TEMPLATE/config.yml"),
    ],
)
def test_github_takes_them(schema: str, pattern: str) -> None:
    assert_valid(schema, *(ROOT / ".github").glob(pattern))


@pytest.mark.parametrize("file", [*(FOLDER / name for name in NAMES), ROOT / "action.yml"], ids=lambda file: file.name)
def test_actions_of_others_are_pinned_by_commit(file: Any) -> None:
    actions = re.findall(r"uses: (.*)", file.read_text("utf-8"))
    strangers = [action for action in actions if not action.startswith("./")]
    assert strangers
    assert [
        action for action in strangers if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_nobody_may_more_than_is_needed(name: str) -> None:
    result = workflow(name)
    assert set(result["permissions"].items()) <= {("contents", "read")}
    more = {job: job_entry["permissions"] for job, job_entry in result["jobs"].items() if "permissions" in job_entry}
    permissions = {"checks": {"contents": "read"}, "build": {"contents": "read"}, "publish": {"id-token": "write"}}
    assert more == (permissions if name == "release.yml" else {})
    checkouts = [step for step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
    assert [step for step in checkouts if step["with"].get("persist-credentials") is not False] == []


def test_what_they_run_is_there_and_has_nothing_in_it_that_a_stranger_writes() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    scripts = [step["run"] for name in NAMES for step in steps(name) if "run" in step]
    assert [text for text in scripts if "${{" in text] == []
    assert {target for text in scripts for target in re.findall(r"\bmake ([a-z-]+)", text)} <= targets
    assert [path for text in scripts for path in re.findall(r"^\S+/\S+", text) if not (ROOT / path).is_file()] == []


def test_the_checks_run_on_the_oldest_and_the_newest_python_that_is_promised() -> None:
    pythons = workflow("checks.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"]
    versions = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert pythons == [versions[0], versions[-1]]
    assert PROJECT["project"]["requires-python"] == f">={pythons[0]}"


def test_all_tests_have_the_corpus() -> None:
    """The job that makes it, and the one that runs tests, agree on the place; it is made again when it changes."""
    checks = workflow("checks.yml")
    jobs = checks["jobs"]
    assert jobs["tests"]["needs"] == "corpus"
    [cache], [restored] = (
        [step["with"] for step in jobs[name]["steps"] if "cache" in step.get("uses", "")]
        for name in ("corpus", "tests")
    )
    assert cache["path"] == checks["env"]["KIPLINT_CORPUS"]
    assert restored == {**cache, "fail-on-cache-miss": True}
    assert all((ROOT / file).is_file() for file in re.findall(r"'(.+?)'", cache["key"]))
    assert 'make_corpus.py "$KIPLINT_CORPUS"' in str(jobs["corpus"]["steps"])


def test_the_nightly_comparison_is_with_the_commit_of_the_corpus_and_with_trunk() -> None:
    matrix = workflow("nightly.yml")["jobs"]["generator"]["strategy"]["matrix"]
    trunk = [
        line.split() for line in (ROOT / "scripts/corpus.txt").read_text("utf-8").splitlines() if line[:6] == "trunk "
    ]
    assert matrix["ref"] == [trunk[-1][2], "trunk"]


def test_a_release_is_checked_and_built_before_it_is_published() -> None:
    result = workflow("release.yml")
    jobs = result["jobs"]
    assert result[True] == {"push": {"tags": ["v[0-9]*"]}}  # YAML 1.1 takes `on` for a truth value
    assert jobs["checks"]["uses"] == "./.github/workflows/checks.yml"
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("checks", "build")
    assert jobs["publish"]["environment"]["name"] == "pypi"
    (*_, last) = jobs["publish"]["steps"]
    assert last["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert last["with"]["attestations"] is True
    assert "password" not in last["with"]
