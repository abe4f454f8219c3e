"""The GitHub action: its last step, run as a runner runs it, over a repository with a base and a head."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import requires
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conftest import ROOT
from render.findings import valid_run
from sources.support import git, make_repository, write
from test_workflows import assert_valid
from tools import ABOUT_WARNING, definition, environment, field, kiplint

sys.path.insert(0, str(ROOT / ".github/action"))

import run as action_run

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
DEFAULTS = {name: str(item.get("default", "")) for name, item in ACTION["inputs"].items()}
MATCHER = ROOT / ".github/action/matcher.json"
COMMANDS = {"error", "warning", "notice", "group", "endgroup", "add-matcher", "remove-matcher", "add-mask", "debug"}


class Annotation(NamedTuple):
    """A note on a file: its level, where it stands (`file:line:col-endLine:endColumn`), its title and its text."""

    level: str
    place: str
    title: str
    text: str


class Outcome(NamedTuple):
    """How the step ended, and what the runner makes of what it printed and wrote."""

    code: int
    annotations: list[Annotation]
    others: list[tuple[str, str]]
    """The other commands with their data."""
    lines: list[str]
    summary: str
    outputs: dict[str, str]


def read_log(output: str) -> tuple[list[Annotation], list[tuple[str, str]], list[str]]:
    """The annotations, the other commands, and the lines of text, as GitHub's runner reads them.

    A command is `::name k=v,k=v::data` at the beginning of a line, or `##[name k=v;k=v]data` anywhere.
    """
    annotations: list[Annotation] = []
    others: list[tuple[str, str]] = []
    lines: list[str] = []
    token = ""
    for line in output.split("\n"):
        new = re.match(r"\s*::([^ :]+)(?: (.*?))?::(.*)", line)
        old = re.search(r"##\[([^ \]]+)(?: ([^\]]*))?\](.*)", line)
        known = {token} if token else COMMANDS | {"stop-commands"}
        match = next((match for match in (new, old) if match and match[1] in known), None)
        if match is None:
            lines.append(line)
            continue
        name, data = match[1], unescape(match[3])
        if name in (token, "stop-commands"):
            token = "" if token else data
        elif name in ("error", "warning", "notice"):
            pairs = [pair.partition("=") for pair in re.split("[,;]", match[2] or "")]
            values = {key.strip(): unescape(value) for key, _, value in pairs}
            start, end = (
                ":".join(values[key] for key in keys if key in values)
                for keys in (("file", "line", "col"), ("endLine", "endColumn"))
            )
            annotations.append(Annotation(name, f"{start}-{end}" if start else "", values.get("title", ""), data))
        elif name != "endgroup":
            others.append((name, data))
    return annotations, others, lines


def unescape(text: str) -> str:
    """Workflow commands escape as URLs do, but only `%`, line ends, colons and commas."""
    return re.sub("%(25|0D|0A|3A|2C)", lambda match: unquote(match[0]), text)


def run_action(workspace: Path, event: str, payload: Mapping[str, Any], **inputs: str) -> Outcome:
    """Run the last step of the action for an event, with inputs (`_` for `-`)."""
    machine = workspace.parent / "machine"
    (machine / "temp").mkdir(parents=True, exist_ok=True)
    values = DEFAULTS | {name.replace("_", "-"): value for name, value in inputs.items()}
    assert values.keys() == DEFAULTS.keys()
    step = ACTION["runs"]["steps"][-1]
    texts = {"event.json": json.dumps(payload), "script.sh": step["run"], "output": "", "summary": ""}
    write(machine, {name: text.encode() for name, text in texts.items()})
    env = environment(
        INPUTS=json.dumps(values),
        CI="true",
        GITHUB_ACTIONS="true",
        GITHUB_ACTION_PATH=str(ROOT),
        GITHUB_EVENT_NAME=event,
        GITHUB_EVENT_PATH=str(machine / "event.json"),
        GITHUB_OUTPUT=str(machine / "output"),
        GITHUB_SHA="",
        GITHUB_STEP_SUMMARY=str(machine / "summary"),
        GITHUB_WORKSPACE=str(workspace),
        RUNNER_TEMP=str(machine / "temp"),
        PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    )
    words = [step["shell"], "--noprofile", "--norc", "-e", "-o", "pipefail", machine / "script.sh"]
    process = subprocess.run(
        words, cwd=workspace, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    output = process.stdout.decode()
    assert "Traceback" not in output, output
    outputs = dict(line.split("=", 1) for line in (machine / "output").read_text("utf-8").splitlines())
    return Outcome(process.returncode, *read_log(output), (machine / "summary").read_text("utf-8"), outputs)


def thing(**fields: dict[str, Any]) -> dict[str, bytes]:
    """A request and a response; `request` and `response` name a field more of the one and the other."""
    result = {}
    for suffix in ("Request", "Response"):
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


def pull_request(workspace: Path, **inputs: str) -> Outcome:
    """A run for a pull request that goes into the first commit."""
    base = git(workspace, "rev-list", "--max-parents=0", "HEAD")
    return run_action(workspace, "pull_request", {"pull_request": {"base": {"sha": base}}}, **inputs)


def change(workspace: Path, files: Mapping[str, bytes]) -> None:
    """Commit files."""
    write(workspace, files)
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "head")


GAP_SAID = "tag 1 of Size comes after a gap: no field of ThingRequest has tag 0; number the tags from 0 without gaps"
UNTOLD_SAID = "Size has no about text; describe the field in one sentence"
BROKEN_SAID = (
    "ThingResponse 1, Size: Size was added to a released version; "
    'give Size "versions": "2+", then run `kiplint migrate bump Thing`'
)
TAG_SAID = "ThingRequest 0-1, Size: Size was added with tag 1; data without it reads as 0"
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

- ThingResponse, compat/layout-changed: new writes version 1 as 00000001000000000000000200; old reads size 2 at byte 4 \
as the number of tagged fields
- ThingResponse, compat/layout-changed: old writes version 1 as 0000000000; new fails at byte 4: int64 takes 8 bytes, \
1 is left, and closes the connection

Breaks nothing:

- {TAG_SAID}

"""


PATTERNS: list[dict[str, Any]] = [
    matcher["pattern"][0] for matcher in json.loads(MATCHER.read_text("utf-8"))["problemMatcher"]
]


def read(line: str) -> list[dict[str, str]]:
    """What the problem matcher, which is for later steps, makes of a line."""
    result = [(pattern, re.search(pattern["regexp"], line)) for pattern in PATTERNS]
    keys = ("file", "line", "column", "severity", "code", "message")
    return [{key: match[keys_of[key]] for key in keys if key in keys_of} for keys_of, match in result if match]


def test_a_pull_request_with_faults(workspace: Path) -> None:
    change(workspace, thing(request=GAP, response=UNTOLD))
    outcome = pull_request(workspace, sarif_file="k.sarif", formats="json=k.json")
    assert (outcome.annotations, outcome.code) == (FAULTS, 1)
    assert outcome.outputs == {"errors": "2", "warnings": "1", "infos": "0", "status": "findings"}
    assert outcome.others == [("group", "kiplint review"), ("add-matcher", str(MATCHER))]
    assert f"error[tags/gap]: {GAP_SAID}" in outcome.lines
    assert [line for line in outcome.lines if read(line)] == []
    base = git(workspace, "rev-parse", "--short", "HEAD~1")
    assert outcome.summary.replace("<!-- -->", "") == SUMMARY.replace("BASE", base)
    run = valid_run(json.loads((workspace / "k.sarif").read_text("utf-8")))
    assert run["automationDetails"]["id"] == "kiplint/review/"
    assert {result["ruleId"] for result in run["results"]} == {annotation.title for annotation in FAULTS}
    document = json.loads((workspace / "k.json").read_text("utf-8"))
    assert [(finding["rule"], finding["origin"], finding["breaks"]) for finding in document["findings"]] == [
        ("tags/gap", "check", "none"),
        ("compat/layout-changed", "diff", "wire"),
        ("style/about-missing", "check", "none"),
    ]
    assert [addition["rule"] for addition in document["additions"]] == ["compat/new-tag"]


def test_a_pull_request_without_faults(workspace: Path) -> None:
    """What lies in its work tree is not run."""
    names = ("kiplint", "typer", "msgspec", "json", "shlex", "pip", "hatchling", "sitecustomize")
    change(workspace, {f"{name}.py": b"raise SystemExit('trapped')\n" for name in names})
    outcome = pull_request(workspace)
    assert (outcome.code, outcome.annotations) == (0, [])
    assert outcome.outputs == {"errors": "0", "warnings": "0", "infos": "0", "status": "ok"}
    assert "2 files checked, no findings" in outcome.lines


NASTY = "A\n::error file=x,line=1::forged\r\n##[error]forged %0A::error::forged\u2028::warning::forged"


@pytest.mark.parametrize("name", [NASTY, "x.json:1:1: error a/b forged", "::endgroup::"])
def test_a_name_cannot_forge_an_annotation(workspace: Path, name: str) -> None:
    both = definition(field("Id", "int32", about=name, tag=1), name=name, type="data", apiKey=None, about=name)
    folder = "".join(char for char in name if char not in "/\r")
    change(workspace, {f"schemas/{folder}/X.json": both, **thing(response=field(name, "int64"))})
    outcome = pull_request(workspace)
    for annotation in outcome.annotations:
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", annotation.title), annotation
        assert annotation.place.startswith("schemas/"), annotation
        assert "\n" not in annotation.text + annotation.place
    assert "fields/invalid-name" in {annotation.title for annotation in outcome.annotations}
    assert outcome.others == [("group", "kiplint review"), ("add-matcher", str(MATCHER))]
    assert outcome.outputs.keys() == {"errors", "warnings", "infos", "status"}
    assert sum(int(outcome.outputs[key]) for key in ("errors", "warnings", "infos")) == len(outcome.annotations)
    assert not [line for line in outcome.summary.splitlines() if line.startswith(("::", "##["))]


@pytest.mark.parametrize(
    ("inputs", "title", "expected"),
    [
        ({"rollout": "yes"}, "kiplint", "rollout: auto, always or never, not yes"),
        ({"paths": "--help"}, "kiplint review", "no such file or directory: --help"),
        ({"fail_on": "errors"}, "kiplint", "Invalid value for '--fail-on'"),
    ],
)
def test_a_mistake_is_an_error(workspace: Path, inputs: dict[str, str], title: str, expected: str) -> None:
    outcome = run_action(workspace, "push", {}, **inputs)
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")
    (annotation,) = outcome.annotations
    assert (annotation.level, annotation.place, annotation.title) == ("error", "", title)
    assert expected in annotation.text


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
    assert warning["message"].endswith('no earlier version can be written; write "ignorable": true')


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


@pytest.mark.usefixtures("origin")
def test_the_merge_of_a_pull_request_is_compared_with_its_first_parent(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base in the event is older than the merge."""
    git(workspace, "checkout", "-q", "-b", "topic", "1.0.0")
    change(workspace, {"README.md": b"unrelated\n"})
    git(workspace, "checkout", "-q", "--detach", "next")
    git(workspace, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    merge, old, new = (git(workspace, "rev-parse", f"{name}^{{commit}}") for name in ("HEAD", "1.0.0", "next"))
    for sha, expected in ((merge, new), ("0" * 40, old)):
        monkeypatch.setenv("GITHUB_SHA", sha)
        assert action_run.base({"base": ""}, {"pull_request": {"base": {"sha": old}}}) == expected
    monkeypatch.setenv("GITHUB_SHA", merge)
    for event in ({"before": old}, {"merge_group": {"base_sha": old}}):  # whoever pushes a merge chooses its parents
        assert action_run.base({"base": ""}, event) == old


@pytest.mark.parametrize("target", ["real", "../clean"])
@pytest.mark.parametrize("paths", ["schemas", "real schemas"])
def test_a_pull_request_cannot_choose_what_it_is_compared_with(workspace: Path, paths: str, target: str) -> None:
    """A directory that becomes a link, leads outside or is gone is an error, whatever the head configures."""
    git(workspace, "mv", "schemas", "real")
    (workspace / "schemas").symlink_to(target)
    write(workspace.parent / "clean", thing())
    change(workspace, {"kiplint.toml": b'select = ["tags/gap"]'})
    outcome = pull_request(workspace, paths=paths)
    problem = "schemas leads through the symbolic link schemas, so it cannot be compared"
    assert outcome.annotations[0].text.startswith(problem) or outcome.annotations[0].text.startswith(
        f"error: {problem}"
    )
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")
    (workspace / "schemas").unlink()
    change(workspace, {})
    outcome = pull_request(workspace, paths=paths)
    assert "no such file or directory: schemas" in outcome.annotations[0].text
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")
    outcome = pull_request(workspace, paths="../clean")
    assert "is not in the repository" in outcome.annotations[0].text
    assert (outcome.code, outcome.outputs["status"]) == (2, "error")


# The command line


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, ["--base=none", "--rollout=auto", "--", "."]),
        ({"paths": "schemas\n'more here'"}, ["--base=none", "--rollout=auto", "--", "schemas", "more here"]),
        ({"rollout": "always", "paths": "--help"}, ["--base=none", "--rollout=always", "--", "--help"]),
        ({"fail-on": "never", "fail-on-breaks": "wire"}, ["--fail-on=never", "--fail-on-breaks=wire"]),
        ({"upstream": "upstream/trunk"}, ["--base=none", "--rollout=auto", "--upstream=upstream/trunk", "--", "."]),
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
    ("inputs", "expected"),
    [({"formats": "junit"}, "formats: expected FORMAT=FILE, not junit"), ({"paths": "'"}, "No closing")],
)
def test_mistakes_in_inputs(inputs: dict[str, str], expected: str) -> None:
    with pytest.raises((action_run.ActionError, ValueError), match=expected):
        list(action_run.words({**DEFAULTS, "base": "none", **inputs}, {}))


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


def test_what_the_action_installs_is_pinned_to_files() -> None:
    """The versions are those of constraints.txt, each has hashes, and every dependency of kiplint is there."""
    text = (ROOT / ".github" / "action" / "requirements.txt").read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pins = {line.split(" ;")[0].split()[0] for line in lines}
    constraints = {
        line.replace("_", "-").lower() for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    }
    assert pins - constraints == {"colorama==0.4.6"}  # which Windows alone needs
    assert all("--hash=sha256:" in line for line in lines)
    pending = ["kiplint"]
    names: set[str] = set()
    while pending:
        requirements = [Requirement(text) for text in requires(pending.pop()) or ()]
        new_names = {
            canonicalize_name(item.name)
            for item in requirements
            if not item.marker or item.marker.evaluate({"extra": ""})
        }
        pending += new_names - names
        names |= new_names
    assert names <= {pin.split("==")[0] for pin in pins}
    (install,) = [step for step in ACTION["runs"]["steps"] if "pip install" in step.get("run", "")]
    assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} < set(install["run"].split())
