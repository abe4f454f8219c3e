"""The GitHub action: its steps, run as a runner runs them, over a repository with a base and a head."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from github_runner import Annotation, Outcome, Runner
from render.findings import valid_run
from sources.support import git, make_repository, write
from test_workflows import assert_valid
from tools import ABOUT_WARNING, definition, field, kiplint

sys.path.insert(0, str(ROOT / ".github/action"))

import run as action_run

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
MATCHER = ROOT / ".github/action/matcher.json"
SUFFIXES = ("Request", "Response")


def thing(**fields: dict[str, Any]) -> dict[str, bytes]:
    """A request and a response; `request` and `response` name a field more of the one and the other."""
    result = {}
    for suffix in SUFFIXES:
        more = [fields[suffix.lower()]] if suffix.lower() in fields else []
        common: dict[str, Any] = {"validVersions": "0-1", "flexibleVersions": "0+", "type": suffix.lower()}
        if suffix == "Request":
            common["listeners"] = ["broker"]
        text = definition(field("Id", "int32", about="Which thing."), *more, name=f"Thing{suffix}", **common)
        result[f"schemas/Thing{suffix}.json"] = b"// Version 1 is like version 0.\n" + text + b"\n"
    return result


GAP = field("Size", "int64", about="How large.", tag=1, taggedVersions="0+")
UNTOLD = field("Size", "int64", versions="1+", ignorable=True)


@pytest.fixture(scope="module")
def faultless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose one commit has a request and a response without any fault."""
    return make_repository(
        tmp_path_factory.mktemp("faultless") / "work tree", {**thing(), "kiplint.toml": ABOUT_WARNING}
    )


@pytest.fixture
def workspace(faultless: Path, tmp_path: Path) -> Path:
    """A work tree of its own, of that repository."""
    return shutil.copytree(faultless, tmp_path / "work tree")


@pytest.fixture
def runner(workspace: Path, tmp_path: Path) -> Runner:
    return Runner(workspace, tmp_path / "machine")


def pull_request(runner: Runner, base: str = "", **inputs: str) -> Outcome:
    """A run for a pull request that goes into a base, the first commit unless another is given."""
    base = base or git(runner.workspace, "rev-list", "--max-parents=0", "HEAD")
    return runner.run("pull_request", {"pull_request": {"base": {"sha": base}}}, **inputs)


def plain(summary: str) -> str:
    """A summary without the marks that keep GitHub from linking what looks like a commit."""
    return summary.replace("<!-- -->", "")


def change(workspace: Path, files: Mapping[str, bytes]) -> str:
    """Commit files; the id of the commit."""
    write(workspace, files)
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "head")
    return git(workspace, "rev-parse", "HEAD")


def test_nothing_is_wrong(runner: Runner) -> None:
    outcome = pull_request(runner)
    assert outcome.code == 0
    assert outcome.outputs == {"errors": "0", "warnings": "0", "infos": "0", "status": "ok"}
    assert outcome.log.annotations == []
    assert outcome.log.groups == ["kiplint review"]
    assert "2 files checked, no findings" in outcome.log.lines
    base = git(runner.workspace, "rev-parse", "--short", "HEAD")
    assert plain(outcome.summary) == f"## kiplint review\n\n### no findings in 2 files, compared with {base}.\n\n\n"


GAP_SAID = "tag 1 of Size comes after a gap: no field of ThingRequest has tag 0; tags count up from 0 without gaps"
UNTOLD_SAID = "Size has no about text; say in a sentence what it means"
BROKEN_SAID = (
    "ThingResponse 1, Size: Size is new in a released version; "
    'run `kiplint migrate bump Thing`, then give Size "versions": "2+"'
)
TAG_SAID = "ThingRequest 0-1, Size: Size comes with tag 1"
FAULTS = [
    Annotation("error", "schemas/ThingRequest.json:23:7-23:15", "tags/gap", GAP_SAID),
    Annotation("error", "schemas/ThingResponse.json:18:7-18:23", "compat/layout-changed", BROKEN_SAID),
    Annotation("warning", "schemas/ThingResponse.json:16:7-16:21", "style/about-missing", UNTOLD_SAID),
]
SUMMARY = f"""\
## kiplint review

### 2 errors and 1 warning in 2 files, compared with BASE: 1 breaks wire; 1 change that breaks nothing.

| severity | breaks | rule | place | what |
| --- | --- | --- | --- | --- |
| error |  | tags/gap | schemas/ThingRequest.json:23 | {GAP_SAID} |
| error | wire | compat/layout-changed | schemas/ThingResponse.json:18 | {BROKEN_SAID.replace("`", chr(92) + "`")} |
| warning |  | style/about-missing | schemas/ThingResponse.json:16 | {UNTOLD_SAID} |

Proof, by example messages:

- ThingResponse, compat/layout-changed: new writes version 1 as 000000000203040506070809\
00; old takes size 144964032628459529 at byte 4 for nothing
- ThingResponse, compat/layout-changed: old writes version 1 as 0000000000; new refuses at byte 4, int64 takes 8 bytes, \
1 are left

Breaks nothing:

- {TAG_SAID}

"""


def test_a_pull_request_with_faults(runner: Runner) -> None:
    change(runner.workspace, thing(request=GAP, response=UNTOLD))
    outcome = pull_request(runner)
    assert outcome.log.annotations == FAULTS
    base = git(runner.workspace, "rev-parse", "--short", "HEAD~1")
    assert plain(outcome.summary) == SUMMARY.replace("BASE", base)
    assert outcome.outputs == {"errors": "2", "warnings": "1", "infos": "0", "status": "findings"}
    assert outcome.code == 1
    assert outcome.log.groups == ["kiplint review"]
    assert outcome.log.matchers == [str(MATCHER)]
    assert f"error[tags/gap]: {GAP_SAID}" in outcome.log.lines


# The base


@pytest.fixture
def origin(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The remote of the work tree, which is the working directory: the release 1.0.0, and a commit above it, `next`."""
    change(workspace, thing(response=UNTOLD))
    git(workspace, "branch", "next")
    git(workspace, "clone", "-q", "--bare", str(workspace), str(tmp_path / "origin.git"))
    monkeypatch.chdir(workspace)
    return tmp_path / "origin.git"


@pytest.mark.parametrize(
    ("requested", "event", "expected"),
    [
        ("1.0.0", {}, "1.0.0"),
        ("next", {}, "next"),
        ("trunk~1", {}, "1.0.0"),
        ("none", {"pull_request": {"base": {"sha": "1.0.0"}}}, ""),
        ("", {}, ""),
        ("", {"pull_request": {"base": {"sha": "1.0.0"}}}, "1.0.0"),
        ("", {"merge_group": {"base_sha": "1.0.0"}}, "1.0.0"),
        ("", {"before": "1.0.0"}, "1.0.0"),
        ("", {"before": "next"}, "next"),
        ("", {"before": "0" * 40, "repository": {"default_branch": "trunk~1"}}, "1.0.0"),
    ],
)
@pytest.mark.usefixtures("origin")
def test_what_a_run_is_compared_with(requested: str, event: dict[str, Any], expected: str) -> None:
    base = action_run.base({"base": requested}, event)
    assert base == (git(Path(), "rev-parse", f"{expected}^{{commit}}") if expected else "none")


@pytest.mark.parametrize("base", ["1.0.0", "origin/old"])
def test_a_shallow_clone_gets_what_it_lacks(
    origin: Path, tmp_path: Path, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(origin, "branch", "old", "1.0.0")
    git(tmp_path, "clone", "-q", "--depth=1", "--single-branch", "--no-tags", f"file://{origin}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    assert action_run.base({"base": base}, {}) == git(origin, "rev-parse", "1.0.0^{commit}")


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("origin/--upload-pack=./planted", "there is no revision {}, and it cannot be fetched: "),
        ("origin/x:refs/heads/trunk", "there is no revision {}, and it cannot be fetched: "),
        ("origin/*", "there is no revision {}, and it cannot be fetched: "),
        ("nowhere", "there is no revision {}, and it cannot be fetched: fatal: couldn't find remote ref nowhere"),
        ("a\n::error::b", "there is no revision {}, and it cannot be fetched: "),
        ("--upload-pack=x", "a revision cannot begin with a hyphen: {}"),
    ],
)
def test_what_is_fetched_is_the_name_of_a_branch(origin: Path, workspace: Path, base: str, message: str) -> None:
    script = workspace / "planted"
    script.write_text("#!/bin/sh\ntouch pwned\n")
    script.chmod(0o755)
    git(workspace, "remote", "add", "origin", f"file://{origin}")
    git(origin, "branch", "x", "1.0.0")
    before = git(workspace, "for-each-ref")
    with pytest.raises(action_run.ActionError, match=f"^base: {re.escape(message.format(base))}"):
        action_run.base({"base": base}, {})
    assert not (workspace / "pwned").exists()
    assert git(workspace, "for-each-ref") == before


def test_a_merge_is_compared_with_its_first_parent(
    origin: Path, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As actions/checkout leaves it: one commit, the merge. The base in the event is older than the merge."""
    git(workspace, "checkout", "-q", "-b", "topic", "1.0.0")
    change(workspace, {"README.md": b"unrelated\n"})
    git(workspace, "checkout", "-q", "--detach", "next")
    git(workspace, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    merge = git(workspace, "rev-parse", "HEAD")
    git(workspace, "push", "-q", str(origin), "HEAD:refs/pull/7/merge")
    there = make_repository(tmp_path / "shallow", {"x": b""})
    git(there, "remote", "add", "origin", f"file://{origin}")
    git(there, "fetch", "-q", "--depth=1", "origin", "refs/pull/7/merge")
    git(there, "checkout", "-q", "FETCH_HEAD")
    old, new = (git(workspace, "rev-parse", f"{name}^{{commit}}") for name in ("1.0.0", "next"))
    monkeypatch.chdir(there)
    for sha, expected in ((merge, new), ("0" * 40, old)):
        monkeypatch.setenv("GITHUB_SHA", sha)
        assert action_run.base({"base": ""}, {"pull_request": {"base": {"sha": old}}}) == expected


# The command line

DEFAULTS = {name: str(item.get("default", "")) for name, item in ACTION["inputs"].items()}


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, ["--base=none", "--rollout=auto", "--", "."]),
        ({"paths": "schemas\n'more here'"}, ["--base=none", "--rollout=auto", "--", "schemas", "more here"]),
        ({"rollout": "true", "paths": "--help"}, ["--base=none", "--rollout=always", "--", "--help"]),
        ({"fail-on": "never", "fail-on-breaks": "wire"}, ["--fail-on=never", "--fail-on-breaks=wire"]),
        ({"released": "1.0.0 2.0.0"}, ["--released=1.0.0", "--released=2.0.0"]),
        (
            {"sarif-file": "a b.sarif", "formats": "junit=k.xml\n'json=k l.json'"},
            ["--output-format=sarif=a b.sarif", "--output-format=junit=k.xml", "--output-format=json=k l.json"],
        ),
    ],
)
def test_the_command_line(inputs: dict[str, str], expected: list[str]) -> None:
    words = list(action_run.words({**DEFAULTS, "base": "none", **inputs}, {}))
    assert [word for word in words if word in expected] == expected


@pytest.mark.parametrize(
    ("inputs", "title", "expected"),
    [
        ({"rollout": "yes"}, "kiplint", "rollout: auto, true or false, not yes"),
        ({"formats": "junit"}, "kiplint", "formats: FORMAT=FILE, not junit"),
        ({"paths": "'"}, "kiplint", "No closing quotation"),
        ({"paths": "--help"}, "kiplint review", "no such file or directory: --help"),
        ({"fail_on": "errors"}, "kiplint", "Invalid value for '--fail-on'"),
        ({"base": "nowhere"}, "kiplint", "base: there is no revision nowhere, and it cannot be fetched: "),
    ],
)
def test_a_mistake_is_an_error(runner: Runner, inputs: dict[str, str], title: str, expected: str) -> None:
    outcome = runner.run("push", None, "", **inputs)
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")
    (annotation,) = outcome.log.annotations
    assert (annotation.level, annotation.place, annotation.title) == ("error", "", title)
    assert expected in annotation.text


# The run


def test_a_configuration_that_cannot_be_read(runner: Runner) -> None:
    change(runner.workspace, {"kiplint.toml": b"selct = []\n"})
    outcome = runner.run("push")
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")
    assert "selct is not a key of the configuration; did you mean select?" in outcome.log.annotations[0].text
    assert outcome.summary.startswith("## kiplint review\n\nIt could not run: ")


def test_nothing_need_fail_it(runner: Runner) -> None:
    change(runner.workspace, thing(request=GAP, response=UNTOLD))
    outcome = pull_request(runner, fail_on="never")
    assert (outcome.code, outcome.outputs["status"], outcome.outputs["errors"]) == (0, "ok", "2")
    assert outcome.log.annotations == FAULTS


def test_the_configuration_of_a_pull_request_does_not_count(runner: Runner) -> None:
    change(runner.workspace, {**thing(request=GAP), "kiplint.toml": b'ignore = ["*"]\n'})
    outcome = pull_request(runner)
    assert (outcome.code, outcome.outputs["errors"], outcome.outputs["warnings"]) == (1, "1", "1")
    (note,) = (annotation for annotation in outcome.log.annotations if "the change sets" in annotation.text)
    assert note.place.startswith("kiplint.toml")


def sarif_runs(file: Path) -> list[Any]:
    """The runs of a log, each of which is checked like a log with one run."""
    document = json.loads(file.read_text("utf-8"))
    return [valid_run({**document, "runs": [run]}) for run in document["runs"]]


def test_reports_of_comparisons(runner: Runner) -> None:
    """Each report has the findings of all commands, one for each cause."""
    change(runner.workspace, thing(request=GAP, response=UNTOLD))
    outcome = pull_request(runner, rollout="true", formats="junit=out/k.xml json=out/k.json")
    assert outcome.code == 2
    rows = [annotation.text for annotation in outcome.log.annotations if annotation.title.startswith("kiplint ")]
    assert rows == ["cannot write out/k.xml: No such file or directory"]
    (runner.workspace / "out").mkdir()
    pull_request(runner, rollout="true", sarif_file="all.sarif", formats="junit=out/k.xml json=out/k.json")
    rules = ["tags/gap", "compat/layout-changed", "kip-1313/v3-missing", "style/about-missing"]
    (run,) = sarif_runs(runner.workspace / "all.sarif")
    assert run["automationDetails"]["id"] == "kiplint/review/"
    assert sorted(result["ruleId"] for result in run["results"]) == sorted(rules)
    document = json.loads((runner.workspace / "out/k.json").read_text("utf-8"))
    assert [(finding["rule"], finding["origin"], finding["breaks"]) for finding in document["findings"]] == [
        ("tags/gap", "check", "none"),
        ("compat/layout-changed", "diff", "wire"),
        ("kip-1313/v3-missing", "rollout", "none"),
        ("style/about-missing", "check", "none"),
    ]
    assert [addition["rule"] for addition in document["additions"]] == ["compat/new-tag"]
    assert document["rollout"]["summary"]["missing"] == 1


NASTY = "A\n::error file=x,line=1::forged\r\n##[error]forged %0A::error::forged\u2028::warning::forged"


@pytest.mark.parametrize(
    "name",
    [
        NASTY,
        "x.json:1:1: error a/b forged",
        "::endgroup::",
    ],
)
def test_a_name_cannot_forge_an_annotation(runner: Runner, name: str) -> None:
    both = definition(field("Id", "int32", about=name, tag=1), name=name, type="data", apiKey=None, about=name)
    folder = "".join(char for char in name if char not in "/\r")
    change(runner.workspace, {f"schemas/{folder}/X.json": both, **thing(response=field(name, "int64"))})
    outcome = pull_request(runner)
    for annotation in outcome.log.annotations:
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", annotation.title), annotation
        assert annotation.place.startswith("schemas/"), annotation
        assert "\n" not in annotation.text
        assert "\n" not in annotation.place
    assert "fields/invalid-name" in {annotation.title for annotation in outcome.log.annotations}
    assert (outcome.log.groups, outcome.log.matchers) == (
        ["kiplint review"],
        [str(MATCHER)],
    )
    assert set(outcome.outputs) == {"errors", "warnings", "infos", "status"}
    count = sum(int(value) for key, value in outcome.outputs.items() if key != "status")
    assert count == len(outcome.log.annotations)
    assert not [line for line in outcome.summary.splitlines() if line.startswith(("::", "##["))]


TRAPS = {
    f"{name}.py": b"raise SystemExit('trapped')\n"
    for name in ("kiplint", "typer", "msgspec", "json", "shlex", "pip", "hatchling", "sitecustomize")
}


def test_what_lies_in_the_work_tree_is_not_run(runner: Runner) -> None:
    change(runner.workspace, TRAPS)
    assert pull_request(runner).code == 0


PATTERNS: list[dict[str, Any]] = [
    matcher["pattern"][0] for matcher in json.loads(MATCHER.read_text("utf-8"))["problemMatcher"]
]


def read(line: str) -> list[dict[str, str]]:
    """What the problem matcher, which is for later steps, makes of a line."""
    result = [(pattern, re.search(pattern["regexp"], line)) for pattern in PATTERNS]
    keys = ("file", "line", "column", "severity", "code", "message")
    return [{key: match[keys_of[key]] for key in keys if key in keys_of} for keys_of, match in result if match]


@pytest.mark.parametrize("color", ["", "1"])
def test_the_matcher_reads_concise_lines(workspace: Path, color: str) -> None:
    parts = [
        field("Kind", about="Which part."),
        field("Size", "string", "1+", nullableVersions="1+", default="null", about="How large."),
    ]
    write(workspace, thing(request=GAP, response=field("Parts", "[]Part", about="All parts.", fields=parts)))
    result = kiplint("check", ".", "--output-format", "concise", cwd=workspace, env={"FORCE_COLOR": color})
    assert ("\x1b[" in result.out) == bool(color)
    [error], [warning] = map(read, result.out.splitlines())
    assert [*error.values()] == ["schemas/ThingRequest.json", "23", "7", "error", "tags/gap", GAP_SAID]
    assert [*warning] == ["file", "line", "column", "code", "message"]
    assert warning["message"].endswith('fails once it is set; write "ignorable": true')


def test_nothing_else_is_a_finding_to_the_matcher(runner: Runner) -> None:
    change(runner.workspace, thing(request=GAP, response=UNTOLD))
    assert [line for line in pull_request(runner).log.lines if read(line)] == []


def test_the_steps_are_safe() -> None:
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps] == ["Set up Python", "Install kiplint", "Run kiplint"]
    assert [step for step in steps if "${{" in step.get("run", "")] == []
    actions = [step["uses"] for step in steps if "uses" in step]
    assert [action for action in actions if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action)] == []
    assert steps[0]["if"] == "inputs.python-version != ''"


def test_every_input_reaches_the_script_and_every_output_comes_from_it() -> None:
    step = ACTION["runs"]["steps"][-1]
    assert step["env"] == {"INPUTS": "${{ toJSON(inputs) }}"}
    script = (ROOT / ".github/action/run.py").read_text("utf-8")
    assert [name for name in ACTION["inputs"] if f'"{name}"' not in script] == ["python-version"]
    assert {name: output["value"] for name, output in ACTION["outputs"].items()} == {
        name: f"${{{{ steps.{step['id']}.outputs.{name} }}}}" for name in ACTION["outputs"]
    }


GUIDE = (ROOT / "docs/guide/ci.md").read_text("utf-8")
EXAMPLES = [
    example
    for page in ("README.md", "docs/guide/ci.md")
    for example in re.findall(
        r'^```yaml title="(.+?)"\n(.*?)^```$', (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
]


@pytest.mark.parametrize("schema", ["vendor.gitlab-ci", "vendor.github-workflows"])
def test_the_examples_of_readme_and_guide_are_taken(tmp_path: Path, schema: str) -> None:
    files = [tmp_path / f"{number} {Path(name).name}" for number, (name, _) in enumerate(EXAMPLES)]
    folder = {"vendor.gitlab-ci": ".gitlab-ci.yml", "vendor.github-workflows": ".github/"}[schema]
    theirs = [name.startswith(folder) for name, _ in EXAMPLES]
    assert any(theirs)
    for file, (_, text) in zip(files, EXAMPLES, strict=True):
        file.write_text(text, "utf-8")
    assert_valid(schema, *compress(files, theirs))


def test_the_examples_give_only_inputs_that_there_are() -> None:
    parts = re.findall(r"uses: kiplint/kiplint@\S+.*\n +with:\n((?: {10}.*\n)+)", GUIDE)
    names = [name for part in parts for name in yaml.safe_load(part)]
    assert parts
    assert [name for name in names if name not in ACTION["inputs"]] == []
