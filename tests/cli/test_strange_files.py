"""What is not an ordinary file, in the place of whatever a command takes as text, out of the declarations of the options.

A pipe without a writer, a device without an end, a socket, a directory, a link that leads to itself, one that leads
nowhere, and a file that may not be read: a command ends, with 0, 1 or 2 and a few lines, and what lay there is there.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import START, definition, field, kiplint

from .declared import NAMES as COMMANDS
from .declared import is_argument, parameters_of

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
    "long": lambda path: None,
}
FILE_NAMES = {"long": "x" * 5000}
OF_SPARK = {"master", "remote", "conf"}
"""Options that mean something to Spark alone, which nothing here is to start."""

FORMS = {"FORMAT[=FILE]": "json={}", "NAME=PATH[#REF]": "x={}#main"}
"""How a path is part of a word, by the metavar of the option; elsewhere it is the word."""

PATHS = re.compile(r"FILE|PACK|INPUT|JSON|SET|PATH|REPO|LAKE|OLD|NEW|HEAD|CLIENT|BROKER|FROM|TO\b")
"""Metavars of what may be a path."""

ARGUMENTS = {
    "sets": "set", "set": "set", "old": "set", "new": "set", "client": "set", "brokers": "set", "source": "set",
    "target": "set", "paths": "set", "message": "XRequest", "rpcs": "X", "name": "config", "rule": "tags/gap",
    "lake": "no-lake", "subject": "X", "sql": "SHOW TABLES", "wanted": "X", "files": "set/XRequest.json",
}  # fmt: skip
"""What else a command has to be given."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set, and beside it one of each strange thing; also as definitions in a set, which are found by walking."""
    top = tmp_path_factory.mktemp("strange")
    for name in ("set", "odd", "work"):
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


def words_for(command: str, parameter: Any, word: str) -> list[str]:
    """A command line with a word for one parameter, and what the others must have."""
    words = command.split()
    for other in parameters_of(command).values():
        if other.name == parameter.name and is_argument(parameter):
            words.append(word)
        elif other.required and is_argument(other):
            words.append(next(iter(getattr(other.type, "choices", ())), ARGUMENTS.get(other.name, "set")))
    return words if is_argument(parameter) else [*words, parameter.opts[0], word]


TEXT_PARAMETERS = [
    (command, parameter.name)
    for command in COMMANDS
    for parameter in parameters_of(command).values()
    if parameter.type.name == "str" and parameter.name not in OF_SPARK
]


def kinds(command: str, parameter: Any, metavar: str) -> list[str]:
    """Which are tried: three for a path, other ones for each option, as all read with the same code; one for a text."""
    if command.startswith("pipeline "):  # each run imports Spark, and starts it for what looks like a source
        return ["loop"] if PATHS.search(metavar) else []
    names = [*STRANGE]
    if parameter.name == "output_format":  # a report can be written to these
        names = [name for name in names if name not in ("unreadable", "nowhere")]
    turn = zlib.crc32(f"{command} {parameter.name}".encode()) % len(names)
    return [*names, *names][turn : turn + (3 if PATHS.search(metavar) else 1)]


LIMITED = ("sh", "-c", 'ulimit -v 4194304; exec "$@"', "sh", *START)
"""A run that may read without end has 4 GiB of memory."""


def try_command(here: Path, words: list[str]) -> None:
    result = kiplint(*words, cwd=here, env={"GIT_CEILING_DIRECTORIES": str(here.parent)}, command=LIMITED)
    assert result.code in (0, 1, 2), (words, result)
    assert "internal error" not in result.err, (words, result.err)
    assert result.err.count("\n") <= 3 or "Usage" in result.err or "Try" in result.err, (words, result.err)


@pytest.mark.parametrize(("command", "name"), TEXT_PARAMETERS, ids=str)
def test_a_command_ends(here: Path, command: str, name: str) -> None:
    before = state(here)
    parameter = parameters_of(command)[name]
    metavar = parameter.metavar or parameter.name.upper()
    for strange in kinds(command, parameter, metavar):
        word = FORMS.get(metavar, "{}").format(FILE_NAMES.get(strange, strange))
        try_command(here, words_for(command, parameter, word))
    after = state(here)
    lake_files = {path: after.pop(path) for path in set(after) - set(before) if path.split("/")[0] == "lake"}
    assert set(lake_files) <= {"lake", "lake/.lock"}  # what `pipeline run` was asked to make, and nothing in it
    assert after == before


def test_a_walk_passes_them_by(here: Path) -> None:
    for words in (["check", "odd"], ["diff", "set", "odd"], ["show", "XRequest", "odd"]):
        try_command(here, words)
