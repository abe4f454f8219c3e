"""The commands that README and guide show: run as printed, in order, in a copy of the checkout.

A page is one session of bash. A block ```` ```console ```` holds commands after `$ ` (continued after `> `), each with
the output that it has to print; a line `...` stands for any lines, and where no output is shown, any is right. A block
with a `title` is a file, written before the commands below it run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL)
_NOT_COPIED = (".*", "__pycache__", "node_modules", "build", "dist", "site")
_BEFORE, _AFTER = "\x1e", "\x1f"  # 036 and 037 below

# Everything is installed; `make test` runs a few of the tests. What a page leaves running ends with it.
_PRELUDE = """\
pip() { :; }
export MAKEFLAGS='-- PYTEST_ARGS=-n\\ 0\\ tests/text/test_lines.py'
trap 'exec >/dev/null 2>&1; kill $(jobs -p)' EXIT
"""


class Command(NamedTuple):
    """A command of a page: its text, the output that is shown, and where that output stands in the page."""

    text: str
    output: str
    start: int
    end: int


class File(NamedTuple):
    """A file that a page tells the reader to write."""

    path: str
    content: str


class Run(NamedTuple):
    """What a command really did."""

    command: Command
    output: str
    code: int

    @property
    def holds(self) -> bool:
        """Whether it did what the page says."""
        if "Traceback (most recent call last)" in self.output:
            return False
        if not self.command.output:
            return self.code == 0
        if self.code not in (0, 1) and not self.output.startswith(("error:", "Usage:")):
            return False
        parts = (re.escape(part) for part in re.split(r"^\.\.\.\n", self.command.output, flags=re.MULTILINE))
        return re.fullmatch("(?:.*\n)*?".join(parts), self.output) is not None


def steps(page: str) -> Iterator[Command | File]:
    """The commands and files of a page, in order."""
    for block in BLOCK.finditer(page):
        if block["title"]:
            yield File(block["title"], block["body"])
        elif block["language"] == "console":
            yield from _commands(block["body"], block.start("body"))


def _commands(body: str, offset: int) -> Iterator[Command]:
    for match in re.finditer(r"^\$ (?P<text>.*\n(?:> .*\n)*)(?P<output>(?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        text = match["text"].replace("\n> ", "\n").rstrip("\n")
        yield Command(text, match["output"], offset + match.start("output"), offset + match.end("output"))


def play(page: str, checkout: Path, session: Path) -> list[Run]:
    """Run a page's commands in the directory `session`, and say what each did; an earlier part's session goes on."""
    copy = session / "kiplint"
    if not copy.exists():
        patterns = () if "make test" in page else ("tests",)
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED, *patterns))
        _pretend_installed(copy)
    todo = list(steps(page))
    script = _PRELUDE + "".join(_line(step, session, number) for number, step in enumerate(todo))
    process = subprocess.run(
        ["bash", "-c", script],
        cwd=copy,
        env=_environment(session),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    outputs = process.stdout.decode(errors="replace").split(_BEFORE)[1:]
    of_commands = [step for step in todo if isinstance(step, Command)]
    return [_run(command, output) for command, output in zip(of_commands, outputs, strict=True)]


def _line(step: Command | File, session: Path, number: int) -> str:
    if isinstance(step, File):
        file = session / f"file{number}"
        file.write_text(step.content, "utf-8")
        return f"mkdir -p \"$(dirname '{step.path}')\" && cp '{file}' '{step.path}'\n"
    # What a command leaves in $? is there for the next one, as in a terminal.
    return f"printf '\\036'; (exit ${{code:-0}})\n{step.text}\ncode=$?; printf '\\037%s' $code\n"


def _run(command: Command, text: str) -> Run:
    output, _, code = text.rpartition(_AFTER)
    return Run(command, output, int(code))


def _pretend_installed(copy: Path) -> None:
    """Give a copy the `.venv` of the running Python, with the stamps by which `make` knows that it is complete."""
    (copy / ".venv").mkdir()
    (copy / ".venv/bin").symlink_to(Path(sys.executable).parent)
    for stamp in ("created", "installed", "installed-dev"):
        (copy / ".venv" / stamp).touch()


def _environment(session: Path) -> dict[str, str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST", "GITHUB"))
    }
    path = [str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
    return {
        **environment,
        "HOME": str(session),
        "PATH": os.pathsep.join(path),
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }


def refreshed(page: str, runs: list[Run]) -> str:
    """The page with the outputs that did not hold replaced by the real ones.

    Raises ValueError where that would print a failure: a command that breaks off, or that shows nothing and fails.
    """
    for run in reversed(runs):
        if run.holds:
            continue
        real = run._replace(command=run.command._replace(output=run.output))
        if not run.command.output or not real.holds:
            raise ValueError(f"$ {run.command.text}\n{run.output}[exit code {run.code}]")
        page = page[: run.command.start] + run.output + page[run.command.end :]
    return page
