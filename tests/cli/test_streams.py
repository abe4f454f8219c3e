"""Standard streams that are closed or full, signals, and a working directory that is gone: over every command."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from kiplint.cli import process
from tools import START, definition, environment, field, kiplint

from .declared import NAMES

COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "check": ["check", "old"],
    "check-clean": ["check", "old", "--select", "kip-35"],
    "check-json": ["check", "old", "--output-format", "json"],
    "check-stdin": ["check", "-"],
    "check-nothing": ["check", "nowhere"],
    "check-option": ["check", "--no-such-option"],
    "check-help": ["check", "--help"],
    "diff": ["diff", "old", "new"],
    "review": ["review", "--base", "none", "old"],
    "rollout": ["rollout", "old", "new"],
    "show": ["show", "XRequest", "old"],
    "explain": ["explain", "tags/gap"],
    "rules": ["rules"],
    "schema": ["schema", "config"],
    "negotiate": ["negotiate", "old", "new"],
    "kip": ["kip", "kip.md"],
    "kip-1313": ["migrate", "kip-1313", "old", "--dry-run"],
    "bump": ["migrate", "bump", "X", "--schemas", "old", "--dry-run"],
    "bump-patch": ["migrate", "bump", "X", "--schemas", "old", "--diff"],
    "decode": ["decode", "XRequest@0", "body", "--set", "old"],
    "decode-stdin": ["decode", "XRequest@0", "--set", "old"],
    "lake": ["pipeline", "report", "nowhere"],
    "matrix": ["pipeline", "matrix", "nowhere"],
    "blame": ["pipeline", "blame", "nowhere", "X"],
    "lake-forks": ["pipeline", "forks", "nowhere"],
    "query": ["pipeline", "query", "nowhere", "SHOW TABLES"],
    "pipeline-run": ["pipeline", "run", "x=nowhere", "--out", "out"],
    "unknown": ["chekc"],
}
SILENT = {"check-clean", "check-nothing", "check-option", "unknown", "bump-patch"}
SILENT |= {name for name, words in COMMANDS.items() if words[0] == "pipeline"}
NEEDS_STDOUT = set(COMMANDS) - SILENT
"""The commands that have something to say on standard output."""

READERS = {"check-stdin", "decode-stdin"}
"""The commands that read standard input."""

REDIRECTIONS = ("2>&-", "2>/dev/full", "<&-", ">&-", ">/dev/full", "<&- >&- 2>&-")


def redirections(number: int, name: str) -> tuple[str, ...]:
    """All for what reads a stream too, and for every other command another one."""
    return REDIRECTIONS if name in READERS else (REDIRECTIONS[number % len(REDIRECTIONS)],)


CASES = [(name, redirection) for at, name in enumerate(COMMANDS) for redirection in redirections(at, name)]


def test_every_command_is_tried() -> None:
    command_names = {" ".join(words[:2]) for words in COMMANDS.values()} | {words[0] for words in COMMANDS.values()}
    assert set(NAMES) - command_names == {"lsp"}  # which talks to an editor


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("streams")
    for name, kind in (("old", "int32"), ("new", "int64")):
        (where / name).mkdir()
        (where / name / "XRequest.json").write_bytes(
            definition(field(kind=kind), field("Tag", tag=1, taggedVersions="3+"))
        )
    (where / "body").write_bytes(b"\0\0\0\1")
    (where / "kip.md").write_bytes(b"```json\n" + definition(field(kind="int8")) + b"\n```\n")
    return where


def shell(words: Sequence[str], redirection: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a shell does that redirects its streams."""
    env = environment(PYTHONUNBUFFERED="") | {"KIPLINT_DEBUG": ""}
    line = f"{shlex.join((*START, *words))} {redirection}"
    return subprocess.run(["sh", "-c", line], cwd=cwd, env=env, capture_output=True, timeout=600, check=False)


@cache
def codes(cwd: Path, name: str) -> int:
    """The exit code of a command whose streams are fine."""
    return kiplint(*COMMANDS[name], cwd=cwd).code


@pytest.mark.parametrize(("name", "redirection"), CASES)
def test_streams_that_are_closed_or_full(here: Path, name: str, redirection: str) -> None:
    expected = codes(here, name)
    streams = redirection if "<" in redirection else f"</dev/null {redirection}"
    result = shell(COMMANDS[name], streams, here)
    out = redirection.replace("2>", "")
    fails = (">" in out and name in NEEDS_STDOUT) or (redirection == "<&-" and name in READERS)
    nothing = name in {*READERS, "bump-patch"}  # what has nothing to write may find out that it could not
    assert result.returncode in ((2,) if fails else (expected, 2) if nothing else (expected,)), result.stderr
    assert b"Traceback" not in result.stderr
    assert b"Error:" not in result.stderr or name in ("check-option", "unknown")
    if fails and "2>" not in redirection:
        assert result.stderr.startswith(b"error: standard output: ") or name in READERS
        assert result.stderr.count(b"\n") == 1


def test_a_closed_stream_is_not_a_file_that_is_opened(here: Path) -> None:
    """The first file that a process opens takes the number of a closed stream; notes are not to be written into it."""
    words = ["check", "old", "--output-format", "json=report.json", "--output-format", "text"]
    for redirection in ("2>&-", "<&- 2>&-", "<&- 2>&- >/dev/full"):
        shell(words, redirection, here)
        assert (here / "report.json").read_bytes()[:1] == b"{"


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    line = f"rmdir ../gone; exec {shlex.join((*START, 'check', '.'))}"
    result = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path / "gone", env=environment(), capture_output=True, timeout=600, check=False
    )
    text = b"error: the working directory is gone: it was removed, or moved elsewhere\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", text)


INTERRUPTED_RUN = """
import os, signal, sys
left = int(sys.argv.pop(1))
settled = False
def interrupt(event, arguments):
    global left, settled
    settled = settled or (event == "import" and arguments[0] == "kiplint.cli.process")
    if settled and event in ("import", "open"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
from kiplint.cli import main
main()
"""
"""A run that is interrupted where it imports a module or opens a file, at the one with a number.

What comes before the first module of kiplint's own is Python's to end.
"""


@pytest.mark.parametrize("number", [1, 2, 5, 10, 20, 40, 80, 120])
def test_an_early_interrupt_is_silent(here: Path, number: int) -> None:
    command = [sys.executable, "-c", INTERRUPTED_RUN, str(number), "check", "-"]
    result = subprocess.run(command, cwd=here, env=environment(), input=b"{}", capture_output=True, check=False)
    assert (result.returncode in (130, -signal.SIGINT), result.stdout, result.stderr) == (True, b"", b"")


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def command() -> int:
        raise MemoryError

    def fail(message: str) -> NoReturn:
        raise SystemExit(message)

    monkeypatch.setattr(process, "fail", fail)
    with pytest.raises(SystemExit, match="^out of memory$"):
        process._run(command)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """The process waits for the lines of a git of ours, when it has made a directory for a bundle."""
    for name in ("bin", "tmp"):
        (tmp_path / name).mkdir()
    fake = tmp_path / "bin" / "git"
    fake.write_text('#!/bin/sh\necho began >&2; touch "$MARK"; exec sleep 600\n')
    fake.chmod(0o755)
    (tmp_path / "x.bundle").write_bytes(b"# v2 git bundle\n")
    env = environment(TMPDIR=str(tmp_path / "tmp"), MARK=str(tmp_path / "began"))
    env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{env['PATH']}"
    command = [*START, "check", "--repo", "x.bundle", "HEAD:"]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 300
        while not (tmp_path / "began").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(os.listdir(tmp_path / "tmp")) == 1
        process.send_signal(number)
        out, output = process.communicate(timeout=300)
    assert (process.returncode, out, output) == (128 + number, b"", b"")
    assert os.listdir(tmp_path / "tmp") == []
