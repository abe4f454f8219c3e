"""A small GitHub runner: enough of it to run the steps of a composite action and to read their log as it does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import yaml

from conftest import ROOT
from tools import environment

COMMANDS = {"error", "warning", "notice", "group", "endgroup", "add-matcher", "remove-matcher", "add-mask", "debug"}


class Annotation(NamedTuple):
    """A note on a file: its level, where it stands (`file:line:col-endLine:endColumn`), its title and its text."""

    level: str
    place: str
    title: str
    text: str


class Log:
    """What the runner makes of what a step prints: annotations, matchers, groups, and lines of text."""

    def __init__(self, output: str) -> None:
        self.annotations: list[Annotation] = []
        self.matchers: list[str] = []
        self.groups: list[str] = []
        self.lines: list[str] = []
        self._stop_token = ""
        for line in output.split("\n"):
            self._read(line)

    def _read(self, line: str) -> None:
        result = next(self._commands(line), None)
        if result is None or (self._stop_token and result[0] != self._stop_token):
            self.lines.append(line)
            return
        name, properties, data = result
        if name == self._stop_token:
            self._stop_token = ""
        elif name == "stop-commands":
            self._stop_token = data
        elif name in ("error", "warning", "notice"):
            self.annotations.append(Annotation(name, _place(properties), properties.get("title", ""), data))
        elif name == "add-matcher":
            self.matchers.append(data)
        elif name == "group":
            self.groups.append(data)
        else:
            assert name == "endgroup", line

    def _commands(self, line: str) -> Iterator[tuple[str, dict[str, str], str]]:
        """The command that a line is: `::name k=v,k=v::data` at its beginning, or `##[name k=v;k=v]data` anywhere."""
        names = {*COMMANDS, "stop-commands", *([self._stop_token] if self._stop_token else [])}
        new = re.match(r"\s*::([^ :]+)(?: (.*?))?::(.*)", line)
        old = re.search(r"##\[([^ \]]+)(?: ([^\]]*))?\](.*)", line)
        for match, between in ((new, ","), (old, ";")):
            if match and match[1] in names:
                pairs = (pair.partition("=") for pair in (match[2] or "").split(between) if pair)
                yield match[1], {name.strip(): _unescape(value) for name, _, value in pairs}, _unescape(match[3])


def _unescape(text: str) -> str:
    """Workflow commands escape as URLs do, but only `%`, line ends, colons and commas."""
    return re.sub("%(25|0D|0A|3A|2C)", lambda match: unquote(match[0]), text)


def _place(properties: Mapping[str, str]) -> str:
    if "file" not in properties:
        return ""
    start = ":".join(properties[name] for name in ("file", "line", "col") if name in properties)
    return f"{start}-" + ":".join(properties[name] for name in ("endLine", "endColumn") if name in properties)


class Outcome(NamedTuple):
    """A run of the action: how its last step ended, what it printed, and what it left in the files that it was given."""

    code: int
    log: Log
    summary: str
    outputs: dict[str, str]


class Runner:
    """A machine with a work tree, on which the action runs."""

    def __init__(self, workspace: Path, machine: Path) -> None:
        """This checkout stands where the installation would be."""
        self.workspace = workspace
        self.machine = machine
        (machine / "temp").mkdir(parents=True)
        for name, what in (("kiplint", "src"), ("rules", "rules"), ("fixtures", "fixtures")):
            (machine / "temp" / name).symlink_to(ROOT / what)
        self.action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

    def run(
        self, event: str = "push", payload: Mapping[str, Any] | None = None, sha: str = "", **options: str
    ) -> Outcome:
        """Run the last step of the action for an event, with inputs (`_` for `-`)."""
        inputs = {name: str(definition.get("default", "")) for name, definition in self.action["inputs"].items()}
        overrides = {name.replace("_", "-"): value for name, value in options.items()}
        assert not overrides.keys() - inputs.keys()
        env = {"GITHUB_EVENT_NAME": event, "GITHUB_SHA": sha}
        return self.step(self.action["runs"]["steps"][-1], {**inputs, **overrides}, env, payload or {})

    def step(
        self, step: Mapping[str, Any], inputs: Mapping[str, str], env: Mapping[str, str], payload: Mapping[str, Any]
    ) -> Outcome:
        """Run one step."""
        files = {name: self.machine / name for name in ("event.json", "output", "summary", "script.sh")}
        files["event.json"].write_text(json.dumps(payload), "utf-8")
        files["script.sh"].write_text(step["run"], "utf-8")
        for name in ("output", "summary"):
            files[name].write_text("", "utf-8")
        assert step["shell"] == "bash"
        code, output = self._run_script(
            step["run"],
            files["script.sh"],
            environment(
                **{name: _evaluate(value, inputs) for name, value in step.get("env", {}).items()},
                **env,
                CI="true",
                GITHUB_ACTIONS="true",
                GITHUB_ACTION_PATH=str(ROOT),
                GITHUB_EVENT_PATH=str(files["event.json"]),
                GITHUB_OUTPUT=str(files["output"]),
                GITHUB_STEP_SUMMARY=str(files["summary"]),
                GITHUB_WORKSPACE=str(self.workspace),
                RUNNER_TEMP=str(self.machine / "temp"),
                PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            ),
        )
        assert "Traceback" not in output, output
        outputs = dict(line.split("=", 1) for line in files["output"].read_text("utf-8").splitlines())
        return Outcome(code, Log(output), files["summary"].read_text("utf-8"), outputs)

    def _run_script(self, run: str, script: Path, env: Mapping[str, str]) -> tuple[int, str]:
        """The exit code and the output of a step."""
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=self.workspace,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return process.returncode, process.stdout.decode()


def _evaluate(text: str, inputs: Mapping[str, str]) -> str:
    if text == "${{ toJSON(inputs) }}":
        return json.dumps(inputs)
    if not text.startswith("${{"):
        return text
    match = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)
    assert match, f"{text}: an expression that this runner does not know"
    return inputs[match[1]]
