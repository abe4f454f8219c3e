from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.sample import arguments

import kiplint.__main__
from kiplint.pipeline.java import java_home
from pipeline.cluster import SPARK, Servers, servers, start_cluster, start_connect, wait_for
from pipeline.support import Content, content, pipeline, settings

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


@pytest.fixture
def undisturbed(request: pytest.FixtureRequest) -> Callable[[Content], Content]:
    """What the same tables hold when all is done on one machine, and nothing happens meanwhile."""

    def told(held: Content) -> Content:
        whole = content(request.getfixturevalue("lake").path)
        return {name: whole[name] for name in held}

    return told


@pytest.fixture
def started(tmp_path: Path, cache: Path) -> Iterator[Servers]:
    with servers(tmp_path / "servers", cache) as found:
        yield found


def test_through_connect(
    sources: tuple[str, ...],
    undisturbed: Callable[[Content], Content],
    started: Servers,
    cache: Path,
    tmp_path: Path,
) -> None:
    lake = tmp_path / "lake"
    address = start_connect(started)
    pipeline("run", *arguments(sources), "--out", lake, *ENGINE, "--remote", address, *settings(), cache=cache)
    held = content(lake)
    assert {"findings", "layouts", "changes"} < set(held)
    assert held == undisturbed(held)


def test_a_worker_dies(
    sources: tuple[str, ...],
    undisturbed: Callable[[Content], Content],
    started: Servers,
    cache: Path,
    tmp_path: Path,
) -> None:
    """The driver is started by `spark-submit` of the package's own entry."""
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
    start: tuple[str | Path, ...] = (
        SPARK / "bin" / "spark-submit",
        "--master",
        address,
        *conf,
        str(kiplint.__main__.__file__),
    )
    java = {"JAVA_HOME": str(java_home(cache)), "PYSPARK_PYTHON": sys.executable}
    words: tuple[str | Path, ...] = ("run", *arguments(sources), "--out", lake, *STAGES)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(pipeline, *words, cache=cache, start=start, **java)
        wait_for(lambda: reached.exists() or running.done(), lambda: "the doomed worker was given nothing to do")
        assert reached.exists(), running.result()
        started.kill("doomed")
        running.result()
    assert "ExecutorLostFailure" in reasons(events)
    held = content(lake)
    assert set(held) == {"sources", "sets", "trees", "files", "blobs", "roots", "findings", "problems"}
    assert held == undisturbed(held)


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
