"""Shared by the tests of the pipeline: a small history with a fork, runs of the command, and what a lake holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kiplint.pipeline.catalog import TABLES
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.reader import Reader
from tools import environment

SET = Path(__file__).resolve().parents[2] / "fixtures" / "sets" / "broker"
KIPLINT = (sys.executable, "-m", "kiplint")
QUICK = {"spark.sql.shuffle.partitions": "2", "spark.sql.codegen.wholeStage": "false"}
"""Settings that make a small run short: there is little that compiled queries would be faster at."""


class History(NamedTuple):
    """A repository with ten commits on `trunk`, three of them tagged, and a fork of it."""

    repository: Path
    fork: Path

    @property
    def sources(self) -> tuple[str, ...]:
        """The arguments that ingest all of it."""
        lines = (
            f"kafka={self.repository}#trunk",
            f"kafka={self.repository}#tags",
            f"fork={self.fork}#trunk",
        )
        return tuple(word for line in lines for word in ("--source", line))


class Edit(NamedTuple):
    """One commit: in a file, a text that stands there once becomes another."""

    path: str
    old: str
    new: str
    tag: str = ""


REQUEST, RESPONSE = (f"clients/DeleteGroups{kind}.json" for kind in ("Request", "Response"))
VALID = '"validVersions": "0-'
EDITS = (
    Edit("metadata/TopicRecord.json", '"entityType"', '"entityTyp"'),
    Edit(REQUEST, f'{VALID}2"', f'{VALID}3"', tag="1.1.0"),
    Edit(RESPONSE, f'{VALID}2"', f'{VALID}3"'),
    Edit("metadata/TopicRecord.json", '"entityTyp"', '"entityType"'),
    Edit("clients/SaslHandshakeRequest.json", f'{VALID}1"', f'{VALID}2"'),
    Edit("clients/SaslHandshakeRequest.json", f'{VALID}2"', f'{VALID}1"'),
    Edit(REQUEST, "  ]\n}\n", "  ]\n}\n]\n"),
    Edit(REQUEST, "  ]\n}\n]\n", "  ]\n}\n"),
    Edit("clients/MetadataRequest.json", '"name": "Name"', '"name": "TopicName"', tag="1.2.0"),
)
FORK = Edit("clients/OffsetDeleteRequest.json", '"GroupId", "type": "string"', '"GroupId", "type": "bytes"')


def make_history(where: Path) -> History:
    """The history, below a directory that need not exist."""
    trunk, fork = where / "kafka", where / "fork"
    shutil.copytree(SET, trunk)
    _git(trunk, "init", "--quiet", "--initial-branch", "trunk")
    _commit(trunk, 0, "1.0.0")
    for day, edit in enumerate(EDITS, 1):
        _edit(trunk, edit)
        _commit(trunk, day, edit.tag)
    _git(where, "clone", "--quiet", "kafka", "fork")
    _edit(fork, FORK)
    _commit(fork, len(EDITS) + 1)
    return History(trunk, fork)


def content(path: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every table in a lake's newest snapshot, sorted."""
    reader = Reader(Lake(path))
    there = (kind for kind in TABLES if kind.NAME in reader.snapshot.tables)
    return {kind.NAME: sorted((tuple(row.values()) for row in reader.rows(kind)), key=repr) for kind in there}


def pipeline(*words: str | Path, cache: Path, start: Sequence[str | Path] = KIPLINT, **others: str) -> None:
    """Run `kiplint pipeline` in a process of its own; raises AssertionError when it fails."""
    command = [*start, "pipeline", *words]
    env = surroundings(cache, **others)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def settings(**others: str) -> tuple[str, ...]:
    """The arguments for a small run; in names, two underscores stand for a dot."""
    named = {name.replace("__", "."): value for name, value in others.items()}
    return tuple(word for pair in (QUICK | named).items() for word in ("--conf", "=".join(pair)))


def surroundings(cache: Path, **others: str) -> dict[str, str]:
    """The environment of a run and of a cluster's processes, without settings of this machine's for Spark.

    What killed processes leave behind in temporary directories is below the cache, too.
    """
    kept = {name: value for name, value in environment().items() if not name.startswith(("SPARK_", "JDK_"))}
    scratch = cache / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    places = {"TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch), "XDG_CACHE_HOME": str(cache)}
    quick = f"-XX:TieredStopAtLevel=1 -XX:-UsePerfData -Djava.io.tmpdir={scratch}"
    return {**kept, **places, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": quick, **others}


def _edit(where: Path, edit: Edit) -> None:
    file = where / edit.path
    before = file.read_text("utf-8")
    assert before.count(edit.old) == 1, edit
    file.write_text(before.replace(edit.old, edit.new), "utf-8")


def _commit(where: Path, day: int, tag: str = "") -> None:
    time = f"2024-01-{day + 1:02}T00:00:00Z"
    _git(where, "add", "--all")
    _git(where, "commit", "--quiet", "--message", f"day {day}", GIT_AUTHOR_DATE=time, GIT_COMMITTER_DATE=time)
    if tag:
        _git(where, "tag", tag)


def _git(where: Path, *command: str, **others: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{what}": f"n@{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    subprocess.run(["git", *command], cwd=where, env={**env, **who, **apart, **others}, capture_output=True, check=True)
