"""The formats as `check`, `diff` and `rollout` write them: on GitHub, on GitLab, and several at once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.test_formats import SCHEMA
from sources.support import git
from tools import ABOUT_WARNING, definition, field, kiplint

from .findings import valid_run

WARNING = "B has no about text; describe the field in one sentence"
ERROR = "tag 1 of B comes after a gap: no field of Tags has tag 0; number the tags from 0 without gaps"
ANNOTATIONS = f"""\
::error file=set/Tags.json,line=9,endLine=9,col=54,endColumn=62,title=tags/gap::{ERROR}
::warning file=set/Tags.json,line=9,endLine=9,col=7,endColumn=18,title=style/about-missing::{WARNING}
"""
SUMMARY = f"""\
## kiplint check

### 1 error and 1 warning in 1 file.

| severity | rule | place | what |
| --- | --- | --- | --- |
| error | tags/gap | set/Tags.json:9 | {ERROR} |
| warning | style/about-missing | set/Tags.json:9 | {WARNING} |

"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A repository with a set that has findings, and one that has none."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "kiplint.toml").write_bytes(ABOUT_WARNING)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/Tags.json").write_bytes(SCHEMA)
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean/Tags.json").write_bytes(SCHEMA.replace(b'"tag": 1', b'"about": "Second.", "tag": 0'))
    return tmp_path


@pytest.fixture
def releases(here: Path) -> Path:
    """The same with two releases of an RPC: a version is new, and one that was released has another layout."""
    new_field = field("More", "int64", about="A number.")
    for name, valid, fields in (("old", "0-1", ()), ("new", "0-2", (new_field,))):
        (here / name).mkdir()
        for kind, more in (("Request", fields), ("Response", ())):
            text = definition(
                field(about="A number."),
                *more,
                name=f"X{kind}",
                type=kind.lower(),
                validVersions=valid,
                listeners=["broker"] if kind == "Request" else None,
            )
            (here / name / f"X{kind}.json").write_bytes(text)
    return here


@pytest.fixture
def on_github(here: Path) -> dict[str, str]:
    """The variables of a step of GitHub Actions, whose files are in the work tree."""
    files = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output.txt", "GITHUB_WORKSPACE": ""}
    return {"GITHUB_ACTIONS": "true", **{name: str(here / file) for name, file in files.items()}}


def sarif(*words: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Any:
    return valid_run(json.loads(kiplint(*words, "--output-format", "sarif", cwd=cwd, env=env).out))


def marks(run: Any) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]


def test_on_github(here: Path, on_github: dict[str, str]) -> None:
    assert kiplint("check", "set", cwd=here, env=on_github) == (1, ANNOTATIONS, "")
    assert (here / "summary.md").read_text("utf-8") == SUMMARY
    assert (here / "output.txt").read_text("utf-8") == "errors=1\nwarnings=1\ninfos=0\nstatus=findings\n"


def test_what_cannot_be_done_is_an_annotation_too(here: Path, on_github: dict[str, str]) -> None:
    run = kiplint("check", "mis%sing", cwd=here, env=on_github)
    assert run == (
        2,
        "::error title=kiplint check::no such file or directory: mis%25sing\n",
        "error: no such file or directory: mis%sing\n",
    )
    assert (here / "output.txt").read_text("utf-8") == "status=error\n"
    expected = "## kiplint check\n\nIt could not run: no such file or directory: mis%sing\n\n"
    assert (here / "summary.md").read_text("utf-8") == expected


@pytest.mark.parametrize("words", [["--output-format", "concise"], ["--output-format", "json=out.json"]])
def test_github_is_chosen_only_where_no_format_is(here: Path, on_github: dict[str, str], words: list[str]) -> None:
    run = kiplint("check", "set", *words, cwd=here, env=on_github)
    assert "::" not in run.out
    assert not (here / "output.txt").exists()


def test_paths_are_relative_to_the_workspace(here: Path, on_github: dict[str, str]) -> None:
    for where, name in ((here / "set", "Tags.json"), (here / "clean", "../set"), (here, here / "set")):
        run = kiplint("check", name, cwd=where, env=on_github)
        assert re.findall(r"file=([^,]*)", run.out) == ["set/Tags.json"] * 2


@pytest.mark.parametrize("command", ["diff", "rollout"])
def test_blank_lines_change_no_fingerprint_of_a_comparison(releases: Path, command: str) -> None:
    def read_outputs() -> tuple[list[str], list[Any], list[int]]:
        words = (command, "old", "new", "--output-format")
        rows = json.loads(kiplint(*words, "gitlab", cwd=releases).out)
        starts = [row["location"]["lines"]["begin"] for row in rows]
        return marks(sarif(*words[:-1], cwd=releases)), [row["fingerprint"] for row in rows], starts

    before = read_outputs()
    for path in (releases / "new").iterdir():
        path.write_bytes(b"\n" * 10 + path.read_bytes())
    after = read_outputs()
    assert after[:2] == before[:2]
    assert after[2] == [line + 10 for line in before[2]]
    assert len({*before[0]}) == len(before[0]) == (3 if command == "diff" else 1)


def test_files_of_a_revision_are_those_of_the_repository(releases: Path, on_github: dict[str, str]) -> None:
    (releases / ".git").rmdir()
    for words in ("init -q", "add old new", "commit -qm one"):
        git(releases, *words.split())
    for names in (("HEAD:old", "HEAD:new"), ("HEAD:old", "new"), ("HEAD:./old", "HEAD:new")):
        run = kiplint("diff", *names, cwd=releases, env=on_github)
        assert {*re.findall(r"file=([^,]*)", run.out)} == {"new/XRequest.json", "new/XResponse.json"}
    answer = sarif("diff", "HEAD:old", "HEAD:new", cwd=releases / "new")
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in answer["results"]}
    assert uris == {"new/XRequest.json", "new/XResponse.json"}


def test_the_top_of_the_repository_is_found_from_below(here: Path) -> None:
    (here / "set/deep").mkdir()
    answer = sarif("check", "..", cwd=here / "set/deep")
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in answer["results"]}
    assert uris == {"set/Tags.json"}
