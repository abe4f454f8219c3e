"""What the GitHub action does once kiplint is installed: check, and compare with the base where there is one.

Its inputs are the variables INPUT_*. It writes annotations, at most as many as GitHub shows for a step, and the reports
in full as grouped lines of the log; kiplint itself appends to the job summary. What was found is counted in the step's
outputs. Nothing that a schema says can act as a workflow command.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
SHOWN = 10
"""How many annotations of a level GitHub shows for a step."""

COUNTS = {"error": "errors", "warning": "warnings", "notice": "infos"}
"""The step's outputs, by the level of annotations that they count."""

STATUS = ("ok", "findings", "error")
ABOUT_THE_REST = "::notice title=kiplint::"


class ActionError(Exception):
    """Something that is wrong with the inputs or the repository."""


class Run(NamedTuple):
    """What one kiplint command came to."""

    code: int
    annotations: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}


def kiplint(command: str, *words: str, show: bool = True) -> Run:
    """Run a command; its report and what it says on stderr go to the log."""
    with tempfile.TemporaryDirectory() as folder:
        text, outputs = Path(folder, "text"), Path(folder, "outputs")
        github = "github" if show else f"github={os.devnull}"
        formats = ("--output-format", github, "--output-format", f"text={text}", "--color", "always")
        done = subprocess.run(
            [sys.executable, "-P", "-m", "kiplint", command, *formats, *words],
            env={
                **os.environ,
                "GITHUB_OUTPUT": str(outputs),
                "PYTHONPATH": str(Path(os.environ["RUNNER_TEMP"], "kiplint")),
                "PYTHONUTF8": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        said = done.stderr.decode(errors="replace")
        log(f"kiplint {command}", read(text) + said)
        lines = tuple(line for line in done.stdout.decode(errors="replace").split("\n") if line.startswith("::"))
        values = dict(line.partition("=")[::2] for line in read(outputs).splitlines())
    code = STATUS.index(values.get("status", "error"))
    if code == STATUS.index("error") and not lines:
        lines = (failure(f"kiplint {command}", said.strip() or f"it ended with {done.returncode}"),)
    return Run(code, lines, {name: int(values.get(name, "0")) for name in COUNTS.values()})


def read(file: Path) -> str:
    """What a file holds; nothing when it is not there."""
    return file.read_text("utf-8", errors="replace") if file.is_file() else ""


def log(title: str, text: str) -> None:
    """Print text as a group of lines in which the runner looks for no commands."""
    if text:
        token = secrets.token_hex(16)
        print(f"::group::{title}\n::stop-commands::{token}\n{text.rstrip()}\n::{token}::\n::endgroup::")


def failure(title: str, message: str) -> str:
    """The workflow command for an error that belongs to no file."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::error title={title}::{escaped}"


def annotate(runs: Sequence[Run]) -> None:
    """Print the annotations of all runs, errors first, as many as are shown; then how many were left out."""
    left_out = []
    crowded = any(_total(runs, level) > SHOWN for level in COUNTS)
    for level in COUNTS:
        room = SHOWN - 1 if crowded and level == "notice" else SHOWN  # the last notice is the one about the rest
        for line in _lines(runs, level)[:room]:
            print(line)
        if (hidden := _total(runs, level) - room) > 0:
            left_out.append(f"{hidden:,} more {level}{'s' if hidden > 1 else ''}")
    if left_out:
        print(f"{ABOUT_THE_REST}{', '.join(left_out)} not shown: the job summary has them all")


def _lines(runs: Sequence[Run], level: str) -> list[str]:
    lines = [line for run in runs for line in run.annotations if line.startswith(f"::{level} ")]
    return [line for line in lines if not line.startswith(ABOUT_THE_REST)]


def _total(runs: Sequence[Run], level: str) -> int:
    return max(len(_lines(runs, level)), sum(run.counts.get(COUNTS[level], 0) for run in runs))


def git(*words: str) -> str:
    """What git prints; raises ActionError when it fails."""
    done = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise ActionError(done.stderr.decode(errors="replace").strip() or f"git {words[0]} failed")
    return done.stdout.decode(errors="replace").strip()


def commit(revision: str) -> str:
    """The id of the commit that a revision names, fetched where the clone is too shallow to have it."""
    if revision.startswith("-"):
        raise ActionError(f"base: a revision cannot begin with a hyphen: {revision}")
    try:
        return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except ActionError:
        pass
    try:
        git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", revision.removeprefix("origin/"))
    except ActionError as error:
        raise ActionError(f"base: there is no revision {revision}, and it cannot be fetched: {error}") from None
    return git("rev-parse", "FETCH_HEAD^{commit}")


def find_base(asked: str, event: Mapping[str, Any]) -> str | None:
    """The commit to compare with, None when there is none: what was asked for, or what a pull request goes into.

    Where the merge of a pull request is checked out, as is usual, its base is the first parent: the branch as it was
    when GitHub made that merge. Where the pull request's own head is checked out, it is their merge base.
    """
    if asked:
        return None if asked == "none" else commit(asked)
    request = event.get("pull_request")
    if not request:
        group = event.get("merge_group")
        return commit(group["base_sha"]) if group else None
    head = git("rev-parse", "HEAD")
    parents = re.findall(r"(?m)^parent ([0-9a-f]+)$", git("cat-file", "commit", head).partition("\n\n")[0])
    if len(parents) == 2 and head == os.environ.get("GITHUB_SHA"):
        return commit(parents[0])
    base = commit(request["base"]["sha"])
    try:
        return git("merge-base", base, head)
    except ActionError:
        return base


def pairs(paths: Iterable[str], base: str) -> Iterator[tuple[str, str]]:
    """Each path that the base has too, as it was there and as it is now."""
    for path in paths:
        inside = os.path.relpath(path).replace(os.sep, "/")
        if os.path.exists(path) and not f"{inside}/".startswith("../") and not os.path.isabs(inside):
            try:
                git("cat-file", "-e", f"{base}:./{'' if inside == '.' else inside}")
            except ActionError:
                print(f"{path!r} is not in the base, so there is nothing to compare it with")
            else:
                yield f"{base}:./{inside}", path


def declares_headers(path: str) -> bool:
    """Whether any definition there has headerVersions (KIP-1313)."""
    files = Path(path).rglob("*.json") if os.path.isdir(path) else [Path(path)]
    return any(b'"headerVersions"' in file.read_bytes() for file in files if file.is_file())


def compare(paths: Sequence[str], base: str, breaks: str, rollout: str) -> Iterator[Run]:
    """Diff and rollout of all paths; a rollout that was not asked for only tells."""
    print(f"comparing with {base}")
    for old, new in pairs(paths, base):
        yield kiplint("diff", "--fail-on-breaks", breaks, "--", old, new)
        if rollout == "true":
            yield kiplint("rollout", "--", old, new)
        elif rollout == "auto" and declares_headers(new):
            kiplint("rollout", "--", old, new, show=False)


def runs(inputs: Mapping[str, str]) -> Iterator[Run]:
    """All that there is to do; what goes wrong on the way is one more run."""
    try:
        paths = shlex.split(inputs["PATHS"]) or ["."]
        words = ["--fail-on", inputs["FAIL_ON"]] if inputs["FAIL_ON"] else []
        for report in shlex.split(inputs["FORMATS"]):
            words += ["--output-format", report]
        if inputs["SARIF_FILE"]:
            words += ["--output-format", f"sarif={inputs['SARIF_FILE']}"]
        if inputs["ROLLOUT"] not in ("auto", "true", "false"):
            raise ActionError(f"rollout: auto, true or false, not {inputs['ROLLOUT']}")
        yield kiplint("check", *words, "--", *paths)
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
        if base := find_base(inputs["BASE"], event):
            yield from compare(paths, base, inputs["FAIL_ON_BREAKS"], inputs["ROLLOUT"])
    except (ActionError, OSError, ValueError) as error:
        yield Run(2, (failure("kiplint", str(error)),))


def main() -> int:
    """Run everything, and say how it went as an exit code and in the outputs of the step."""
    prefix = "INPUT_"
    inputs = {name.removeprefix(prefix): value for name, value in os.environ.items() if name.startswith(prefix)}
    done = list(runs(inputs))
    annotate(done)
    print(f"::add-matcher::{HERE / 'matcher.json'}")  # for later steps: nothing of the above is for it to match
    code = max(run.code for run in done)
    if code == 1 and inputs["FAIL_ON"] == "never":
        code = 0
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as out:
        for name in COUNTS.values():
            out.write(f"{name}={sum(run.counts.get(name, 0) for run in done)}\n")
        out.write(f"status={STATUS[code]}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
