"""What the GitHub action does once kiplint is installed: check, and compare with the base where there is one.

Its inputs are the variables INPUT_*. It writes annotations, at most as many as GitHub shows for a step, and the reports
in full as grouped lines of the log; kiplint itself appends to the job summary. What was found is counted in the step's
outputs. Nothing that a schema says can act as a workflow command.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))  # `python -P` leaves it out, together with the work tree

from revisions import ActionError, find_base, is_here, pairs
from sarif_log import merged
from suggestions import show_patch

HERE = Path(__file__).resolve().parent
SHOWN = 10
"""How many annotations of a level GitHub shows for a step."""

EACH = 2
"""How many annotations of a rule come before those of others."""

COUNTS = {"error": "errors", "warning": "warnings", "notice": "infos"}
"""The step's outputs, by the level of annotations that they count."""

STATUS = ("ok", "findings", "error")
ABOUT_THE_REST = "::notice title=kiplint::"


class Run(NamedTuple):
    """What one kiplint command came to."""

    code: int
    annotations: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    sarif: Mapping[str, Any] | None = None


def kiplint(command: str, *words: str, show: bool = True) -> Run:
    """Run a command; its report and what it says on stderr go to the log."""
    with tempfile.TemporaryDirectory() as folder:
        text, sarif, outputs = (Path(folder, name) for name in ("text", "sarif", "outputs"))
        written = ("github" if show else f"github={os.devnull}", f"text={text}", f"sarif={sarif}")
        formats = [*(f"--output-format={item}" for item in written), "--color", "always"]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "kiplint", command, *formats, *words],
            env=environment(GITHUB_OUTPUT=str(outputs)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        said = done.stderr.decode(errors="replace")
        log(f"kiplint {command}", read(text) + said)
        lines = tuple(line for line in done.stdout.decode(errors="replace").split("\n") if line.startswith("::"))
        values = dict(line.partition("=")[::2] for line in read(outputs).splitlines())
        found = json.loads(read(sarif) or "null")
    code = STATUS.index(values.get("status", "error"))
    if code == STATUS.index("error") and not lines:
        lines = (failure(f"kiplint {command}", said.strip() or f"it ended with {done.returncode}"),)
    return Run(code, lines, {name: int(values.get(name, "0")) for name in COUNTS.values()}, found)


def environment(**others: str) -> dict[str, str]:
    """The environment in which kiplint runs."""
    packages = str(Path(os.environ["RUNNER_TEMP"], "kiplint"))
    return {**os.environ, "PYTHONPATH": packages, "PYTHONUTF8": "1", **others}


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
        room = SHOWN - 1 if crowded and level == "notice" else SHOWN  # the last notice counts the rest
        for line in _fair(_lines(runs, level), room):
            print(line)
        if (hidden := _total(runs, level) - room) > 0:
            left_out.append(f"{hidden:,} more {level}{'s' if hidden > 1 else ''}")
    if left_out:
        print(f"{ABOUT_THE_REST}{', '.join(left_out)} not shown: the job summary has them all")


def _fair(lines: Sequence[str], room: int) -> Sequence[str]:
    """As many lines as there is room for; where they do not fit, none of a rule is a third before others had two."""
    had: Counter[str] = Counter()
    ranked = []
    for line in lines:
        rule = line.partition("title=")[2].partition("::")[0]
        had[rule] += 1
        ranked.append((had[rule] > EACH, line))
    return [line for _, line in sorted(ranked, key=lambda item: item[0] and len(lines) > room)][:room]


def _lines(runs: Sequence[Run], level: str) -> list[str]:
    lines = [line for run in runs for line in run.annotations if line.startswith(f"::{level} ")]
    return [line for line in lines if not line.startswith(ABOUT_THE_REST)]


def _total(runs: Sequence[Run], level: str) -> int:
    return max(len(_lines(runs, level)), sum(run.counts.get(COUNTS[level], 0) for run in runs))


def declares_headers(path: str) -> bool:
    """Whether any definition there has headerVersions (KIP-1313)."""
    files = Path(path).rglob("*.json") if os.path.isdir(path) else [Path(path)]
    return any(b'"headerVersions"' in file.read_bytes() for file in files if file.is_file())


def touched(base: str, path: str) -> bool:
    """Whether a path is otherwise than in the base."""
    return subprocess.run(["git", "diff", "--quiet", base, "--", path], check=False).returncode != 0


def reports(asked: Iterable[str], suffix: str = "") -> Iterator[str]:
    """The options for the reports FORMAT=FILE that are asked for, with a suffix for the names of the files."""
    for item in asked:
        name, _, file = item.partition("=")
        if not file:
            raise ActionError(f"formats: FORMAT=FILE, not {item}")
        path = Path(file)
        yield f"--output-format={name}={path.with_stem(path.stem + suffix)}"


def compare(paths: Sequence[str], base: str, inputs: Mapping[str, str]) -> Iterator[Run]:
    """Diff, rollout and readers of all paths; what was not asked for only tells."""
    print(f"comparing with {base}")
    found, asked = list(pairs(paths, base)), shlex.split(inputs["FORMATS"])
    for number, (old, new) in enumerate(found, 1):
        suffix = f"-{number}" if len(found) > 1 else ""
        breaks = ("--fail-on-breaks", inputs["FAIL_ON_BREAKS"])
        yield kiplint("diff", *breaks, *reports(asked, f"-diff{suffix}"), "--", old, new)
        if inputs["ROLLOUT"] == "true":
            yield kiplint("rollout", *reports(asked, f"-rollout{suffix}"), "--", old, new)
        elif inputs["ROLLOUT"] == "auto" and declares_headers(new):
            kiplint("rollout", "--", old, new, show=False)
        if inputs["READERS"] == "true":
            yield kiplint("readers", *reports(asked, f"-readers{suffix}"), "--since", base, "--", new)
        elif inputs["READERS"] == "auto" and touched(base, new):
            kiplint("readers", "--since", base, "--", new, show=False)


def runs(inputs: Mapping[str, str]) -> Iterator[Run]:
    """All that there is to do; what goes wrong on the way is one more run."""
    try:
        paths = shlex.split(inputs["PATHS"]) or ["."]
        words = ["--fail-on", inputs["FAIL_ON"]] if inputs["FAIL_ON"] else []
        words += reports(shlex.split(inputs["FORMATS"]))
        for name in ("ROLLOUT", "READERS"):
            if inputs[name] not in ("auto", "true", "false"):
                raise ActionError(f"{name.lower()}: auto, true or false, not {inputs[name]}")
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
        base = _base(inputs, event)
        since = ["--changed-since", base.commit] if base.commit and _only_changed(inputs, event, paths) else []
        wanted = inputs["SUGGESTIONS_FILE"]
        words += [f"--output-format=rdjson={wanted}"] if wanted else []
        yield kiplint("check", *words, *since, "--", *paths)
        if wanted:
            show_patch([*since, "--", *paths], environment())
        if base.failed:
            yield base.failed
        elif base.commit:
            yield from compare(paths, base.commit, inputs)
    except (ActionError, OSError, ValueError) as error:
        yield Run(2, (failure("kiplint", str(error)),))


class Base(NamedTuple):
    """The commit to compare with, if there is one, or why it could not be had."""

    commit: str | None = None
    failed: Run | None = None


def _base(inputs: Mapping[str, str], event: Mapping[str, Any]) -> Base:
    try:
        return Base(find_base(inputs["BASE"], event))
    except ActionError as error:
        return Base(failed=Run(2, (failure("kiplint", str(error)),)))


def _only_changed(inputs: Mapping[str, str], event: Mapping[str, Any], paths: Sequence[str]) -> bool:
    """Whether the check is to report only what the change brought about; of what lies elsewhere it reports all."""
    asked = inputs["CHANGED_ONLY"]
    if asked not in ("auto", "true", "false"):
        raise ActionError(f"changed-only: auto, true or false, not {asked}")
    wanted = asked == "true" or (asked == "auto" and "pull_request" in event)
    return wanted and all(is_here(path) and (os.path.isdir(path) or path.endswith(".json")) for path in paths)


def write_sarif(done: Sequence[Run], file: str) -> list[Run]:
    """Write what all runs found into one file, if one is wanted; one more run when that fails."""
    found = merged(run.sarif for run in done if run.sarif)
    try:
        if file and found:
            Path(file).write_text(json.dumps(found), "utf-8")
    except OSError as error:
        return [Run(2, (failure("kiplint", f"cannot write {file}: {error.strerror}"),))]
    return []


def main() -> int:
    """Run everything, and say how it went as an exit code and in the outputs of the step."""
    prefix = "INPUT_"
    inputs = {name.removeprefix(prefix): value for name, value in os.environ.items() if name.startswith(prefix)}
    done = list(runs(inputs))
    done += write_sarif(done, inputs["SARIF_FILE"])
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
