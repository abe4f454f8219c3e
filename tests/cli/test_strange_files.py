"""What is not an ordinary file, in the place of whatever a command reads or writes.

A pipe without a writer, a device without an end, a socket, a directory, a link that leads to itself, one that leads
nowhere, and a file that may not be read: a command ends, with 0, 1 or 2 and a few lines, and what lay there is there.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import START, definition, field, kiplint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the files are those of Unix")


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))  # such a name may have 100 bytes


STRANGE: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "socket": bind,
    "directory": Path.mkdir,
    "loop": lambda path: path.symlink_to(path.name),
    "nowhere": lambda path: path.symlink_to("gone"),
    "unreadable": lambda path: path.touch(0o000),
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set, and beside it one of each strange thing; also as definitions in a set, which are found by walking."""
    top = tmp_path_factory.mktemp("strange")
    for name in ("set", "odd"):
        (top / name).mkdir()
        (top / name / "XRequest.json").write_bytes(definition(field()))
    before = os.getcwd()
    for place, ending in ((top, ""), (top / "odd", ".json")):
        os.chdir(place)
        for name, make in STRANGE.items():
            make(place / f"{name}{ending}")
    os.chdir(before)
    return top


def state(top: Path) -> dict[str, tuple[int, bytes]]:
    """All that lies in a directory: kinds, and contents or targets."""
    result = {}
    for path in sorted(top.rglob("*")):
        mode = path.lstat().st_mode
        data = path.read_bytes() if stat.S_ISREG(mode) else os.readlink(path).encode() if path.is_symlink() else b""
        result[str(path.relative_to(top))] = (mode, data)
    return result


LIMITED = ("sh", "-c", 'ulimit -v 4194304; exec "$@"', "sh", *START)
"""A run that may read without end has 4 GiB of memory."""
READ = ["check {}", "check set --config {}", "check set --baseline {}", "check --repo {} HEAD:", "decode XRequest@0 {}"]
"""The ways to read a file: a set, a configuration, a baseline, a repository, and bytes; as other commands do, too."""
WRITTEN = ["check set --output-format json={}", "check set --baseline {} --update-baseline"]
WALKS = ["check odd", "diff set odd", "show XRequest odd"]


@pytest.mark.parametrize("line", [*READ, *WRITTEN, *WALKS])
def test_a_command_ends(here: Path, line: str) -> None:
    before = state(here)
    for name in [*STRANGE, "x" * 5000] if "{}" in line else [""]:
        if line in WRITTEN and name in ("unreadable", "nowhere"):
            continue  # a report can be written there
        words = line.format(name).split()
        result = kiplint(*words, cwd=here, env={"GIT_CEILING_DIRECTORIES": str(here.parent)}, command=LIMITED)
        assert result.code in (0, 1, 2), (words, result)
        assert "internal error" not in result.err, (words, result.err)
        assert result.err.count("\n") <= 3, (words, result.err)
    assert state(here) == before
