from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

import kiplint.__main__
from kiplint.pipeline.java import java_home
from pipeline.cluster import SPARK, Servers, servers, start_cluster, start_connect, wait_for
from pipeline.support import History, content, make_history, pipeline, settings

ENGINE = ("--stages", "ingest,lint,describe,compare")
"""The stages that put the engine to work; the others are made of columns only."""
STAGES = ("--stages", "ingest,lint")
BLOCKING_GIT = """#!/bin/sh
# Git that never answers who asks it for contents: its task is there until it is killed.
case " $* " in
  *" cat-file "*) touch '{reached}'; while :; do sleep 1; done ;;
esac
exec '{git}' "$@"
"""


class Made(NamedTuple):
    """A lake that nothing happened to, and the seconds it took."""

    lake: Path
    seconds: float


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return make_history(tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="module")
def undisturbed(history: History, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The lake of the history, made on this machine by `spark-submit` of the package's own entry."""
    lake = tmp_path_factory.mktemp("undisturbed") / "lake"
    start = (SPARK / "bin" / "spark-submit", "--master", "local[1]", kiplint.__main__.__file__)
    java = {"JAVA_HOME": str(java_home(cache)), "PYSPARK_PYTHON": sys.executable}
    begun = time.monotonic()
    pipeline("run", *history.sources, "--out", lake, *ENGINE, *settings(), cache=cache, start=start, **java)
    return Made(lake, time.monotonic() - begun)


@pytest.fixture
def started(tmp_path: Path, cache: Path) -> Iterator[Servers]:
    with servers(tmp_path / "servers", cache) as found:
        yield found


def test_through_connect(history: History, undisturbed: Made, started: Servers, cache: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    address = start_connect(started)
    pipeline("run", *history.sources, "--out", lake, *ENGINE, "--remote", address, *settings(), cache=cache)
    assert content(lake) == content(undisturbed.lake)


def test_a_worker_dies(history: History, undisturbed: Made, started: Servers, cache: Path, tmp_path: Path) -> None:
    lake, reached, events = tmp_path / "lake", tmp_path / "reached", tmp_path / "events"
    events.mkdir()
    doomed = {"PATH": f"{blocking_git(tmp_path / 'bin', reached)}:{os.environ['PATH']}"}
    address = start_cluster(started, {"survivor": {}, "doomed": doomed})
    conf = settings(
        spark__scheduler__minRegisteredResourcesRatio="1",
        spark__cores__max="2",
        spark__executor__memory="512m",
        spark__eventLog__enabled="true",
        spark__eventLog__compress="false",
        spark__eventLog__dir=events.as_uri(),
        spark__driver__bindAddress="127.0.0.1",
    )
    words = ("run", *history.sources, "--out", lake, *STAGES, "--master", address, *conf)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(pipeline, *words, cache=cache)
        wait_for(lambda: reached.exists() or running.done(), lambda: "the doomed worker was given nothing to do")
        assert reached.exists(), running.result()
        started.kill("doomed")
        running.result()
    assert "ExecutorLostFailure" in reasons(events)
    assert content(lake) == made_by_those_stages(undisturbed)


def blocking_git(where: Path, reached: Path) -> Path:
    """A directory with a git that blocks, and says in a file that it was asked."""
    where.mkdir()
    git = where / "git"
    git.write_text(BLOCKING_GIT.format(reached=reached, git=shutil.which("git")))
    git.chmod(0o755)
    return where


def reasons(events: Path) -> set[str]:
    """Why tasks failed, out of Spark's log of events."""
    logs = events.rglob("events_*")
    told = (json.loads(line) for file in logs for line in file.read_text().splitlines() if line)
    ends = (one["Task End Reason"]["Reason"] for one in told if one.get("Event") == "SparkListenerTaskEnd")
    return set(ends) - {"Success"}


def made_by_those_stages(undisturbed: Made) -> dict[str, list[tuple[object, ...]]]:
    """What a lake holds when only the first stages have run."""
    tables = {"sources", "sets", "trees", "files", "blobs", "roots", "findings", "problems"}
    return {name: rows for name, rows in content(undisturbed.lake).items() if name in tables}
