"""Standard streams that are closed or full, signals, and a working directory that is gone."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tools import START, definition, environment, field

FULL = b"error: standard output: No space left on device\n"
BODY = "decode XRequest@0 body --set old"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("streams")
    for name, kind in (("old", "int32"), ("new", "int64")):
        (where / name).mkdir()
        (where / name / "XRequest.json").write_bytes(
            definition(field(kind=kind), field("Tag", tag=1, taggedVersions="3+"))
        )
    (where / "body").write_bytes(b"\0\0\0\1")
    return where


def shell(line: str, cwd: Path) -> tuple[int, bytes, bytes]:
    """Run a command line as a shell does that redirects its streams: its exit code, output and errors."""
    env = environment(PYTHONUNBUFFERED="") | {"KIPLINT_DEBUG": ""}
    command = ["sh", "-c", f"exec {shlex.join(START)} {line}"]
    process = subprocess.run(command, cwd=cwd, env=env, capture_output=True, timeout=600, check=False)
    return process.returncode, process.stdout, process.stderr


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("--version >/dev/full", 2, FULL),
        ("check --help >/dev/full", 2, FULL),
        ("check old >/dev/full", 2, FULL),
        ("check old --output-format json >/dev/full", 2, FULL),
        ("diff old new >/dev/full", 2, FULL),
        ("explain tags/gap >/dev/full", 2, FULL),
        ("migrate bump X --set old --diff >/dev/full", 1, b"left: X: "),
        (f"{BODY} >/dev/full", 2, FULL),
        ("check old >&-", 1, b""),
        ("check old 2>&-", 1, b""),
        ("check nowhere 2>&-", 2, b""),
        ("check nowhere 2>/dev/full", 2, b""),
        ("check old <&- >&- 2>&-", 1, b""),
        ("check - <&-", 2, b"error: cannot read standard input: it is closed\n"),
        ("decode XRequest@0 --set old <&-", 2, b"error: cannot read standard input: it is closed\n"),
    ],
)
def test_streams_that_are_closed_or_full(here: Path, line: str, code: int, error: bytes) -> None:
    result, _, err = shell(line, here)
    assert (result, err[: len(error)]) == (code, error)
    assert error or not err


def test_a_closed_stream_is_not_a_file_that_is_opened(here: Path) -> None:
    """The first file that a process opens takes the number of a closed stream; notes are not to be written into it."""
    shell("check old --output-format json=report.json --output-format text 2>&- <&-", here)
    assert (here / "report.json").read_bytes()[:1] == b"{"


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    line = f"rmdir ../gone; exec {shlex.join((*START, 'check', '.'))}"
    result = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path / "gone", env=environment(), capture_output=True, timeout=600, check=False
    )
    text = b"error: the working directory no longer exists\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", text)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
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
