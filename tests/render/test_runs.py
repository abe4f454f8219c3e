"""The formats as `check`, `diff` and `rollout` write them: on GitHub, on GitLab, and several at once."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml

from cli.test_formats import SCHEMA
from tools import ABOUT_WARNING, Ran, definition, field, kiplint

from .sarif_schema import valid_run

WARNING = "B has no about text; say in a sentence what it means"
ERROR = "tag 1 of B comes after a gap: no field of Tags has tag 0; tags count up from 0 without gaps"
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


class Runner:
    """Plays the runner of GitHub Actions: the files of one step, and the variables that name them."""

    def __init__(self, workspace: Path) -> None:
        self.summary, self.output = workspace / "summary.md", workspace / "output.txt"
        self.env = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
        }

    def run(self, *words: str | Path, cwd: Path, **env: str) -> Ran:
        return kiplint(*words, cwd=cwd, env={**self.env, **env})

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text("utf-8").splitlines())


@pytest.fixture
def runner(here: Path) -> Runner:
    return Runner(here)


def sarif(*words: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Any:
    return valid_run(json.loads(kiplint(*words, "--output-format", "sarif", cwd=cwd, env=env).out))


def marks(run: Any) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]


def test_on_github(here: Path, runner: Runner) -> None:
    assert runner.run("check", "set", cwd=here) == (1, ANNOTATIONS, "")
    assert runner.summary.read_text("utf-8") == SUMMARY
    assert runner.output.read_text("utf-8") == "errors=1\nwarnings=1\ninfos=0\nstatus=findings\n"


def test_a_clean_run_on_github(here: Path, runner: Runner) -> None:
    assert runner.run("check", "clean", cwd=here) == (0, "", "")
    assert runner.summary.read_text("utf-8") == "## kiplint check\n\nnothing found in 1 file.\n\n\n"
    assert runner.outputs() == {"errors": "0", "warnings": "0", "infos": "0", "status": "ok"}


def test_the_status_is_that_of_the_exit_code(here: Path, runner: Runner) -> None:
    run = runner.run("check", "set", "--fail-on", "never", cwd=here)
    assert (run.code, runner.outputs()["status"], runner.outputs()["errors"]) == (0, "ok", "1")


def test_what_cannot_be_done_is_an_annotation_too(here: Path, runner: Runner) -> None:
    run = runner.run("check", "mis%sing", cwd=here)
    assert run == (
        2,
        "::error title=kiplint check::no such file or directory: mis%25sing\n",
        "error: no such file or directory: mis%sing\n",
    )
    assert runner.outputs() == {"status": "error"}
    expected = "## kiplint check\n\nIt could not run: no such file or directory: mis%sing\n\n"
    assert runner.summary.read_text("utf-8") == expected


def test_what_could_not_be_compared_is_an_error(releases: Path, runner: Runner) -> None:
    (releases / "new/XResponse.json").write_bytes(b'{"name": "XResponse", "validVersions":')
    run = runner.run("diff", "old", "new", cwd=releases)
    assert (run.code, runner.outputs()["status"]) == (2, "error")
    assert "\n\nSomething could not be read.\n\n" in runner.summary.read_text("utf-8")


def test_steps_add_to_what_is_there(here: Path, runner: Runner) -> None:
    runner.summary.write_text("before\n")
    runner.output.write_text("before=1\n")
    runner.run("check", "set", cwd=here)
    assert runner.summary.read_text("utf-8") == f"before\n{SUMMARY}"
    assert runner.outputs() == {"before": "1", "errors": "1", "warnings": "1", "infos": "0", "status": "findings"}


def test_files_of_the_runner_that_cannot_be_written(here: Path, runner: Runner) -> None:
    run = runner.run("check", "set", cwd=here, GITHUB_STEP_SUMMARY=str(here))
    assert (run.code, run.err) == (2, f"error: cannot write {here}: Is a directory\n")


def test_annotations_anywhere_else(here: Path) -> None:
    assert kiplint("check", "set", "--output-format", "github", cwd=here) == (1, ANNOTATIONS, "")


@pytest.mark.parametrize("words", [["--output-format", "concise"], ["--output-format", "json=out.json"]])
def test_github_is_chosen_only_where_no_format_is(here: Path, runner: Runner, words: list[str]) -> None:
    run = runner.run("check", "set", *words, cwd=here)
    assert "::" not in run.out
    assert not runner.output.exists()


def test_github_is_chosen_only_by_github(here: Path) -> None:
    for value in ("false", ""):
        assert kiplint("check", "set", cwd=here, env={"GITHUB_ACTIONS": value}).out.startswith("error[tags/")


def test_quiet_and_statistics_on_github(here: Path, runner: Runner) -> None:
    assert runner.run("check", "set", "-q", cwd=here) == (1, "", "")
    assert runner.outputs()["errors"] == "1"
    run = runner.run("check", "set", "--statistics", cwd=here)
    assert run.out == f"{ANNOTATIONS}1  warning  style/about-missing\n1  error    tags/gap\n"


def test_paths_are_relative_to_the_workspace(here: Path, runner: Runner) -> None:
    for where, name in ((here / "set", "Tags.json"), (here / "clean", "../set"), (here, here / "set")):
        run = runner.run("check", name, cwd=where)
        assert re.findall(r"file=([^,]*)", run.out) == ["set/Tags.json"] * 2


def test_paths_outside_the_workspace_are_as_given(here: Path, runner: Runner) -> None:
    run = runner.run("check", "set", cwd=here, GITHUB_WORKSPACE=str(here / "clean"))
    assert re.findall(r"file=([^,]*)", run.out) == ["set/Tags.json"] * 2
    run = runner.run("check", here / "set", cwd=Path("/"), GITHUB_WORKSPACE=str(here / "clean"))
    assert {path.lstrip("/") for path in re.findall(r"file=([^,]*)", run.out)} == {str(here / "set/Tags.json")[1:]}


def test_odd_paths(here: Path, runner: Runner) -> None:
    for name in ("C:\\a,b\\100%.json", "世界 🎉.json", "#1?.json"):
        (here / "set/Tags.json").rename(here / "set" / name)
        (line, _) = runner.run("check", "set", cwd=here).out.splitlines()
        escaped_name = name.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        assert line.startswith(f"::error file=set/{escaped_name},line=9,")
        uris = [
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for result in sarif("check", "set", cwd=here)["results"]
        ]
        assert {
            re.sub("%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), uri).encode("latin-1").decode()
            for uri in uris
        } == {f"set/{name}"}
        (here / "set" / name).rename(here / "set/Tags.json")


def test_rules_of_a_check_are_described(here: Path) -> None:
    gap, about = sorted(
        sarif("check", "set", cwd=here)["tool"]["driver"]["rules"], key=lambda rule: rule["id"], reverse=True
    )
    assert (gap["id"], about["id"]) == ("tags/gap", "style/about-missing")
    assert gap["shortDescription"] == {"text": "A gap in the tags"}
    assert gap["fullDescription"]["text"].startswith("Kafka's generator requires the tags of a struct without gaps")
    assert "Source: KIP-482\n\n`kiplint explain tags/gap`" in gap["help"]["markdown"]
    assert "`// kiplint: ignore[tags/gap] reason`" in gap["help"]["markdown"]
    assert about["properties"]["problem.severity"] == "warning"


def test_the_severity_of_a_rule_is_the_configured_one(here: Path) -> None:
    result = sarif("check", "set", "--severity", "tags/gap=info", "--select", "tags", cwd=here)
    (rule,) = result["tool"]["driver"]["rules"]
    assert (rule["defaultConfiguration"], result["results"][0]["level"]) == ({"level": "note"}, "note")


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


def test_additions_are_not_failures(releases: Path) -> None:
    text = kiplint("diff", "old", "new", "--output-format", "junit", cwd=releases).out
    cases = [
        (case.name, [type(item).__name__ for item in case.result])
        for suite in JUnitXml.fromstring(text.encode())
        for case in suite
    ]
    assert sorted(cases) == [
        (
            'compat/layout-changed: XRequest 0-1, More: More is new in a released version; give More "versions": "2+"',
            ["Failure"],
        ),
        ("compat/new-version: XRequest: version 2 is new", []),
        ("compat/new-version: XResponse: version 2 is new", []),
    ]


def test_every_clean_file_is_a_passing_suite(here: Path) -> None:
    (here / "set/Other.json").write_bytes((here / "clean/Tags.json").read_bytes().replace(b"Tags", b"Other"))
    root = ElementTree.fromstring(kiplint("check", "set", "clean", "--output-format", "junit", cwd=here).out)
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [
        ("set/Other.json", "0"), ("set/Tags.json", "2"), ("clean/Tags.json", "0"),
    ]  # fmt: skip


def test_only_requested_files_are_suites(here: Path) -> None:
    (here / "set/Other.json").write_bytes((here / "clean/Tags.json").read_bytes().replace(b"Tags", b"Other"))
    root = ElementTree.fromstring(kiplint("check", "set/Other.json", "--output-format", "junit", cwd=here).out)
    assert [suite.get("name") for suite in root] == ["set/Other.json"]


def test_a_diff(releases: Path, runner: Runner) -> None:
    run = runner.run("diff", "old", "new", cwd=releases)
    assert (run.code, run.err) == (1, "")
    assert run.out.splitlines()[0] == (
        "::error file=new/XRequest.json,line=20,endLine=20,col=7,endColumn=23,title=compat/layout-changed"
        '::XRequest 0-1, More: More is new in a released version; give More "versions": "2+"'
    )
    assert {line.split(" ")[0] for line in run.out.splitlines()[1:]} == {"::notice"}
    summary = runner.summary.read_text("utf-8")
    assert summary.startswith("## kiplint diff\n\n### new against old: 1 change breaks wire; 2 break nothing.")
    assert (
        "| error | wire | compat/layout-changed | new/XRequest.json:20 "
        '| XRequest 0-1, More: More is new in a released version; give More "versions": "2+" |\n'
    ) in summary
    assert runner.outputs() == {"errors": "1", "warnings": "0", "infos": "2", "status": "findings"}


def test_a_diff_as_sarif(releases: Path) -> None:
    answer = sarif("diff", "old", "new", cwd=releases)
    assert answer["automationDetails"]["id"] == "kiplint/diff/"
    by_rule = {result["ruleId"]: result for result in answer["results"]}
    (location,) = by_rule["compat/new-version"]["relatedLocations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"].startswith("old/X")
    rules = {rule["id"]: rule for rule in answer["tool"]["driver"]["rules"]}
    assert "`--ignore compat/layout-changed`" in rules["compat/layout-changed"]["help"]["markdown"]


def test_a_diff_as_markdown(releases: Path) -> None:
    run = kiplint("diff", "old", "new", "--output-format", "markdown", cwd=releases)
    head, _, bullet, _, step, _, columns, *rows = run.out.splitlines()
    assert head.startswith("### new against old: 1 change breaks wire; 2 break nothing.")
    assert step == 'For the first: give More "versions": "2+".'
    assert bullet == "- XRequest 0-1, More: More is new in a released version (wire)"
    assert columns == "| severity | breaks | rule | place | what |"
    assert [row.split(" | ")[1] for row in rows[1:4]] == ["wire", "nothing", "nothing"]
    assert rows[4:7] == ["", "Proof, by example messages:", ""] and rows[7].startswith("- XRequest, compat/")
    assert kiplint("diff", "old", "old", "--output-format", "markdown", cwd=releases) == (0, "", "")


def test_a_rollout(releases: Path, runner: Runner) -> None:
    text = "the latest version of X (2) uses header 1; bump it to 3 with header 3"
    run = runner.run("rollout", "old", "new", cwd=releases)
    assert (run.code, run.err) == (1, "")
    (line,) = run.out.splitlines()
    assert line.startswith("::error file=new/XRequest.json,line=5,endLine=5,")
    assert line.endswith(f"title=kip-1313/v3-missing::{text}")
    summary = runner.summary.read_text("utf-8")
    assert summary.startswith("## kiplint rollout\n\n### Request header 3: 1 missing.\n\n")
    assert f"| X | 1 | missing | 0-1 | 0-2 | 0-2: 1 | {text} |\n" in summary
    assert runner.outputs()["status"] == "findings"


def test_a_rollout_as_sarif_and_junit(releases: Path) -> None:
    result = sarif("rollout", "old", "new", cwd=releases)
    assert result["automationDetails"]["id"] == "kiplint/rollout/"
    (rule,) = result["tool"]["driver"]["rules"]
    assert rule["id"] == "kip-1313/v3-missing"
    assert "ignore" not in rule["help"]["markdown"]
    root = ElementTree.fromstring(kiplint("rollout", "old", "new", "--output-format", "junit", cwd=releases).out)
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [
        ("new/XRequest.json", "1"), ("new/XResponse.json", "0"),
    ]  # fmt: skip


def git(*words: str, cwd: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


def test_files_of_a_revision_are_those_of_the_repository(releases: Path, runner: Runner) -> None:
    (releases / ".git").rmdir()
    git("init", "-q", cwd=releases)
    git("add", "old", "new", cwd=releases)
    git("commit", "-qm", "one", cwd=releases)
    for names in (("HEAD:old", "HEAD:new"), ("HEAD:old", "new"), ("HEAD:./old", "HEAD:new")):
        run = runner.run("diff", *names, cwd=releases)
        assert {*re.findall(r"file=([^,]*)", run.out)} == {"new/XRequest.json", "new/XResponse.json"}
    answer = sarif("diff", "HEAD:old", "HEAD:new", cwd=releases / "new")
    places = [
        result[kind][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in answer["results"]
        for kind in ("locations", "relatedLocations")
        if kind in result
    ]
    assert {*places} == {"new/XRequest.json", "new/XResponse.json", "old/XRequest.json", "old/XResponse.json"}
    assert "HEAD:old/XRe" in json.dumps(answer)


def test_standard_input_keeps_its_name(here: Path) -> None:
    result = kiplint("check", "-", "--output-format", "github", cwd=here / "set", stdin=SCHEMA).out
    assert {*re.findall(r"file=([^,]*)", result)} == {"<stdin>"}


def test_the_top_of_the_repository_is_found_from_below(here: Path) -> None:
    (here / "set/deep").mkdir()
    answer = sarif("check", "..", cwd=here / "set/deep")
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in answer["results"]}
    assert uris == {"set/Tags.json"}
    rows = json.loads(
        kiplint("check", "set", "--output-format", "gitlab", cwd=here, env={"CI_PROJECT_DIR": str(here / "set")}).out
    )
    assert {row["location"]["path"] for row in rows} == {"Tags.json"}
