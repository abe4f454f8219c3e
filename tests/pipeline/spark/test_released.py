"""A version that no release had at the time of a commit may change in it: the lake judges as `diff --released` does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import kiplint
from kiplint.commands.pipeline.result import lake_diff
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.stage import Engine
from tools import definition, field

from .conftest import SILENT

STAGES = ("ingest", "describe", "compare")
STEPS = (
    ("0-1", "int32", "", False),
    ("0-2", "int32", "int32", False),
    ("0-2", "int32", "int64", False),
    ("0-2", "int32", "string", False),
    ("0-2", "int64", "string", False),
    ("0-2", "int32", "string", True),
    ("0-2", "int32", "uuid", True),
    ("0-2", "int32", "uuid", False),
)
"""The commits: the valid versions of an RPC, the types of A (0+) and B (2+), and whether version 2 is unstable."""
TAGS = {"1.0.0": 0, "1.1.0": 2, "latest": 3, "1.2.0": 5}
"""The commits that are tagged."""
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    repository = tmp_path_factory.mktemp("released") / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", repository], check=True)
    commits = []
    for at, (valid, a, b, unstable) in enumerate(STEPS):
        for half, more in (("Request", {"latestVersionUnstable": True} if unstable else {}), ("Response", {})):
            fields = [field("A", a), *([field("B", b, "2+")] if b else [])]
            properties = {"name": f"X{half}", "type": half.lower(), "apiKey": 40, "validVersions": valid, **more}
            (repository / f"X{half}.json").write_bytes(definition(*fields, flexibleVersions="0+", **properties))
        date = f"2024-01-{at + 1:02}T12:00:00+00:00"
        git(repository, "add", "-A")
        subprocess.run(
            ["git", *WHO, "commit", "-qm", str(at), "--date", date],
            cwd=repository,
            check=True,
            env={"GIT_COMMITTER_DATE": date, "PATH": "/usr/bin:/bin"},
        )
        commits.append(git(repository, "rev-parse", "HEAD"))
    return repository, commits


def git(repository: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def test_a_commit_is_judged_as_diff_judges_it(
    commits: tuple[Path, list[str]], spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, ids = commits
    monkeypatch.chdir(repository)
    lake = Lake(tmp_path / "lake")
    (tmp_path / "kiplint.toml").write_text('released = ["1.*"]\n')
    engine = Engine.of(make_ruleset(Config(), load_rules(Config(), "")), ["1.*"])
    request = Request((f"x={repository}#main", f"x={repository}#tags"), config=str(tmp_path / "kiplint.toml"))
    released = [tag for tag in TAGS if tag.startswith("1.")]
    for tags in (released[:2], released):  # a release that comes later counts for the commits after it
        for tag in tags:
            git(repository, "tag", "-f", tag, ids[TAGS[tag]])
        git(repository, "tag", "-f", "latest", ids[TAGS["latest"]])
        run(lake, request, engine, lambda: spark, SILENT, STAGES)
        for at in range(1, len(ids)):
            before = [tag for tag in tags if TAGS[tag] < at]
            expected = kiplint.diff(f"{ids[at - 1]}:", f"{ids[at]}:", released=before, config={})
            assert read_changes(lake, "main", ids[at]) == rows_of(expected), at
    assert read_changes(lake, "main", ids[2]) == [("compat/unstable-changed", "none", "2")] * 2
    assert read_changes(lake, "main", ids[3]) == [("compat/layout-changed", "wire", "2")] * 2
    expected = kiplint.diff("1.0.0:", f"{ids[6]}:", released=released, config={})
    result = lake_diff(Reader(lake), f"x:1.0.0..{ids[6]}")
    assert rows_of(result) == rows_of(expected)


def read_changes(lake: Lake, lineage: str, commit: str) -> list[tuple[str, str, str]]:
    sql = "SELECT rule, breaks, versions FROM set_changes WHERE source = 'x' AND lineage = $1 AND commit = $2"
    return sorted(tuple(row.values()) for row in Reader(lake).duck.rows(sql, [lineage, commit]))


def rows_of(result: kiplint.DiffResult) -> list[tuple[str, str, str]]:
    return sorted((change.rule, change.breaks, change.versions) for change in result.changes)
