"""Run `kiplint review` with the inputs of the action: fetch its base where the clone lacks it, and fold its log."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "src"
"""The source of kiplint, which the action brings along."""
ROLLOUTS = ("auto", "always", "never")


class ActionError(Exception):
    """A mistake in the inputs, or a base that cannot be fetched."""


def git(*words: str) -> str:
    """What git prints; raises ActionError when it fails."""
    process = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if process.returncode:
        raise ActionError(process.stderr.decode(errors="replace").strip() or f"git {words[0]} failed")
    return process.stdout.decode(errors="replace").strip()


def fetched(revision: str) -> str:
    """The id of the commit that a revision names, fetched where the clone is too shallow to have it."""
    if revision.startswith("-"):
        raise ActionError(f"base: a revision cannot begin with a hyphen: {revision}")
    try:
        return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except ActionError:
        pass
    name = revision.removeprefix("origin/")
    try:
        git("check-ref-format", f"refs/heads/{name}")  # neither an option, nor a refspec that writes, nor a pattern
        git("fetch", "--quiet", "--no-tags", "--depth=1", "--", "origin", name)
    except ActionError as error:
        raise ActionError(f"base: there is no revision {revision}, and it cannot be fetched: {error}") from None
    return git("rev-parse", "FETCH_HEAD^{commit}")


def base(inputs: Mapping[str, str], event: Mapping[str, Any]) -> str:
    """The base, or `none`: of the merge that GitHub makes of a pull request the first parent, else the merge base.

    Of a push it is that with the commit before the push, of a new branch that with the default branch.
    """
    goal = event.get("pull_request", {}).get("base", {}).get("sha") or event.get("merge_group", {}).get("base_sha")
    if not goal and (goal := event.get("before", "")) and not goal.strip("0"):
        goal = event.get("repository", {}).get("default_branch", "")
    if inputs["base"] or not goal:
        revision = inputs["base"] or "none"
        return revision if revision == "none" else fetched(revision)
    head = git("rev-parse", "HEAD")
    parents = re.findall(r"(?m)^parent ([0-9a-f]+)$", git("cat-file", "commit", head).partition("\n\n")[0])
    # Whoever pushes a merge chooses its first parent.
    if "pull_request" in event and len(parents) == 2 and head == os.environ.get("GITHUB_SHA"):
        return fetched(parents[0])
    there = fetched(goal)
    try:
        return git("merge-base", there, head)
    except ActionError:
        return there


def words(inputs: Mapping[str, str], event: Mapping[str, Any]) -> Iterator[str]:
    """The command line."""
    if inputs["rollout"] not in ROLLOUTS:
        raise ActionError(f"rollout: auto, always or never, not {inputs['rollout']}")
    paths = shlex.split(inputs["paths"]) or ["."]
    yield f"--base={base(inputs, event)}"
    yield f"--rollout={inputs['rollout']}"
    yield from (f"--released={name}" for name in shlex.split(inputs["released"]))
    yield from (f"--{name}={inputs[name]}" for name in ("fail-on", "fail-on-breaks") if inputs[name])
    if inputs["sarif-file"]:
        yield f"--output-format=sarif={inputs['sarif-file']}"
    if inputs["upstream"]:
        yield f"--upstream={inputs['upstream']}"
    for report in shlex.split(inputs["formats"]):
        if "=" not in report:
            raise ActionError(f"formats: expected FORMAT=FILE, not {report}")
        yield f"--output-format={report}"
    yield from ("--", *paths)


def review(options: list[str]) -> int:
    """Run the review; its annotations go out as they are, its text and what it says as a group without commands."""
    dependencies = os.path.join(os.environ["RUNNER_TEMP"], "kiplint")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text")
        formats = ["--output-format=github", f"--output-format=text={text}"]
        process = subprocess.run(
            [sys.executable, "-P", "-m", "kiplint", "review", *formats, *options],
            env={**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{dependencies}", "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        log = process.stderr.decode(errors="replace")
        report = text.read_text("utf-8", errors="replace") if text.is_file() else ""
    token = secrets.token_hex(16)
    print(f"::group::kiplint review\n::stop-commands::{token}\n{(report + log).rstrip()}\n::{token}::\n::endgroup::")
    lines = [line for line in process.stdout.decode(errors="replace").split("\n") if line.startswith("::")]
    print("\n".join(lines), end="\n" if lines else "")
    if process.returncode > 1 and not lines:
        fail(log.strip() or f"it ended with {process.returncode}")
    return process.returncode


def fail(message: str) -> None:
    """Annotate the run with an error of no file, and set the status."""
    text = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=kiplint::{text}")
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as out:
        out.write("status=error\n")


def main() -> int:
    """Review, and add the problem matcher for later steps."""
    try:
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
        code = review(list(words(json.loads(os.environ["INPUTS"]), event)))
    except (ActionError, OSError, ValueError) as error:
        fail(str(error))
        code = 2
    print(f"::add-matcher::{Path(__file__).resolve().parent / 'matcher.json'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
